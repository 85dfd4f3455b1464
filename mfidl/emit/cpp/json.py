"""F6. Views of a module's JSON: JsonNames<E> of enums and flags, Json<T> of structs and unions."""

from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.emit.cpp.names import AlternativeNames, Names
from mfidl.emit.cpp.types import CppTypes
from mfidl.model import (
    ArrayOf,
    DeclKind,
    Enum,
    Field,
    Flags,
    Module,
    Named,
    OptionalOf,
    RefOf,
    Struct,
    Tier,
    Type,
    Union,
)


@dataclass(frozen=True, slots=True)
class JsonNamesView:
    """Of an enum or flags. `entries` are the elements of its table."""

    qualified: str
    flags: str
    count: int
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JsonTypeView:
    """Of a struct, error or union. `definitions` are whole functions."""

    qualified: str
    declarations: tuple[str, ...]
    definitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JsonGraphView:
    """JsonGraph<S>: the tables of a graph with such a root."""

    qualified: str
    count: int
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JsonMaker:
    """Makes the views of one module."""

    names: Names
    types: CppTypes
    module: Module

    def numbers(self) -> tuple[JsonNamesView, ...]:
        return tuple(
            self._numbers(each) for each in self.module.declarations if isinstance(each, Enum | Flags)
        )

    def composites(self) -> tuple[JsonTypeView, ...]:
        return tuple(
            self._struct(each) if isinstance(each, Struct) else self._union(each)
            for each in self.module.declarations
            if isinstance(each, Struct | Union) and each.tier is not Tier.CUSTOM
        )

    def graphs(self) -> tuple[JsonGraphView, ...]:
        graphs = self.types.graphs
        return tuple(
            self._graph(each)
            for each in self.module.declarations
            if isinstance(each, Struct | Union) and graphs.is_linked(each.full_name)
        )

    def _graph(self, root: Struct | Union) -> JsonGraphView:
        tables = self.types.graphs.tables(root)
        return JsonGraphView(
            qualified=self.types.declared(root.full_name),
            count=len(tables),
            entries=tuple(f'json_table<{self.types.declared(type_)}>("{name}"),' for name, type_ in tables),
        )

    def _numbers(self, declared: Enum | Flags) -> JsonNamesView:
        if isinstance(declared, Flags):
            members = sorted((1 << each.bit, each.name) for each in declared.members)
        else:
            members = [(each.number % (1 << 64), each.name) for each in declared.members]
        return JsonNamesView(
            qualified=self.types.declared(declared.full_name),
            flags="true" if isinstance(declared, Flags) else "false",
            count=len(members),
            entries=tuple(f'{{"{name}", {_number(number)}}},' for number, name in members),
        )

    def _struct(self, struct: Struct) -> JsonTypeView:
        members = self.names.module(self.module.name).members(struct)
        fields = list(zip(struct.fields, members, strict=True))
        writes = [f'{_writer(field)}(writer, "{field.name}", value.{member});' for field, member in fields]
        reads = [
            (f"case {at}:", f"  return {_reader(field)}(reader, value.{member});")
            for at, (field, member) in enumerate(fields)
        ]
        table = [f'{{"{each.name}"{"" if _required(each) else ", false"}}},' for each in struct.fields]
        read = _listed("JsonField", "kFields", table)
        read += _dispatched("read_json_object", "kFields", "field", reads)
        return self._type(struct, [_OPEN, *writes, _CLOSE], read)

    def _union(self, union: Union) -> JsonTypeView:
        named = self.names.module(self.module.name).union(union).alternatives
        pairs = list(zip(union.alternatives, named, strict=True))
        qualified = self.types.declared(union.full_name)
        writes = [_OPEN, f"using Kind = {qualified}::Kind;", "switch (value.kind()) {"]
        for field, names in pairs:
            writes += [
                f"  case Kind::{names.kind}:",
                f'    write_json_member(writer, "{field.name}", value.{names.accessor}());',
                "    break;",
            ]
        reads = [
            (f"case {at}:", *self._alternative(union, field, names))
            for at, (field, names) in enumerate(pairs)
        ]
        read = _listed(
            "std::string_view", "kAlternatives", [f'"{each.name}",' for each in union.alternatives]
        )
        read += _dispatched("read_json_union", "kAlternatives", "which", reads)
        return self._type(union, [*writes, "}", _CLOSE], read)

    def _alternative(self, union: Union, field: Field, names: AlternativeNames) -> list[str]:
        lines = [f"  return read_json(reader, value.{names.emplace}());"]
        if self.types.boxed_in(union, field):
            size = f"sizeof({self.types.within(union).spell(field.type)})"
            lines.insert(0, f"  if (!reader.charge(1, {size})) return false;")
        return lines

    def _type(self, declared: Struct | Union, write: list[str], read: list[str]) -> JsonTypeView:
        qualified = self.types.declared(declared.full_name)
        used = bool(declared.fields if isinstance(declared, Struct) else declared.alternatives)
        name = "value" if used else "/*value*/"
        writes = (["JsonWriter& writer", f"const {qualified}& {name}"], ")")
        reads = (["JsonReader& reader", f"{qualified}& {name}"], ")")
        return JsonTypeView(
            qualified=qualified,
            declarations=(
                f"  static void write({', '.join(writes[0])});",
                f"  [[nodiscard]] static bool read({', '.join(reads[0])});",
            ),
            definitions=(
                _function(f"void Json<{qualified}>::write({', '.join(writes[0])}) {{", write),
                _function(f"bool Json<{qualified}>::read({', '.join(reads[0])}) {{", read),
            ),
        )


