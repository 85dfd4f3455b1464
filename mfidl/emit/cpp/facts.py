"""F6. What the codecs of a type need to know at compile time, worked out over the whole program."""

from mfidl.model import (
    AliasOf,
    ArrayOf,
    DeclKind,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    Program,
    Scalar,
    SetOf,
    Struct,
    Tier,
    Type,
)

_BYTES = {Scalar.F32: 4, Scalar.F64: 8, Scalar.UUID: 16}


class Facts:
    """Questions about types; all of them take expanded types."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def min_size(self, type_: Type) -> int:
        """Bytes of the smallest febird encoding."""
        match type_:
            case Primitive():
                return _BYTES.get(type_.scalar, 1)
            case ArrayOf():
                return type_.length * self.min_size(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self.struct_min_size(self._program.struct(type_))
            case _:
                return 1

    def struct_min_size(self, struct: Struct) -> int:
        if struct.layout is not None:
            return struct.layout.size
        return sum(self.min_size(field.type) for field in struct.fields)

    def is_image(self, type_: Type) -> bool:
        """Is a memcpy type's memory in C++ the same as its layout? Empty structs have a byte in it."""
        match type_:
            case ArrayOf():
                return self.is_image(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self.struct_is_image(self._program.struct(type_))
            case _:
                return True

    def struct_is_image(self, struct: Struct) -> bool:
        return (
            struct.tier is Tier.MEMCPY
            and not struct.is_error
            and bool(struct.fields)
            and all(self.is_image(field.type) for field in struct.fields)
        )

    def all_bits_valid(self, type_: Type) -> bool:
        """Is every byte pattern a value of this memcpy type?"""
        match type_:
            case Primitive():
                return type_.scalar is not Scalar.BOOL
            case ArrayOf():
                return self.all_bits_valid(type_.element)
            case Named(kind=DeclKind.ENUM):
                return self._program.enum(type_).open
            case Named():
                return all(self.all_bits_valid(each.type) for each in self._program.struct(type_).fields)
            case _:
                raise AssertionError(f"{type_} is not of tier memcpy")

    def has_padding(self, type_: Type) -> bool:
        match type_:
            case ArrayOf():
                return self.has_padding(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self.struct_has_padding(self._program.struct(type_))
            case _:
                return False

    def struct_has_padding(self, struct: Struct) -> bool:
        assert struct.layout is not None
        return bool(struct.layout.padding) or any(self.has_padding(field.type) for field in struct.fields)

    def constrained(self, type_: Type) -> bool:
        """Does a struct that the type names or holds have constraints, itself or further in?"""
        return self._constrained(type_, set())

    def struct_constrained(self, struct: Struct) -> bool:
        return self._struct_constrained(struct, set())

    def _struct_constrained(self, struct: Struct, seen: set[str]) -> bool:
        seen.add(struct.full_name)
        return any(field.constraints or self._constrained(field.type, seen) for field in struct.fields)

    def _constrained(self, type_: Type, seen: set[str]) -> bool:
        match type_:
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return type_.full_name not in seen and self._struct_constrained(
                    self._program.struct(type_), seen
                )
            case ListOf() | ArrayOf() | SetOf():
                return bool(type_.constraints) or self._constrained(type_.element, seen)
            case MapOf():
                here = bool(type_.key_constraints or type_.value_constraints)
                return here or self._constrained(type_.key, seen) or self._constrained(type_.value, seen)
            case OptionalOf():
                return self._constrained(type_.element, seen)
            case Primitive() | Named() | AliasOf():
                return False
