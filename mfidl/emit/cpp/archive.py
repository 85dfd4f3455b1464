"""F6. Views of Archive<S>: the messages of tier archive, field by field (docs/proto.md describes their form).

Reading is a loop over tags with a switch; where fields come in the order of their numbers, as writers send
them, each case goes straight to the next one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import AlternativeNames
from mfidl.emit.cpp.text import WIDTH, argument, conjunction, definition, fill, head
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import ArchiveView
from mfidl.model import (
    ArrayOf,
    Coding,
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

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # protobuf's wire types
_ELEMENTS = {_VARINT: "varint", _FIXED64: "fixed64", _LENGTH: "tagged", _FIXED32: "fixed32"}
_WIRES = {
    Scalar.F32: _FIXED32,
    Scalar.F64: _FIXED64,
    Scalar.TIMESTAMP: _FIXED64,
    Scalar.STRING: _LENGTH,
    Scalar.BYTES: _LENGTH,
    Scalar.UUID: _LENGTH,
}


@dataclass(frozen=True, slots=True)
class Archives:
    """Makes the views; both `types` and `literals` are those for the inside of archives."""

    program: Program
    types: CppTypes
    literals: Literals

    def struct(self, struct: Struct, qualified: str, members: Sequence[str], unknown: str) -> ArchiveView:
        fields = sorted(
            (
                _Slot(self, index, field, f"value.{member}")
                for index, (field, member) in enumerate(zip(struct.fields, members, strict=True))
            ),
            key=lambda slot: slot.number,
        )
        linked = self.types.graphs.is_linked(struct.full_name)
        kept = f"value.{unknown}"
        sizes = [
            *(f"{slot.call('size')}({slot.arguments('numbers')})" for slot in fields),
            f"unknown_size({kept})",
        ]
        writes = ["BackWriter back = writer;"]
        writes.append(f"back.unknown({kept});")
        writes += [f"{slot.call('write')}(back, {slot.arguments('numbers')});" for slot in reversed(fields)]
        writes.append("writer = back;")
        return self._view(
            qualified,
            linked,
            coded=any(slot.codings for slot in fields),
            size=[conjunction("return ", sizes, ";", indent=2, operator="+").lstrip()],
            write=writes,
            read=_read_struct(fields, kept),
            visit=[*(slot.visit() for slot in fields if slot.linked), "return true;"],
        )

    def union(self, union: Union, qualified: str, names: Sequence[AlternativeNames]) -> ArchiveView:
        pairs = list(zip(union.alternatives, names, strict=True))
        linked = self.types.graphs.is_linked(union.full_name)
        kinds = f"using Kind = {qualified}::Kind;"
        sizes, writes, visits, coded = [], [], [], False
        for index, (field, named) in enumerate(pairs):
            slot = _Slot(self, index, field, f"value.{named.accessor}()")
            coded = coded or bool(slot.codings)
            case = f"  case Kind::{named.kind}:"
            sizes += [case, f"    return {slot.call('size_one')}({slot.arguments('numbers')});"]
            writes += [case, f"    return {slot.call('write_one')}(writer, {slot.arguments('numbers')});"]
            if slot.linked:
                test = f"archive::visit(visitor, {slot.value})"
                visits += [case, f'    return {test} || visitor.inside("{field.name}");']
        return self._view(
            qualified,
            linked,
            coded=coded,
            size=[kinds, "switch (value.kind()) {", *sizes, "}", "return 0;"],
            write=[kinds, "switch (value.kind()) {", *writes, "}"],
            read=_read_union(self, union, pairs),
            visit=[kinds, "switch (value.kind()) {", *visits, "  default:", "    return true;", "}"],
        )

    def _view(
        self,
        qualified: str,
        linked: bool,
        *,
        coded: bool,
        size: list[str],
        write: list[str],
        read: list[str],
        visit: list[str],
    ) -> ArchiveView:
        value = f"const {qualified}& value"
        numbers = ["const GraphNumbers& numbers"] if linked else []
        rows = ["const GraphRows& rows"] if linked else []
        functions = [
            ("", "std::size_t", "size", [value, *numbers], ") noexcept", size),
            ("", "void", "write", ["BackWriter& writer", value, *numbers], ") noexcept", write),
            ("[[nodiscard]] ", "bool", "read", ["Reader& reader", f"{qualified}& value", *rows], ")", read),
        ]
        if linked:
            visitor = [f"{qualified}& value", "GraphVisitor& visitor"]
            functions.append(("[[nodiscard]] ", "bool", "visit", visitor, ")", visit))
        owner = f"Archive<{qualified}>::"
        return ArchiveView(
            linked="true" if linked else "false",
            declarations=tuple(
                fill(f"{before}static {result} {name}(", parameters, f"{tail};", indent=2)
                for before, result, name, parameters, tail, _ in functions
            ),
            functions=tuple(
                definition(head(f"{result} {owner}{name}(", _named(parameters, body), tail), body)
                for _, result, name, parameters, tail, body in functions
            ),
            prefixed_template="cpp/nothing.j2" if linked else "cpp/codec/archive_prefixed.j2",
            coded=coded,
        )


@dataclass(frozen=True, slots=True)
class _Slot:
    """A field and the data for its code; `value` is C++ for it."""

    archives: Archives
    index: int
    field: Field
    value: str

    @property
    def number(self) -> int:
        return self.field.number or 0

    @property
    def linked(self) -> bool:
        return self.archives.types.graphs.holds(self.field.type)

    @property
    def plain(self) -> Type:
        """Without the optional around it."""
        return self.field.type.element if isinstance(self.field.type, OptionalOf) else self.field.type

    @property
    def is_row(self) -> bool:
        return isinstance(self.field.type, ListOf | SetOf | ArrayOf | MapOf)

    @property
    def filled(self) -> str:
        """The variable that counts a row's elements."""
        return f"filled{self.number}"

    def is_message(self, type_: Type) -> bool:
        """Whether one value of the type is a message, which may come in pieces."""
        match type_:
            case ListOf() | SetOf() | ArrayOf() | MapOf() | OptionalOf():
                return True
            case Named(kind=DeclKind.STRUCT | DeclKind.UNION):
                declared = self.archives.program.declaration(type_.full_name)
                return isinstance(declared, Struct | Union) and declared.tier is Tier.ARCHIVE
            case _:
                return False

    def elements(self) -> str:
        """The enumerator of archive::Elements; empty if the field is not repeated."""
        match self.field.type:
            case MapOf():
                return "tagged"
            case ListOf(element=element) | SetOf(element=element) | ArrayOf(element=element):
                return _ELEMENTS[_wire(element)]
            case _:
                return ""

    @property
    def codings(self) -> str:
        """Template arguments for the value or for key and value; empty if all have the usual coding of their
        types."""
        match self.plain:
            case MapOf(key=key, value=value):
                both = [_coding(key), _coding(value)]
                return f"<{', '.join(both)}>" if both != [_OWN, _OWN] else ""
            case ListOf(element=element) | SetOf(element=element) | ArrayOf(element=element):
                return "" if _coding(element) == _OWN else f"<{_coding(element)}>"
            case plain:
                return "" if _coding(plain) == _OWN else f"<{_coding(plain)}>"

    def call(self, function: str) -> str:
        """The name of a function of the runtime, for this field."""
        return f"archive::{function}_coded{self.codings}" if self.codings else f"archive::{function}"

    def arguments(self, graph: str) -> str:
        return f"{self.number}, {self.value}{self.graph(graph)}"

    def graph(self, name: str) -> str:
        return f", {name}" if self.linked else ""

    def tags(self) -> list[int]:
        """The tags under which it may come; writers use the first one."""
        if not self.is_row:
            return [self._tag(_wire(self.plain))]
        if isinstance(self.field.type, MapOf):
            return [self._tag(_LENGTH)]
        assert isinstance(self.field.type, ListOf | SetOf | ArrayOf)
        return list(dict.fromkeys([self._tag(_LENGTH), self._tag(_wire(self.field.type.element))]))

    def _tag(self, wire: int) -> int:
        return self.number << 3 | wire

    def read(self, seen: str) -> str:
        """A condition."""
        rows = self.graph("rows")
        if self.is_row:
            return f"{self.call('read_row')}(message, cursor, {self.filled}, {self.value}{rows})"
        if self.is_message(self.plain):
            return f"archive::merged(message, cursor, {seen}, {self.value}{rows})"
        return f"{self.call('read')}(message, cursor, {self.value}{rows})"

    def follows(self) -> str:
        """A condition: it comes next, as writers send it. Only fields in parts check for their tag again."""
        if self.is_row or self.is_message(self.plain):
            return f"message.follows(cursor, {self.tags()[0]})"
        return f"cursor.follows({self.tags()[0]})"

    def absent(self) -> str:
        """The value for a missing single field."""
        if isinstance(self.field.type, OptionalOf):
            return f"{self.value} = nullptr;" if isinstance(self.plain, RefOf) else f"{self.value}.reset();"
        if self.field.default is not None:
            return f"{self.value} = {self._default()};"
        return f'return message.missing("{self.field.name}");'

    def _default(self) -> str:
        assert self.field.default is not None
        return self.archives.literals.of(self.field.default, self.field.type, "")

    def start(self) -> str:
        """The code that counts the elements of a row."""
        if isinstance(self.field.type, SetOf | MapOf):
            return f"archive::Refilled {self.filled}({self.value});"
        return f"std::size_t {self.filled} = 0;"

    def finish(self) -> list[str]:
        """The code that a row needs after all fields were read."""
        match self.field.type:
            case ListOf():
                return [f"{self.value}.resize({self.filled});"]
            case ArrayOf(length=length):
                check = f'message.has_length({length}, {self.filled}, "{self.field.name}")'
                if self.field.default is None:
                    return [f"if (!{check}) return false;"]
                return [
                    f"if ({self.filled} == 0) {{",
                    f"  {self.value} = {self._default()};",
                    f"}} else if (!{check}) {{",
                    "  return false;",
                    "}",
                ]
            case _:
                return []

    def visit(self) -> str:
        """A statement."""
        optional = isinstance(self.field.type, OptionalOf) and isinstance(self.plain, RefOf)
        function = "visit_optional" if optional else "visit"
        test = f"!archive::{function}(visitor, {self.value})"
        return f'if ({test}) return visitor.inside("{self.field.name}");'


