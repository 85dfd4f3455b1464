"""F6. Schema types as C++ types: their spelling, includes, and how they are passed."""

from collections.abc import Iterable, Iterator

from mfidl.emit.cpp.graphs import Graphs
from mfidl.emit.cpp.names import Names
from mfidl.emit.cpp.view import Inner
from mfidl.model import (
    Alias,
    AliasOf,
    ArrayOf,
    DeclKind,
    Enum,
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
    expand,
)

_CSTDINT = "<cstdint>"
_TYPES = '"mf/core/types.hpp"'
_FILLED = '"mf/core/filled.hpp"'
_GRAPH = '"mf/codec/graph.hpp"'
_REF = '"mf/codec/ref.hpp"'

_SCALARS: dict[Scalar, tuple[str, str]] = {
    Scalar.BOOL: ("bool", ""),
    Scalar.I8: ("std::int8_t", _CSTDINT),
    Scalar.I16: ("std::int16_t", _CSTDINT),
    Scalar.I32: ("std::int32_t", _CSTDINT),
    Scalar.I64: ("std::int64_t", _CSTDINT),
    Scalar.U8: ("std::uint8_t", _CSTDINT),
    Scalar.U16: ("std::uint16_t", _CSTDINT),
    Scalar.U32: ("std::uint32_t", _CSTDINT),
    Scalar.U64: ("std::uint64_t", _CSTDINT),
    Scalar.F32: ("float", ""),
    Scalar.F64: ("double", ""),
    Scalar.STRING: ("std::string", "<string>"),
    Scalar.BYTES: ("mf::Bytes", _TYPES),
    Scalar.TIMESTAMP: ("mf::Timestamp", _TYPES),
    Scalar.DURATION: ("mf::Duration", _TYPES),
    Scalar.UUID: ("mf::Uuid", _TYPES),
}

_BY_REFERENCE = frozenset({Scalar.STRING, Scalar.BYTES, Scalar.UUID})


