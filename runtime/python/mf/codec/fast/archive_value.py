"""R1. The statements that read one value of an archive message behind its tag, and the containers whose first
tag stands at `pos`; both leave `pos` behind what they have read.

Strict: what our writers send. ArchiveReading makes messages of it, LenientReading takes more. Neither puts
one reference in the place of another (a field or a map's key that comes again): so what a graph has been
asked for is what its root leads to, and the careful reader finds what was left behind (mf.codec.graph).
"""

from struct import calcsize

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import bare, integer_of, is_wrapped, is_zigzag, limits_of, refers, wire_of
from mf.codec.archive_wire import BYTES, tag_of
from mf.codec.fast.fixed import Parts, converted, count_of, format_of, has_array, made
from mf.codec.fast.unit import Unit, indented, unzigzagged
from mf.codec.limits import U64_MAX

_RUNS = {"f32": 4, "f64": 8, "timestamp": 8}
_MOST_NAMES = 24

Read = tuple[list[str], str]


class ValueReading:
    """The values of one type."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._tables: dict[str, s.Struct | s.Union] = {}  # a local of the function, and the table it is of

    def hoisted(self) -> list[str]:
        return [
            f"{name} = graph[{self.unit.constant('target', target)}].objects"
            for name, target in self._tables.items()
        ]

    def default(self, field: s.Field) -> str:
        assert field.default is not None
        made_once = field.default()
        if isinstance(made_once, (int, float, str, bytes)):
            return self.unit.constant("default", made_once)
        return f"{self.unit.constant('default', field.default)}()"

    def empty(self, field: s.Field | None, container: s.Shape) -> str | None:
        match container:
            case s.Array(length=0):
                return "[]"
            case s.Array():
                return None if field is None or field.default is None else self.default(field)
            case s.Set():
                return "set()"
            case s.Map():
                return "{}"
            case _:
                return "[]"

    # One value, behind its tag

    def single(self, shape: s.Shape, name: str, end: str, level: int) -> Read:
        plain = bare(shape)
        if is_wrapped(plain):
            return self.wrapped(plain, name, level)
        if integer_of(plain) is not None:
            return self._number(plain, name)
        match plain:
            case s.Scalar(name="bool"):
                local = self.unit.local(name)
                return [f"{local} = BOOL[data[pos]]", "pos += 1"], local
            case s.Scalar(name="string" | "bytes" as kind):
                local = self.unit.local(name)
                decode = ".decode()" if kind == "string" else ""
                text = [*self.length("stop"), f"{local} = data[pos:stop]{decode}", "pos = stop"]
                return text, local
            case s.Scalar(name="uuid") | s.Struct(memcpy=True):
                return self._sized(plain, name)
            case s.Scalar():
                local = self.unit.local(name)
                layout = format_of(plain)
                unpack = self.unit.packer(layout, "unpack_from")
                text = [f"({local},) = {unpack}(data, pos)", f"pos += {calcsize(f'<{layout}')}"]
                return text, converted(self.unit, plain, local)
            case s.Ref(element=element):
                number = self._varint("index", "read_u32(data, pos - 1)")
                assert isinstance(element, s.Struct | s.Union)
                local = self.unit.local(name)
                return [*number, f"{local} = {self._table(element)}[index]"], local
            case s.Custom():
                return self._custom(plain, name, end)
            case s.Struct() | s.Union() if plain.archive:
                return self._message(plain, name, level)
            case s.Struct() | s.Union():
                return self._foreign(plain, name, level)
            case _:
                raise TypeError(plain)

    def _table(self, element: s.Struct | s.Union) -> str:
        for name, known in self._tables.items():
            if known is element:
                return name
        name = self.unit.local("table")
        self._tables[name] = element
        return name

    def _varint(self, local: str, long: str) -> list[str]:
        """`long`: the call that reads it if it has more than one byte."""
        return [f"{local} = data[pos]", "pos += 1", f"if {local} > 127:", f"    {local}, pos = {long}"]

    def length(self, stop: str) -> list[str]:
        """Some writers pad lengths, which they know last; no writer pads numbers."""
        return [*self._varint("size", "read_varint(data, pos - 1)"), f"{stop} = pos + size"]

    def _number(self, plain: s.Shape, name: str) -> Read:
        integer = integer_of(plain)
        assert integer is not None
        local = self.unit.local(name)
        low, high = limits_of(integer)
        bits = integer[1:]
        long = f"read_u{bits}(data, pos - 1)" if bits != "8" else "read_below(data, pos - 1, 255)"
        if is_zigzag(plain):
            return self._varint(local, long), converted(self.unit, plain, unzigzagged(local))
        if low != 0:
            long = f"read_member(data, pos - 1, {low}, {high})"
        return self._varint(local, long), converted(self.unit, plain, local)

    def _sized(self, plain: s.Shape, name: str) -> Read:
        """Of tier memcpy, or a uuid: the length is known."""
        layout = format_of(plain)
        size = calcsize(f"<{layout}")
        row = self.unit.local("row")
        parts = Parts(None, row=row)
        if not has_array(plain) and count_of(plain) <= _MOST_NAMES:
            parts = Parts([self.unit.local(name) for _ in range(count_of(plain))])
        target = row if parts.names is None else ", ".join(parts.names) + ","
        local = self.unit.local(name)
        unpack = f"{self.unit.packer(layout, 'unpack_from')}(data, pos)"
        return [
            *self._varint("size", "read_varint(data, pos - 1)"),
            f"if size != {size}:",
            "    raise MalformedError",
            *([f"{target} = {unpack}"] if count_of(plain) else []),
            f"{local} = {made(self.unit, plain, parts)}",
            f"pos += {size}",
        ], local

    def _custom(self, plain: s.Custom, name: str, end: str) -> Read:
        local = self.unit.local(name)
        custom = self.unit.constant("custom", plain)
        return [
            *self.length("stop"),
            f"if stop > {end}:",
            "    raise MalformedError",
            f"{local} = custom_made({custom}, data[pos:stop])",
            "pos = stop",
        ], local

    def _message(self, plain: s.Struct | s.Union, name: str, level: int) -> Read:
        local, stop = self.unit.local(name), self.unit.local("stop")
        deeper = f"depth + {level}" if self.unit.is_deep(plain) else "1"
        read = f"{self.unit.function(plain, 'read_part')}(data, pos, {stop}, {deeper}, graph)"
        return [*self.length(stop), f"{local} = {read}", f"pos = {stop}"], local

    def _foreign(self, plain: s.Struct | s.Union, name: str, level: int) -> Read:
        local, stop = self.unit.local(name), self.unit.local("stop")
        deeper = f", depth + {level}" if self.unit.is_deep(plain) else ""
        read = f"{self.unit.function(plain, 'read')}(data, pos, 1{deeper})"
        return [
            *self.length(stop),
            f"({local},), pos = {read}",
            f"if pos != {stop}:",
            "    raise MalformedError",
        ], local

    def wrapped(self, plain: s.Shape, name: str, level: int) -> Read:
        """What is in the message around a container or optional."""
        local, stop = self.unit.local(name), self.unit.local("stop")
        tag = tag_bytes(1, plain)
        if isinstance(plain, s.Optional):
            text, value = self.single(plain.element, name, stop, level)
            text = [f"pos += {len(tag)}", *text]
            absent: str | None = "None"
        else:
            text, value = self.container(plain, tag, name, stop, level)
            absent = self.empty(None, plain)
        missing = "raise MalformedError" if absent is None else f"{local} = {absent}"
        return [
            *self.length(stop),
            f"if pos == {stop}:",
            f"    {missing}",
            "else:",
            *indented(
                [
                    f"if data[pos] != {tag[0]}:",
                    "    raise MalformedError",
                    *text,
                    f"if pos != {stop}:",
                    "    raise MalformedError",
                    f"{local} = {value}",
                ]
            ),
        ], local

    # Containers, from the tag of the first element on

    def container(self, shape: s.Shape, tag: bytes, name: str, end: str, level: int) -> Read:
        match shape:
            case s.Map():
                return self.map(shape, tag, name, end, level)
            case s.Set(element=element):
                text, value = self.elements(element, tag, name, end, level)
                return text, f"set({value})"
            case s.Array(element=element, length=length):
                text, value = self.elements(element, tag, name, end, level)
                return text, f"exactly({value}, {length})"
            case s.List(element=element):
                return self.elements(element, tag, name, end, level)
            case _:
                raise TypeError(shape)

    def elements(self, element: s.Shape, tag: bytes, name: str, end: str, level: int) -> Read:
        plain = bare(element)
        if wire_of(plain) != BYTES:
            return self.packed(plain, tag, name, end)
        local = self.unit.local(name)
        text, value = self.single(plain, "item", end, level + 1)
        charged = self.unit.charged(str(8 + sizes.memory(plain)))
        return self.loop(local, "[]", tag, end, [*charged, *text, f"{local}.append({value})"]), local

    def loop(self, local: str, empty: str, tag: bytes, end: str, body: list[str]) -> list[str]:
        other = f"data[pos] != {tag[0]}" if len(tag) == 1 else f"not data.startswith({tag!r}, pos)"
        return [
            f"{local} = {empty}",
            "while True:",
            *indented([f"pos += {len(tag)}", *body, f"if pos >= {end} or {other}:", "    break"]),
        ]

    def packed(self, plain: s.Shape, tag: bytes, name: str, end: str) -> Read:
        text, value = self.numbers(plain, name)
        return [
            f"pos += {len(tag)}",
            *self.length("stop"),
            f"if stop > {end}:",
            "    raise MalformedError",
            "piece = data[pos:stop]",
            *text,
            "pos = stop",
        ], value

    def numbers(self, plain: s.Shape, name: str) -> Read:
        """All that are in the bytes `piece`."""
        local = self.unit.local(name)
        memory = 8 + sizes.memory(plain)
        if isinstance(plain, s.Scalar) and plain.coding == "fixed":
            width, code = plain.bits // 8, sizes.MEMCPY_CODES[plain.name]
            return [
                f"if len(piece) % {width}:",
                "    raise MalformedError",
                *self.unit.charged(f"len(piece) // {width} * {memory}"),
                f'{local} = unpack_fixed(piece, "{code}")',
            ], local
        if isinstance(plain, s.Scalar) and plain.name in _RUNS:
            width = _RUNS[plain.name]
            return [
                f"if len(piece) % {width}:",
                "    raise MalformedError",
                *self.unit.charged(f"len(piece) // {width} * {memory}"),
                f"{local}, _ = {self.unit.sequence('read', plain.name)}(piece, 0, len(piece) // {width})",
            ], self.unit.each(plain, local)
        charged = self.unit.charged(f"numbers_in(piece) * {memory}")
        return [*charged, f"{local} = {self._varints(plain)}"], self.unit.each(plain, local)

    def _varints(self, plain: s.Shape) -> str:
        if isinstance(plain, s.Ref):
            assert isinstance(plain.element, s.Struct | s.Union)
            return f"[{self._table(plain.element)}[index] for index in unpack_unsigned(piece, {U64_MAX})]"
        integer = integer_of(plain)
        if integer is None:
            return "unpack_bools(piece)"
        low, high = limits_of(integer)
        if is_zigzag(plain):
            return f"unpack_signed(piece, {high - low})"
        return f"unpack_unsigned(piece, {high})" if low == 0 else f"unpack_members(piece, {low}, {high})"

    def map(self, shape: s.Map, tag: bytes, name: str, end: str, level: int) -> Read:
        local, kept, stop = self.unit.local(name), self.unit.local("key"), self.unit.local("stop")
        key_tag, tag_2 = tag_of(1, wire_of(shape.key)), tag_of(2, wire_of(shape.value))
        key_text, key = self.single(shape.key, "key", stop, level + 1)
        text, value = self.single(shape.value, "item", stop, level + 1)
        once = [f"if {kept} in {local}:", "    raise MalformedError"] if refers(shape.value) else []
        body = [
            *self.length(stop),
            f"if data[pos] != {key_tag[0]}:",
            "    raise MalformedError",
            "pos += 1",
            *key_text,
            f"{kept} = {key}",
            *once,
            f"if data[pos] != {tag_2[0]}:",
            "    raise MalformedError",
            "pos += 1",
            *text,
            f"if pos != {stop}:",
            "    raise MalformedError",
            f"{local}[{kept}] = {value}",
        ]
        return self.loop(local, "{}", tag, end, body), local


def tag_bytes(number: int, shape: s.Shape) -> bytes:
    """The tag that our writers use for a field, also of a container."""
    plain = bare(shape)
    match plain:
        case s.Optional(element=element):
            return tag_of(number, wire_of(element))
        case s.List() | s.Set() | s.Array() | s.Map():
            return tag_of(number, BYTES)
        case _:
            return tag_of(number, wire_of(plain))