def _wire(type_: Type) -> int:
    match type_:
        case Primitive(scalar, Coding.FIXED):
            return _FIXED32 if scalar.bits == 32 else _FIXED64
        case Primitive(scalar):
            return _WIRES.get(scalar, _VARINT)
        case RefOf() | Named(kind=DeclKind.ENUM | DeclKind.FLAGS):
            return _VARINT
        case _:
            return _LENGTH


_OWN = "archive::kOwn"


def _coding(type_: Type) -> str:
    coding = type_.coding if isinstance(type_, Primitive) else None
    return _OWN if coding is None else f"archive::k{coding.value.capitalize()}"


def _read_struct(fields: list[_Slot], kept: str) -> list[str]:
    singles = [slot for slot in fields if not slot.is_row]
    seen = {slot.index: f"seen[{i}]" for i, slot in enumerate(singles)}
    lines = _known((slot.field, slot.elements()) for slot in fields)
    lines += [f"std::bitset<{len(singles)}> seen;"] if singles else []
    lines += [slot.start() for slot in fields if slot.is_row]
    lines.append("if (!reader.enter()) return false;")
    lines += [
        f"{kept}.bytes.clear();",
        "archive::Message message(reader);",
        "archive::Cursor cursor(reader);",
    ]
    cases: list[str] = []
    for slot, following in zip_longest(fields, fields[1:]):
        cases += [f"  case {tag}:" for tag in slot.tags()]
        flag = seen.get(slot.index, "")
        cases += _broken(f'    if (!{slot.read(flag)}) return reader.inside("{slot.field.name}");')
        cases += [f"    {flag} = true;"] if flag else []
        if following is None:
            cases.append("    break;")
        else:
            cases += [f"    if (!{following.follows()}) break;", "    [[fallthrough]];"]
    lines += _loop(
        "message.next(cursor)", cases, f"message.skip(cursor, {'kFields' if fields else '{}'}, {kept})"
    )
    lines.append("if (reader.failed()) return false;")
    arrays = any(isinstance(slot.field.type, ArrayOf) for slot in fields)
    absent = {slot.index: f"if (!{seen[slot.index]}) {slot.absent()}" for slot in singles}
    if arrays:  # the first missing one is reported, whether it is one value or several
        for slot in fields:
            lines += slot.finish() if slot.is_row else [absent[slot.index]]
    else:
        if singles:
            lines += ["if (!seen.all()) {", *(f"  {absent[slot.index]}" for slot in singles), "}"]
        lines += [line for slot in fields for line in slot.finish()]
    return [*lines, "reader.leave();", "return true;"]


