"""R1. The statements that write an archive message: fields by number, a tag in front of each.

    write_part(out, values, depth, tag, graph)    each of the values as `tag`, length and message

Neighbours whose size is known are packed by one `struct.Struct`, with their tags.
"""

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import (
    bare,
    code_of,
    integer_of,
    is_wrapped,
    is_zigzag,
    limits_of,
    wire_of,
)
from mf.codec.archive_wire import BYTES, tag_of, varint
from mf.codec.fast.fixed import format_of, packed
from mf.codec.fast.unit import Unit, indented, runs

_FIXED = ("bool", "f32", "f64", "timestamp", "uuid")
_RUNS = {"bool": "bools", "f32": "f32s", "f64": "f64s", "timestamp": "timestamps"}


def is_fixed(shape: s.Shape) -> bool:
    """Whether a value always takes the same bytes."""
    match bare(shape):
        case s.Scalar(name=name, coding=coding):
            return name in _FIXED or coding == "fixed"
        case s.Struct(memcpy=memcpy):
            return memcpy
        case _:
            return False


def head_of(number: int, shape: s.Shape) -> bytes:
    """The tag of a value of fixed size, and its length where it has one."""
    plain = bare(shape)
    tag = tag_of(number, wire_of(plain))
    if isinstance(plain, s.Scalar):
        return tag + b"\x10" if plain.name == "uuid" else tag
    return tag + varint(sizes.layout(plain)[0])


def head_format(head: bytes) -> str:
    return "B" if len(head) == 1 else f"{len(head)}s"


def head_value(head: bytes) -> str:
    return str(head[0]) if len(head) == 1 else repr(head)


