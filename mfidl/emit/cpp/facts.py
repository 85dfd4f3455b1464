"""F6. What the codecs of a type need to know at compile time, worked out over the whole program."""

from collections.abc import Iterable, Iterator

from mfidl.model import (
    AliasOf,
    ArrayOf,
    DeclKind,
    Field,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    Program,
    RefOf,
    Scalar,
    SetOf,
    Struct,
    Tier,
    Type,
    Union,
)

_BYTES = {Scalar.F32: 4, Scalar.F64: 8, Scalar.UUID: 16}


class Facts:
    """Questions about types; all of them take expanded types."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._union_sizes: dict[str, int] = {}
        self._measure_unions()

    def min_size(self, type_: Type) -> int:
        """Bytes of the smallest febird encoding."""
        match type_:
            case Primitive():
                return _BYTES.get(type_.scalar, 1)
            case ArrayOf():
                return type_.length * self.min_size(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self.struct_min_size(self._program.struct(type_))
            case Named(kind=DeclKind.UNION):
                return self.union_min_size(self._program.union(type_))
            case _:
                return 1

    def struct_min_size(self, struct: Struct) -> int:
        if struct.layout is not None:
            return struct.layout.size
        return sum(self.min_size(field.type) for field in struct.fields)

    def union_min_size(self, union: Union) -> int:
        return self._union_sizes[union.full_name]

    def _measure_unions(self) -> None:
        """Unions may contain each other: start from the least that one can be, and grow until all agree.

        Every step is a lower bound, which is all that a decoder needs; 64 of them are the same for everyone.
        """
        unions = [union for module in self._program.modules for union in module.unions]
        self._union_sizes = {union.full_name: 1 for union in unions}
        for _ in range(64):
            before = dict(self._union_sizes)
            for union in unions:
                sizes = [
                    varint_size(each.number or 0) + self.min_size(each.type) for each in union.alternatives
                ]
                self._union_sizes[union.full_name] = min(sizes, default=1)
            if before == self._union_sizes:
                return

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
            case Named(kind=DeclKind.FLAGS):
                return True
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

    def union_constrained(self, union: Union) -> bool:
        return self._union_constrained(union, set())

    def _struct_constrained(self, struct: Struct, seen: set[str]) -> bool:
        seen.add(struct.full_name)
        return any(field.constraints or self._constrained(field.type, seen) for field in struct.fields)

    def _union_constrained(self, union: Union, seen: set[str]) -> bool:
        seen.add(union.full_name)
        return any(each.constraints or self._constrained(each.type, seen) for each in union.alternatives)

    def _constrained(self, type_: Type, seen: set[str]) -> bool:
        match type_:
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return type_.full_name not in seen and self._struct_constrained(
                    self._program.struct(type_), seen
                )
            case Named(kind=DeclKind.UNION):
                return type_.full_name not in seen and self._union_constrained(
                    self._program.union(type_), seen
                )
            case ListOf() | ArrayOf() | SetOf():
                return bool(type_.constraints) or self._constrained(type_.element, seen)
            case MapOf():
                here = bool(type_.key_constraints or type_.value_constraints)
                return here or self._constrained(type_.key, seen) or self._constrained(type_.value, seen)
            case OptionalOf():
                return self._constrained(type_.element, seen)
            case Primitive() | Named() | RefOf() | AliasOf():
                return False

    def ordering(self, fields: Iterable[Field]) -> str:
        """The category of comparing them one by one: a float may have no order. What an existing C++ type
        compares as is its own business; partial takes all.
        """
        partial = any(scalar.is_float for scalar in self._scalars(fields)) or self.holds_existing(fields)
        return "std::partial_ordering" if partial else "std::strong_ordering"

    def holds_existing(self, fields: Iterable[Field]) -> bool:
        """Is there a type of @cpp.type in them, however far in? It need not have comparisons."""
        return any(struct.cpp_type is not None for struct in self._structs(fields))

    def _structs(self, fields: Iterable[Field]) -> Iterator[Struct]:
        return (each for each in self._closure(fields) if isinstance(each, Struct))

    def _scalars(self, fields: Iterable[Field]) -> Iterator[Scalar]:
        return (each.scalar for each in self._closure(fields) if isinstance(each, Primitive))

    def _closure(self, fields: Iterable[Field]) -> Iterator[Struct | Primitive]:
        """Every declared struct and every scalar that the fields are made of."""
        seen: set[str] = set()
        pending = [field.type for field in fields]
        while pending:
            match pending.pop():
                case Primitive() as scalar:
                    yield scalar
                case MapOf(key, value):
                    pending += [key, value]
                case ListOf(element) | ArrayOf(element) | SetOf(element) | OptionalOf(element):
                    pending.append(element)
                case Named(full_name=name) if name not in seen:
                    seen.add(name)
                    declared = self._program.declaration(name)
                    if isinstance(declared, Struct):
                        yield declared
                        pending += [field.type for field in declared.fields]
                    elif isinstance(declared, Union):
                        pending += [field.type for field in declared.alternatives]
                case _:
                    pass


def varint_size(number: int) -> int:
    """Bytes of an unsigned LEB128."""
    return max(1, (number.bit_length() + 6) // 7)