def _read_union(archives: Archives, union: Union, pairs: list[tuple[Field, AlternativeNames]]) -> list[str]:
    lines = _known((field, "") for field, _ in pairs)
    lines += [
        "std::uint32_t held = 0;  // the number of the alternative that was read last",
        "if (!reader.enter()) return false;",
        "archive::Message message(reader);",
    ]
    cases: list[str] = []
    for index, (field, named) in enumerate(pairs):
        slot = _Slot(archives, index, field, f"value.{named.accessor}()")
        again = f"held == {slot.number}"
        message = slot.is_message(field.type)
        anew = [f"value.{named.emplace}();"]
        if archives.types.boxed_in(union, field):
            size = f"sizeof({archives.types.spell(field.type)})"
            anew.insert(0, f"if (!reader.charge(1, {size})) return false;")
        if message:
            anew.insert(0, "message.start_anew(kFields);")
            anew = [f"if (held != {slot.number}) {{", *(f"  {line}" for line in anew), "}"]
        test = (
            f"archive::merged(message, {again}, {slot.value}{slot.graph('rows')})"
            if message
            else f"{slot.call('read')}(message, {slot.value}{slot.graph('rows')})"
        )
        cases.append(f"  case {slot.number << 3 | _wire(field.type)}:")
        cases += [f"    {line}" for line in anew]
        cases += _broken(f'    if (!{test}) return reader.inside("{field.name}");')
        cases += [f"    held = {slot.number};", "    break;"]
    lines += _loop("message.next()", cases, f"message.skip({'kFields' if pairs else '{}'})")
    lines += [
        "if (reader.failed() || (held == 0 && !message.no_alternative())) return false;",
        "reader.leave();",
        "return true;",
    ]
    return lines