class ArchiveWriting:
    """The body of one `write_part`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._targets: dict[str, s.Struct | s.Union] = {}  # a local of the function, and the table it is of

    def body(self, shape: s.Struct | s.Union) -> list[str]:
        inside = self._union(shape) if isinstance(shape, s.Union) else self._struct(shape)
        tables = [
            line
            for name, target in self._targets.items()
            for line in (
                f"table = graph[{self._unit.constant('target', target)}]",
                f"{name}, {name}_meet = table.numbers, table.meet",
            )
        ]
        return [
            "append = out.append",
            *tables,
            "for value in values:",
            *indented(["out += tag", "append(0)", "begin = len(out)", *inside, "close(out, begin)"]),
        ]

    def _struct(self, shape: s.Struct) -> list[str]:
        lines: list[str] = []
        for run in runs(sorted(shape.fields, key=lambda each: each.number), is_fixed):
            if is_fixed(run[0].shape) and len(run) > 1:
                lines += self._run(run)
            else:
                lines += self._field(run[0].number, run[0].shape, f"value.{run[0].attribute}", 1)
        return [
            *lines,
            "if value.__mf_unknown__:",
            "    out += kept_fields(value.__mf_unknown__, graph and graph.kept)",
        ]

    def _union(self, shape: s.Union) -> list[str]:
        lines = ["kind = type(value)"]
        for at, each in enumerate(shape.alternatives):
            lines.append(f"{'elif' if at else 'if'} kind is {self._unit.constant('kind', each.type)}:")
            lines += indented(self._single(each.number, each.shape, "value.value", 1))
        return [*lines, "else:", "    raise MalformedError"]

    def _run(self, run: list[s.Field]) -> list[str]:
        layout, arguments = "", []
        for each in run:
            head = head_of(each.number, each.shape)
            layout += head_format(head) + format_of(each.shape)
            arguments += [head_value(head)]
            arguments += packed(self._unit, each.shape, f"value.{each.attribute}")
        return [f"out += {self._unit.packer(layout, 'pack')}({', '.join(arguments)})"]

    def _tag(self, tag: bytes) -> str:
        return f"append({tag[0]})" if len(tag) == 1 else f"out += {tag!r}"

    def _field(self, number: int, shape: s.Shape, value: str, level: int) -> list[str]:
        """A field, or what a message around a container holds; nothing for what is absent or empty."""
        match bare(shape):
            case s.Optional(element=element):
                local = self._unit.local("maybe")
                body = self._single(number, element, local, level)
                return [f"{local} = {value}", f"if {local} is not None:", *indented(body)]
            case s.List(element=element):
                return self._repeated(number, element, f"listed({value})", level)
            case s.Set(element=element):
                return self._repeated(number, element, f"in_order({value})", level)
            case s.Array(element=element, length=length):
                return self._repeated(number, element, f"exactly({value}, {length})", level)
            case s.Map() as map_:
                return self._map(number, map_, value, level)
            case _:
                return self._single(number, shape, value, level)

    def _single(self, number: int, shape: s.Shape, value: str, level: int) -> list[str]:
        """One value with its tag."""
        plain = bare(shape)
        tag = tag_of(number, wire_of(plain))
        if is_wrapped(plain):
            begin = self._unit.local("begin")
            return [
                self._tag(tag),
                "append(0)",
                f"{begin} = len(out)",
                *self._field(1, plain, value, level),
                f"close(out, {begin})",
            ]
        if integer_of(plain) is not None:
            return [self._tag(tag), *self._number(plain, value)]
        match plain:
            case s.Scalar(name="bool"):
                return [self._tag(tag), f"append({packed(self._unit, plain, value)[0]})"]
            case s.Scalar(name="string"):
                return [
                    f"text = {value}.encode()",
                    "size = len(text)",
                    self._tag(tag),
                    "if size < 128:",
                    "    append(size)",
                    "else:",
                    "    write_u32(out, size)",
                    "out += text",
                ]
            case s.Scalar(name="bytes"):
                return [self._tag(tag), f"write_blob(out, as_bytes({value}))"]
            case s.Scalar() | s.Struct(memcpy=True):
                return self._fixed(number, plain, value)
            case s.Ref(element=element):
                return self._ref(tag, element, value)
            case s.Custom():
                made = f"custom_bytes({self._unit.constant('custom', plain)}, {value})"
                return [self._tag(tag), f"write_blob(out, {made})"]
            case s.Struct() | s.Union() if plain.archive:
                return [self._part(plain, f"({value},)", tag, level)]
            case s.Struct() | s.Union():
                return self._foreign(plain, tag, value, level)
            case _:
                raise TypeError(plain)

    def _fixed(self, number: int, shape: s.Shape, value: str) -> list[str]:
        head = head_of(number, shape)
        layout = head_format(head) + format_of(shape)
        arguments = [head_value(head), *packed(self._unit, shape, value)]
        return [f"out += {self._unit.packer(layout, 'pack')}({', '.join(arguments)})"]

    def _number(self, shape: s.Shape, value: str) -> list[str]:
        integer = integer_of(shape)
        assert integer is not None
        (source,) = packed(self._unit, shape, value)
        local = self._unit.local("number")
        low, high = limits_of(integer)
        if is_zigzag(shape):
            test, short = f"-64 <= {local} < 64", f"({local} << 1) ^ ({local} >> 63)"
            long = f"write_signed(out, {local}, {high})"
        else:
            test, short = f"0 <= {local} < 128", local
            signed = integer[0] == "i"
            long = (
                f"write_member(out, {local}, {low}, {high})"
                if signed
                else f"write_unsigned(out, {local}, {high})"
            )
        return [f"{local} = {source}", f"if {test}:", f"    append({short})", "else:", f"    {long}"]

    def _ref(self, tag: bytes, element: s.Shape, value: str) -> list[str]:
        return [
            self._tag(tag),
            f"index = {self._index(element, value)}",
            "if index < 128:",
            "    append(index)",
            "else:",
            "    write_u32(out, index)",
        ]

    def _index(self, element: s.Shape, value: str) -> str:
        """Of an object in its table, where it gets a place when it is first met."""
        assert isinstance(element, s.Struct | s.Union)
        name = self._table(element)
        return f"{name}[id({value})] if id({value}) in {name} else {name}_meet({value})"

    def _table(self, element: s.Struct | s.Union) -> str:
        for name, known in self._targets.items():
            if known is element:
                return name
        name = self._unit.local("table")
        self._targets[name] = element
        return name

    def _part(self, shape: s.Struct | s.Union, values: str, tag: bytes, level: int) -> str:
        deeper = f"depth + {level}" if self._unit.is_deep(shape) else "1"
        return f"{self._unit.function(shape, 'write_part')}(out, {values}, {deeper}, {tag!r}, graph)"

    def _foreign(self, shape: s.Struct | s.Union, tag: bytes, value: str, level: int) -> list[str]:
        begin = self._unit.local("begin")
        deeper = f", depth + {level}" if self._unit.is_deep(shape) else ""
        return [
            self._tag(tag),
            "append(0)",
            f"{begin} = len(out)",
            f"{self._unit.function(shape, 'write')}(out, ({value},){deeper})",
            f"close(out, {begin})",
        ]

    def _repeated(self, number: int, element: s.Shape, values: str, level: int) -> list[str]:
        plain, local = bare(element), self._unit.local("items")
        keep = f"{local} = {values}"
        if wire_of(plain) != BYTES:
            tag = self._tag(tag_of(number, BYTES))
            begin = self._unit.local("begin")
            return [keep, f"if len({local}):", *indented(self._packed(plain, local, tag, begin))]
        tag_bytes = tag_of(number, BYTES)
        if isinstance(plain, s.Struct | s.Union) and plain.archive:
            return [keep, self._part(plain, f"items_of({local})", tag_bytes, level + 1)]
        item = self._unit.local("item")
        body = self._single(number, element, item, level + 1)
        return [f"for {item} in items_of({values}):", *indented(body)]

    def _packed(self, plain: s.Shape, items: str, tag: str, begin: str) -> list[str]:
        if isinstance(plain, s.Ref):
            return [
                tag,
                f"write_blob(out, pack_unsigned([{self._index(plain.element, 'each')} for each in {items}],"
                ' "I"))',
            ]
        integer = integer_of(plain)
        if integer is None:
            assert isinstance(plain, s.Scalar)
            if plain.coding:
                return [tag, f'write_blob(out, pack_fixed({items}, "{sizes.MEMCPY_CODES[plain.name]}"))']
            write = f"write_{_RUNS[plain.name]}(out, {items})"
            return [tag, "append(0)", f"{begin} = len(out)", write, f"close(out, {begin})"]
        numbers = items
        if isinstance(plain, s.Enum) and not plain.open:
            numbers = f"members_of({items}, {self._unit.constant('numbers', plain.numbers)})"
        low, high = limits_of(integer)
        if is_zigzag(plain):
            made = f'pack_signed({numbers}, "{code_of(integer)}")'
        elif integer[0] == "i":
            made = f"pack_members({numbers}, {low}, {high})"
        else:
            made = f'pack_unsigned({numbers}, "{code_of(integer)}")'
        return [tag, f"write_blob(out, {made})"]

    def _map(self, number: int, shape: s.Map, value: str, level: int) -> list[str]:
        local, key, begin = (self._unit.local(each) for each in ("map", "key", "begin"))
        body = [
            self._tag(tag_of(number, BYTES)),
            "append(0)",
            f"{begin} = len(out)",
            *self._single(1, shape.key, key, level + 1),
            *self._single(2, shape.value, f"{local}[{key}]", level + 1),
            f"close(out, {begin})",
        ]
        return [f"{local} = {value}", f"for {key} in sorted({local}):", *indented(body)]