class CppTypes:
    """Spells types. `home` is the module in whose namespace the text is; "" is anywhere.

    `archived`: as types of tier archive hold them. Types with references are plain there, and handles on
    whole graphs everywhere else.
    """

    def __init__(self, program: Program, names: Names, graphs: Graphs, archived: bool = False) -> None:
        self._program = program
        self._names = names
        self.graphs = graphs
        self.archived = archived

    def within(self, declaration: Struct | Union) -> "CppTypes":
        """For the content of the struct or union."""
        archived = declaration.tier is Tier.ARCHIVE
        return (
            self if archived is self.archived else CppTypes(self._program, self._names, self.graphs, archived)
        )

    def spell(self, type_: Type, home: str = "") -> str:
        """For a field, parameter or result: there `ref<T>?` is a reference that may be null."""
        plain = expand(type_)
        if isinstance(plain, OptionalOf) and isinstance(plain.element, RefOf):
            return self._spell(plain.element, home)
        return self._spell(type_, home)

    def _spell(self, type_: Type, home: str) -> str:
        match type_:
            case Primitive():
                return _SCALARS[type_.scalar][0]
            case Named():
                spelled = self.declared(type_.full_name, home)
                return f"mf::Graph<{spelled}>" if self.is_graph(type_) else spelled
            case AliasOf():
                if self._differs(type_):
                    return self._spell(expand(type_), home)
                return self.declared(type_.full_name, home)
            case ListOf():
                if expand(type_.element) == Primitive(Scalar.BOOL):
                    return "std::vector<mf::Boolean>"
                return f"std::vector<{self._spell(type_.element, home)}>"
            case ArrayOf():
                return f"std::array<{self._spell(type_.element, home)}, {type_.length}>"
            case SetOf():
                return f"std::set<{self._spell(type_.element, home)}>"
            case MapOf():
                return f"std::map<{self._spell(type_.key, home)}, {self._spell(type_.value, home)}>"
            case OptionalOf():
                optional = "mf::Boxed" if self.needs_box(type_) else "std::optional"
                return f"{optional}<{self._spell(type_.element, home)}>"
            case RefOf():
                return f"mf::Ref<{self.declared(type_.element.full_name, home)}>"

    def is_graph(self, type_: Type) -> bool:
        """Whether its C++ type is a handle on a graph."""
        return not self.archived and isinstance(type_, Named) and self.graphs.is_linked(type_.full_name)

    def _differs(self, alias: AliasOf) -> bool:
        """Whether the alias, declared for places outside of archives, is another type here."""
        target = expand(alias)
        nested_reference = isinstance(target, OptionalOf) and isinstance(target.element, RefOf)
        return nested_reference or (self.archived and (self.graphs.names(target) or self._is_view(alias)))

    def view(self, alias: Alias, home: str) -> str:
        """What the list of an alias with @cpp.view is."""
        assert isinstance(alias.type, ListOf)
        element = alias.type.element
        boolean = expand(element) == Primitive(Scalar.BOOL)
        return f"mf::View<{'mf::Boolean' if boolean else self._spell(element, home)}>"

    def _is_view(self, alias: AliasOf) -> bool:
        """Whether the alias's declaration contains a view."""
        declared = self._program.declaration(alias.full_name)
        assert isinstance(declared, Alias)
        inner = (each for each in parts(declared.spelled) if isinstance(each, AliasOf))
        return declared.cpp_view or any(self._is_view(each) for each in inner)

    def declared(self, full_name: str, home: str = "") -> str:
        """A declared name, qualified from the global namespace unless it is at home."""
        names = self._names.owner(full_name)
        name = names.of(full_name)
        at_home = names.module == home and not names.is_hidden(name)
        return name if at_home else f"::{names.namespace}::{name}"

    def inner(self, full_name: str, home: str) -> tuple[Inner, ...]:
        """What the class of a struct or union, or those of a service, say of the types that it declares. An
        alias is written out: it may name the class itself, and is declared behind it then.
        """
        words = []
        for name, declaration in self._names.module(home).inner(full_name):
            if not isinstance(declaration, Alias):
                spelled = self.declared(declaration.full_name, home)
            elif declaration.cpp_view:
                spelled = self.view(declaration, home)
            else:
                spelled = self._spell(expand(declaration.spelled), home)
            words.append(Inner(name, spelled))
        return tuple(words)

    def modules_of(self, types: Iterable[Type]) -> set[str]:
        """The modules whose names stand in the types."""
        named = (
            each.element if isinstance(each, RefOf) else each for type_ in types for each in parts(type_)
        )
        declared = (each.full_name for each in named if isinstance(each, Named | AliasOf))
        return {self._names.owner(name).module for name in declared}

    def needs_box(self, type_: OptionalOf) -> bool:
        """Whether the value is part of a recursion, so that it cannot be inside its own optional."""
        element = expand(type_.element)
        while isinstance(element, ArrayOf):
            element = element.element
        return (
            isinstance(element, Named)
            and not self.is_graph(element)
            and element.kind in (DeclKind.STRUCT, DeclKind.ERROR, DeclKind.UNION)
            and bool(self.cycle(element))
        )

    def boxed_in(self, union: Union, alternative: Field) -> bool:
        """Whether the alternative holds the union itself, so that it cannot be inside it."""
        element = alternative.type
        while isinstance(element, ArrayOf):
            element = element.element
        return isinstance(element, Named) and element.full_name in union.cycle

    def cycle(self, reference: Named) -> frozenset[str]:
        """The structs and unions that a struct, error or union is recursive with."""
        declared = self._program.declaration(reference.full_name)
        return declared.cycle if isinstance(declared, Struct | Union) else frozenset()

    def enum_without_zero(self, type_: Type) -> Enum | None:
        """The enum if the type is one without 0, or an array of one: C++ would start with an invalid
        value."""
        element = expand(type_)
        while isinstance(element, ArrayOf):
            element = expand(element.element)
        if not isinstance(element, Named) or element.kind is not DeclKind.ENUM:
            return None
        enum = self._program.enum(element)
        has_zero = any(each.number == 0 for each in enum.members)
        return None if enum.open or has_zero or not enum.members else enum

    def includes(self, type_: Type) -> Iterator[str]:
        """Headers of the standard library and the runtime."""
        for each in parts(type_):
            match each:
                case Primitive():
                    if _SCALARS[each.scalar][1]:
                        yield _SCALARS[each.scalar][1]
                case ListOf():
                    yield "<vector>"
                    if expand(each.element) == Primitive(Scalar.BOOL):
                        yield _TYPES
                case ArrayOf():
                    yield from ("<array>", _FILLED) if self.enum_without_zero(each) else ("<array>",)
                case SetOf():
                    yield "<set>"
                case MapOf():
                    yield "<map>"
                case OptionalOf():
                    yield '"mf/codec/boxed.hpp"' if self.needs_box(each) else "<optional>"
                case _ if self.is_graph(each):
                    yield _GRAPH
                case RefOf():
                    yield _REF
                case _:
                    pass

    def is_trivial(self, type_: Type) -> bool:
        """Whether copying it costs no more than moving it."""
        match expand(type_):
            case Primitive(scalar):
                return scalar not in (Scalar.STRING, Scalar.BYTES)
            case ArrayOf(element):
                return self.is_trivial(element)
            case Named(kind=DeclKind.STRUCT) as named:
                return self._program.struct(named).layout is not None
            case Named(kind=kind):
                return kind in (DeclKind.ENUM, DeclKind.FLAGS)
            case RefOf() | OptionalOf(RefOf()):
                return True
            case _:
                return False

    def by_value(self, type_: Type) -> bool:
        """Whether a parameter of this type is passed by value."""
        match expand(type_):
            case Primitive(scalar):
                return scalar not in _BY_REFERENCE
            case Named(kind=DeclKind.ENUM | DeclKind.FLAGS):
                return True
            case _:
                return False


def parts(type_: Type) -> Iterator[Type]:
    """The type and everything written inside it; an alias is not opened."""
    yield type_
    match type_:
        case ListOf() | ArrayOf() | SetOf() | OptionalOf():
            yield from parts(type_.element)
        case MapOf():
            yield from parts(type_.key)
            yield from parts(type_.value)
        case _:
            pass
