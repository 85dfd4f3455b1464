"""F6. Compile-time facts for the codecs of a type, computed over the whole program."""

from collections.abc import Iterable, Iterator

from mfidl.emit.cpp.graphs import Graphs
from mfidl.emit.cpp.reach import depth, holders, levels, parts
from mfidl.model import (
    ArrayOf,
    CppCodec,
    CppType,
    DeclKind,
    Field,
    ListOf,
    MapOf,
    Named,
    Primitive,
    Program,
    Scalar,
    SetOf,
    Struct,
    Tier,
    Type,
    Union,
    members,
)
from mfidl.plan.sizes import Sizes

_SURE_LEVELS = 16  # of a type that readers always take: mf/codec/readable.hpp


class Facts:
    """Questions about types; all of them take expanded types."""

    def __init__(self, program: Program, graphs: Graphs) -> None:
        self._program = program
        self._graphs = graphs
        self._sizes = Sizes(program.declarations)
        self._images: dict[str, bool] = {}
        self._all_valid: dict[str, bool] = {}
        self._padded: dict[str, bool] = {}
        self._constrained = holders(program, self._is_constrained, _has_constraints)
        self._floating = holders(program, lambda _: False, _is_float)
        self._existing = holders(program, _is_existing, lambda _: False)
        self._levels = levels(program, _own_levels, _SURE_LEVELS)
        self._unsure = holders(program, self._is_unsure, self._may_be_unreadable)

    def min_size(self, type_: Type) -> int:
        """Bytes of the smallest febird encoding."""
        return self._sizes.smallest(type_)

    def struct_min_size(self, struct: Struct) -> int:
        return self._sizes.smallest_of(struct)

    def union_min_size(self, union: Union) -> int:
        return self._sizes.smallest_of(union)

    def is_image(self, type_: Type) -> bool:
        """Whether a memcpy type's memory in C++ equals its layout. Empty structs have a byte in C++."""
        match type_:
            case ArrayOf():
                return self.is_image(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self.struct_is_image(self._program.struct(type_))
            case _:
                return True

    def struct_is_image(self, struct: Struct) -> bool:
        if struct.full_name not in self._images:
            self._images[struct.full_name] = (
                struct.tier is Tier.MEMCPY
                and not struct.is_error
                and bool(struct.fields)
                and all(self.is_image(field.type) for field in struct.fields)
            )
        return self._images[struct.full_name]

    def all_bits_valid(self, type_: Type) -> bool:
        """Whether every byte pattern is a value of this memcpy type."""
        match type_:
            case Primitive():
                return type_.scalar is not Scalar.BOOL
            case ArrayOf():
                return self.all_bits_valid(type_.element)
            case Named(kind=DeclKind.ENUM):
                return self._program.enum(type_).open
            case Named(kind=DeclKind.FLAGS):
                return True
            case Named(full_name=name):
                if name not in self._all_valid:
                    fields = self._program.struct(type_).fields
                    self._all_valid[name] = all(self.all_bits_valid(each.type) for each in fields)
                return self._all_valid[name]
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
        if struct.full_name not in self._padded:
            inside = any(self.has_padding(field.type) for field in struct.fields)
            self._padded[struct.full_name] = bool(struct.layout.padding) or inside
        return self._padded[struct.full_name]

    def constrained(self, type_: Type) -> bool:
        """Whether a struct that the type names or holds has constraints, directly or deeper."""
        return any(_has_constraints(part) or _named(part, self._constrained) for part in parts(type_))

    def struct_constrained(self, struct: Struct) -> bool:
        return self._is_constrained(struct) or any(self.constrained(field.type) for field in struct.fields)

    def union_constrained(self, union: Union) -> bool:
        return self._is_constrained(union) or any(self.constrained(each.type) for each in union.alternatives)

    def _is_constrained(self, declared: Struct | Union) -> bool:
        """A graph is always checked: a reference in it may be null where it must not be."""
        graphs = declared.tier is not Tier.ARCHIVE
        return any(
            field.constraints or (graphs and self._graphs.names(field.type)) for field in members(declared)
        )

    def always_readable(self, type_: Type) -> bool:
        """Whether readers accept every C++ value of the type (mf/codec/readable.hpp)."""
        return depth(type_, _own_levels, self._levels) <= _SURE_LEVELS and not any(
            self._may_be_unreadable(part) or _named(part, self._unsure) for part in parts(type_)
        )

    def struct_always_readable(self, struct: Struct) -> bool:
        if struct.tier is Tier.CUSTOM:
            return True
        return struct.full_name not in self._unsure and all(
            self.always_readable(field.type) for field in struct.fields
        )

    def union_always_readable(self, union: Union) -> bool:
        return union.full_name not in self._unsure

    def nests(self, type_: Type) -> bool:
        """Whether its values may be nested deeper than a stack allows, because types hold each other."""
        return depth(type_, _own_levels, self._levels) > _SURE_LEVELS

    def _is_unsure(self, declared: Struct | Union) -> bool:
        """A graph is always checked: its type does not tell what it holds."""
        return self._levels[declared.full_name] > _SURE_LEVELS or self._graphs.is_linked(declared.full_name)

    def _may_be_unreadable(self, type_: Type) -> bool:
        match type_:
            case Primitive(scalar=Scalar.STRING):
                return True
            case Named(kind=DeclKind.ENUM):
                return not self._program.enum(type_).open
            case ListOf(element) | ArrayOf(element):
                return self.min_size(element) == 0
            case _:
                return False

    def ordering(self, fields: Iterable[Field]) -> str:
        """The category of comparing them one by one: a float may be unordered. The comparison of an existing
        C++ type is unknown, and partial accepts all.
        """
        floats = any(_is_float(part) or _named(part, self._floating) for part in _parts(fields))
        return "std::partial_ordering" if floats or self.holds_existing(fields) else "std::strong_ordering"

    def holds_existing(self, fields: Iterable[Field]) -> bool:
        """Whether they contain a type of @cpp.type, at any depth. It may have no comparisons."""
        return any(_named(part, self._existing) for part in _parts(fields))


def _parts(fields: Iterable[Field]) -> Iterator[Type]:
    return (part for field in fields for part in parts(field.type))


def _named(type_: Type, names: frozenset[str]) -> bool:
    return isinstance(type_, Named) and type_.full_name in names


def _is_float(type_: Type) -> bool:
    return isinstance(type_, Primitive) and type_.scalar.is_float


def _is_existing(declared: Struct | Union) -> bool:
    return isinstance(declared, Struct) and existing_type(declared) is not None


def existing_type(struct: Struct) -> CppType | CppCodec | None:
    """The C++ type that represents the struct, if it is not generated."""
    return struct.cpp_type if struct.cpp_type is not None else struct.cpp_codec


def _own_levels(type_: Type) -> int:
    """Structs and unions count themselves; a value of tier memcpy is one level, whatever it holds."""
    return int(isinstance(type_, ListOf | ArrayOf | SetOf | MapOf))


def _has_constraints(type_: Type) -> bool:
    match type_:
        case ListOf() | ArrayOf() | SetOf():
            return bool(type_.constraints)
        case MapOf():
            return bool(type_.key_constraints or type_.value_constraints)
        case _:
            return False