_OPEN = "if (!writer.open_object()) return;"
_CLOSE = "writer.close_object();"


def _required(field: Field) -> bool:
    return field.default is None and not isinstance(field.type, OptionalOf)


def _may_be_null(field: Field) -> bool:
    """`ref<T>?` and `ref<T>` are the same type in C++."""
    return isinstance(field.type, OptionalOf) and isinstance(field.type.element, RefOf)


def _writer(field: Field) -> str:
    if _may_be_null(field):
        return "write_json_reference"
    absent = isinstance(field.type, OptionalOf) and field.default is not None
    return "write_json_member_or_null" if absent else "write_json_member"


def _reader(field: Field) -> str:
    if _may_be_null(field):
        return "read_json_reference"
    return "read_json_anew" if field.default is not None and _holds_struct(field.type) else "read_json"


def _holds_struct(type_: Type) -> bool:
    """Does a value have fields in place, which keep what the default gave them if they are missing?"""
    match type_:
        case ArrayOf():
            return _holds_struct(type_.element)
        case Named(kind=kind):
            return kind in (DeclKind.STRUCT, DeclKind.ERROR)
        case _:
            return False


def _number(number: int) -> str:
    return f"{number}U" if number < 1 << 32 else f"{number}ULL"


def _listed(type_: str, name: str, entries: list[str]) -> list[str]:
    """A table of the names; nothing where there are none."""
    if not entries:
        return []
    opening, closing = ("{{", "}}") if type_ == "JsonField" else ("{", "}")
    return [
        f"static constexpr std::array<{type_}, {len(entries)}> {name}{opening}",
        *(f"    {each}" for each in entries),
        f"{closing};",
    ]


def _dispatched(function: str, table: str, parameter: str, cases: Sequence[tuple[str, ...]]) -> list[str]:
    """The reading of an object: a switch over the places of its members."""
    if not cases:
        return [f"return {function}(reader, {{}}, [](std::size_t /*{parameter}*/) {{ return false; }});"]
    return [
        f"return {function}(reader, {table}, [&](std::size_t {parameter}) {{",
        f"  switch ({parameter}) {{",
        *(f"    {line}" for case in cases for line in case),
        "    default:",
        "      return false;",
        "  }",
        "});",
    ]


def _function(head: str, body: list[str]) -> str:
    return "\n".join([head, *(f"  {line}" for line in body), "}"])