def _loop(condition: str, cases: list[str], skip: str) -> list[str]:
    if not cases:
        return [f"while ({condition}) {{", f"  if (!{skip}) return false;", "}"]
    switch = ["switch (message.tag()) {", *cases, "  default:", f"    if (!{skip}) return false;", "}"]
    return [f"while ({condition}) {{", *(f"  {line}" for line in switch), "}"]


def _known(fields: Iterable[tuple[Field, str]]) -> list[str]:
    """The table of the fields and their elements, for messages about them."""
    entries = [
        f'{{{field.number}, "{field.name}"{f", archive::Elements::{elements}" if elements else ""}}}'
        for field, elements in fields
    ]
    if not entries:
        return []
    start = f"static constexpr std::array<archive::KnownField, {len(entries)}> kFields{{{{"
    return fill(start, entries, "}};", indent=2).lstrip().split("\n  ")


def _broken(line: str) -> list[str]:
    """An `if` with its statement, on lines of its own where one is too long; two levels further in."""
    if len(line) + 4 <= WIDTH:
        return [line]
    condition, _, statement = line.rpartition(") return ")
    margin = line[: len(line) - len(line.lstrip())]
    return [f"{condition}) {{", f"{margin}  return {statement}", f"{margin}}}"]


def _named(parameters: list[str], body: list[str]) -> list[str]:
    """Parameters without the names that the body does not use."""
    text = " ".join(body)
    pairs = [each.rsplit(" ", 1) for each in parameters]
    return [argument(type_, name, bool(re.search(rf"\b{name}\b", text))) for type_, name in pairs]
