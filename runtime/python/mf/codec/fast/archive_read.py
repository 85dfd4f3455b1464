"""R1. The statements that read an archive message, as our writers send it: fields by number, once each,
numbers packed. Fields that nobody knows may stand anywhere; the careful path reads all else that protobuf
allows.

    read_part(data, pos, end, depth, graph)             the value of the message from `pos` to `end`
    fill_part(value, data, pos, end, depth, graph)      the same into an object of a graph

`tag` is the first byte of the next field's tag, 0 at the end of the message; it is taken in front of a field
that may be absent, and what must be there is compared where it stands.
"""

from struct import calcsize

from mf.codec import shape as s
from mf.codec.archive_form import bare, integer_of, is_wrapped, is_zigzag, limits_of, wire_of
from mf.codec.archive_wire import BYTES, tag_of
from mf.codec.fast.archive_write import head_format, head_of, is_fixed
from mf.codec.fast.fixed import Parts, converted, count_of, format_of, has_array, made
from mf.codec.fast.unit import Unit, indented
from mf.codec.limits import U64_MAX

_NEXT = "tag = data[pos] if pos < end else 0"
_RUNS = {"f32": 4, "f64": 8, "timestamp": 8}
_MOST_NAMES = 24

Read = tuple[list[str], str]


class ArchiveReading:
    """The bodies of one type."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._tables: dict[str, s.Struct | s.Union] = {}  # a local of the function, and the table it is of

    def struct(self, shape: s.Struct) -> list[str]:
        """Into `value`."""
        fields = sorted(shape.fields, key=lambda each: each.number)
        known = self._unit.constant("known", frozenset(each.number for each in fields))
        first = frozenset(_tag(each.number, each.shape)[0] for each in fields)
        firsts = self._unit.constant("firsts", first)
        lines: list[str] = []
        taken = False  # whether `tag` is that of the next field
        for run in _runs(fields):
            if len(run) > 1:
                lines += self._run(run)
                taken = False
            else:
                own, taken = self._field(run[0], known, firsts, taken)
                lines += own
        return [
            *self._hoisted(),
            'unknown = b""',
            *lines,
            "if pos != end:",
            *indented([*self._skipped(known), "if pos != end:", "    raise MalformedError"]),
            "value.__mf_unknown__ = graph.kept(unknown) if unknown and graph else unknown",
        ]

    def union(self, shape: s.Union, made_of: str = "value = {}({})") -> list[str]:
        """`value` is made, or, in an object of a graph, its only slot is filled."""
        lines: list[str] = []
        for at, each in enumerate(shape.alternatives):
            tag = tag_of(each.number, wire_of(each.shape))
            text, value = self._single(each.shape, "held", "end", 1)
            lines.append(f"{'elif' if at else 'if'} {_matches(tag)}:")
            result = made_of.format(self._unit.constant("kind", each.type), value)
            lines += indented([f"pos += {len(tag)}", *text, result])
        return [
            *self._hoisted(),
            _NEXT,
            *lines,
            "else:",
            "    raise MalformedError",
            "if pos != end:",
            "    raise MalformedError",
        ]

    def _hoisted(self) -> list[str]:
        return [
            f"{name} = graph[{self._unit.constant('target', target)}].objects"
            for name, target in self._tables.items()
        ]

    def _skipped(self, known: str) -> list[str]:
        return [
            "begin = pos",
            f"pos = skip_unknown(data, pos, end, {known})",
            "unknown += data[begin:pos]",
        ]

    def _run(self, run: list[s.Field]) -> list[str]:
        """Neighbours of fixed size that must be there."""
        layout, names, tests = "", [], []
        values: list[tuple[str, str]] = []
        for each in run:
            head = head_of(each.number, each.shape)
            layout += head_format(head) + format_of(each.shape)
            name = self._unit.local("head")
            names.append(name)
            tests.append(f"{name} != {head[0] if len(head) == 1 else head!r}")
            own = [self._unit.local(each.attribute) for _ in range(count_of(each.shape))]
            names += own
            values.append((each.attribute, made(self._unit, each.shape, Parts(own))))
        return [
            f"{', '.join(names)}, = {self._unit.packer(layout, 'unpack_from')}(data, pos)",
            f"if {' or '.join(tests)}:",
            "    raise MalformedError",
            f"pos += {calcsize(f'<{layout}')}",
            *(f"value.{name} = {text}" for name, text in values),
        ]

    def _field(self, field: s.Field, known: str, firsts: str, taken: bool) -> tuple[list[str], bool]:
        """The statements, and whether `tag` is that of the next field behind them."""
        tag = _tag(field.number, field.shape)
        target = f"value.{field.attribute}"
        text, value, absent = self._contents(field, tag)
        if absent is None:
            there = f"data[pos] != {tag[0]}" if len(tag) == 1 else f"not data.startswith({tag!r}, pos)"
            miss = [*self._skipped(known), f"if pos >= end or {there}:", "    raise MalformedError"]
            return [f"if {there}:", *indented(miss), *text, f"{target} = {value}"], False
        return [
            *([] if taken else [_NEXT]),
            f"if tag != {tag[0]} and tag and tag not in {firsts}:",
            *indented([*self._skipped(known), _NEXT]),
            f"if {_matches(tag)}:",
            *indented([*text, f"{target} = {value}", _NEXT]),
            "else:",
            f"    {target} = {absent}",
        ], True

    def _contents(self, field: s.Field, tag: bytes) -> tuple[list[str], str, str | None]:
        """Statements from the tag on, the value, and what stands for it where it is absent: None if it must
        not be.
        """
        name = field.attribute
        match bare(field.shape):
            case s.Optional(element=element):
                text, value = self._single(element, name, "end", 1)
                return [f"pos += {len(tag)}", *text], value, "None"
            case s.List() | s.Set() | s.Array() | s.Map() as container:
                text, value = self._container(container, tag, name, "end", 1)
                return text, value, self._empty(field, container)
            case plain:
                text, value = self._single(plain, name, "end", 1)
                absent = None
                if field.default is not None:
                    absent = self._default(field)
                return [f"pos += {len(tag)}", *text], value, absent

    def _default(self, field: s.Field) -> str:
        assert field.default is not None
        made_once = field.default()
        if isinstance(made_once, (int, float, str, bytes)):
            return self._unit.constant("default", made_once)
        return f"{self._unit.constant('default', field.default)}()"

    def _empty(self, field: s.Field | None, container: s.Shape) -> str | None:
        match container:
            case s.Array(length=0):
                return "[]"
            case s.Array():
                return None if field is None or field.default is None else self._default(field)
            case s.Set():
                return "set()"
            case s.Map():
                return "{}"
            case _:
                return "[]"

    # One value, behind its tag

    def _single(self, shape: s.Shape, name: str, end: str, level: int) -> Read:
        plain = bare(shape)
        if is_wrapped(plain):
            return self._wrapped(plain, name, level)
        if integer_of(plain) is not None:
            return self._number(plain, name)
        match plain:
            case s.Scalar(name="bool"):
                local = self._unit.local(name)
                return [f"{local} = BOOL[data[pos]]", "pos += 1"], local
            case s.Scalar(name="string" | "bytes" as kind):
                local = self._unit.local(name)
                decode = ".decode()" if kind == "string" else ""
                text = [*self._length("stop"), f"{local} = data[pos:stop]{decode}", "pos = stop"]
                return text, local
            case s.Scalar(name="uuid") | s.Struct(memcpy=True):
                return self._sized(plain, name)
            case s.Scalar():
                local = self._unit.local(name)
                layout = format_of(plain)
                unpack = self._unit.packer(layout, "unpack_from")
                text = [f"({local},) = {unpack}(data, pos)", f"pos += {calcsize(f'<{layout}')}"]
                return text, converted(self._unit, plain, local)
            case s.Ref(element=element):
                number = self._varint("index", U64_MAX)
                assert isinstance(element, s.Struct | s.Union)
                local = self._unit.local(name)
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
        name = self._unit.local("table")
        self._tables[name] = element
        return name

    def _varint(self, local: str, highest: int) -> list[str]:
        long = "read_varint(data, pos - 1)"
        if highest != U64_MAX:
            long = f"read_below(data, pos - 1, {highest})"
        return [f"{local} = data[pos]", "pos += 1", f"if {local} > 127:", f"    {local}, pos = {long}"]

    def _length(self, stop: str) -> list[str]:
        return [*self._varint("size", U64_MAX), f"{stop} = pos + size"]

    def _number(self, plain: s.Shape, name: str) -> Read:
        integer = integer_of(plain)
        assert integer is not None
        local = self._unit.local(name)
        low, high = limits_of(integer)
        if is_zigzag(plain):
            text = self._varint(local, high - low)
            return text, converted(self._unit, plain, f"({local} >> 1) ^ -({local} & 1)")
        if low == 0:
            return self._varint(local, high), converted(self._unit, plain, local)
        text = self._varint(local, U64_MAX)
        text[-1] = f"    {local}, pos = read_member(data, pos - 1, {low}, {high})"
        return text, converted(self._unit, plain, local)

    def _sized(self, plain: s.Shape, name: str) -> Read:
        """Of tier memcpy, or a uuid: the length is known."""
        layout = format_of(plain)
        size = calcsize(f"<{layout}")
        row = self._unit.local("row")
        parts = Parts(None, row=row)
        if not has_array(plain) and count_of(plain) <= _MOST_NAMES:
            parts = Parts([self._unit.local(name) for _ in range(count_of(plain))])
        target = row if parts.names is None else ", ".join(parts.names) + ","
        local = self._unit.local(name)
        unpack = f"{self._unit.packer(layout, 'unpack_from')}(data, pos)"
        return [
            *self._varint("size", U64_MAX),
            f"if size != {size}:",
            "    raise MalformedError",
            *([f"{target} = {unpack}"] if count_of(plain) else []),
            f"{local} = {made(self._unit, plain, parts)}",
            f"pos += {size}",
        ], local

    def _custom(self, plain: s.Custom, name: str, end: str) -> Read:
        local = self._unit.local(name)
        custom = self._unit.constant("custom", plain)
        return [
            *self._length("stop"),
            f"if stop > {end}:",
            "    raise MalformedError",
            f"{local} = custom_made({custom}, data[pos:stop])",
            "pos = stop",
        ], local

    def _message(self, plain: s.Struct | s.Union, name: str, level: int) -> Read:
        local, stop = self._unit.local(name), self._unit.local("stop")
        deeper = f"depth + {level}" if self._unit.is_deep(plain) else "1"
        read = f"{self._unit.function(plain, 'read_part')}(data, pos, {stop}, {deeper}, graph)"
        return [*self._length(stop), f"{local} = {read}", f"pos = {stop}"], local

    def _foreign(self, plain: s.Struct | s.Union, name: str, level: int) -> Read:
        local, stop = self._unit.local(name), self._unit.local("stop")
        deeper = f", depth + {level}" if self._unit.is_deep(plain) else ""
        read = f"{self._unit.function(plain, 'read')}(data, pos, 1{deeper})"
        return [
            *self._length(stop),
            f"({local},), pos = {read}",
            f"if pos != {stop}:",
            "    raise MalformedError",
        ], local

    def _wrapped(self, plain: s.Shape, name: str, level: int) -> Read:
        """What is in the message around a container or optional."""
        local, stop = self._unit.local(name), self._unit.local("stop")
        tag = _tag(1, plain)
        if isinstance(plain, s.Optional):
            text, value = self._single(plain.element, name, stop, level)
            text = [f"pos += {len(tag)}", *text]
            absent: str | None = "None"
        else:
            text, value = self._container(plain, tag, name, stop, level)
            absent = self._empty(None, plain)
        missing = "raise MalformedError" if absent is None else f"{local} = {absent}"
        return [
            *self._length(stop),
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

    def _container(self, shape: s.Shape, tag: bytes, name: str, end: str, level: int) -> Read:
        match shape:
            case s.Map():
                return self._map(shape, tag, name, end, level)
            case s.Set(element=element):
                text, value = self._elements(element, tag, name, end, level)
                return text, f"set({value})"
            case s.Array(element=element, length=length):
                text, value = self._elements(element, tag, name, end, level)
                return text, f"exactly({value}, {length})"
            case s.List(element=element):
                return self._elements(element, tag, name, end, level)
            case _:
                raise TypeError(shape)

    def _elements(self, element: s.Shape, tag: bytes, name: str, end: str, level: int) -> Read:
        plain = bare(element)
        if wire_of(plain) != BYTES:
            return self._packed(plain, tag, name, end)
        local = self._unit.local(name)
        text, value = self._single(plain, "item", end, level + 1)
        return self._loop(local, "[]", tag, end, [*text, f"{local}.append({value})"]), local

    def _loop(self, local: str, empty: str, tag: bytes, end: str, body: list[str]) -> list[str]:
        other = f"data[pos] != {tag[0]}" if len(tag) == 1 else f"not data.startswith({tag!r}, pos)"
        return [
            f"{local} = {empty}",
            "while True:",
            *indented([f"pos += {len(tag)}", *body, f"if pos >= {end} or {other}:", "    break"]),
        ]

    def _packed(self, plain: s.Shape, tag: bytes, name: str, end: str) -> Read:
        local = self._unit.local(name)
        head = [f"pos += {len(tag)}", *self._length("stop"), f"if stop > {end}:", "    raise MalformedError"]
        tail = ["pos = stop"]
        piece = "data[pos:stop]"
        if isinstance(plain, s.Ref):
            assert isinstance(plain.element, s.Struct | s.Union)
            table = self._table(plain.element)
            return [
                *head,
                f"{local} = [{table}[index] for index in unpack_unsigned({piece}, {U64_MAX})]",
                *tail,
            ], local
        integer = integer_of(plain)
        if integer is None:
            assert isinstance(plain, s.Scalar)
            if plain.name == "bool":
                return [*head, f"{local} = unpack_bools({piece})", *tail], local
            width = _RUNS[plain.name]
            return [
                *head,
                f"if size % {width}:",
                "    raise MalformedError",
                f"{local}, pos = {self._unit.sequence('read', plain.name)}(data, pos, size // {width})",
            ], self._each(plain, local)
        low, high = limits_of(integer)
        if is_zigzag(plain):
            numbers = f"unpack_signed({piece}, {high - low})"
        elif low == 0:
            numbers = f"unpack_unsigned({piece}, {high})"
        else:
            numbers = f"unpack_members({piece}, {low}, {high})"
        return [*head, f"{local} = {numbers}", *tail], self._each(plain, local)

    def _each(self, plain: s.Shape, local: str) -> str:
        match plain:
            case s.Enum(values=known):
                return f"list(map({self._unit.constant('values', known)}.__getitem__, {local}))"
            case s.Scalar(name="timestamp"):
                return f"list(map(Timestamp, {local}))"
            case s.Scalar(name="duration"):
                return f"list(map(Duration, {local}))"
            case _:
                return local

    def _map(self, shape: s.Map, tag: bytes, name: str, end: str, level: int) -> Read:
        local, kept, stop = self._unit.local(name), self._unit.local("key"), self._unit.local("stop")
        key_tag, tag_2 = tag_of(1, wire_of(shape.key)), tag_of(2, wire_of(shape.value))
        key_text, key = self._single(shape.key, "key", stop, level + 1)
        text, value = self._single(shape.value, "item", stop, level + 1)
        body = [
            *self._length(stop),
            f"if data[pos] != {key_tag[0]}:",
            "    raise MalformedError",
            "pos += 1",
            *key_text,
            f"{kept} = {key}",
            f"if data[pos] != {tag_2[0]}:",
            "    raise MalformedError",
            "pos += 1",
            *text,
            f"if pos != {stop}:",
            "    raise MalformedError",
            f"{local}[{kept}] = {value}",
        ]
        return self._loop(local, "{}", tag, end, body), local


def _tag(number: int, shape: s.Shape) -> bytes:
    """The tag that our writers use for a field, also of a container."""
    plain = bare(shape)
    match plain:
        case s.Optional(element=element):
            return tag_of(number, wire_of(element))
        case s.List() | s.Set() | s.Array() | s.Map():
            return tag_of(number, BYTES)
        case _:
            return tag_of(number, wire_of(plain))


def _matches(tag: bytes) -> str:
    if len(tag) == 1:
        return f"tag == {tag[0]}"
    return f"tag == {tag[0]} and data.startswith({tag!r}, pos)"


def _runs(fields: list[s.Field]) -> list[list[s.Field]]:
    """Neighbours of fixed size that must be there together, every other field alone."""
    runs: list[list[s.Field]] = []
    joins = False
    for each in fields:
        fixed = is_fixed(each.shape) and each.default is None and not has_array(each.shape)
        if fixed and joins:
            runs[-1].append(each)
        else:
            runs.append([each])
        joins = fixed
    return runs
