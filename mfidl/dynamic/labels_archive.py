"""F6. The labels of tier archive: proto2 messages in any order, in parts, with unknown fields; and
graphs, which are tables of messages.
"""

from collections.abc import Mapping
from enum import Enum

from mf.codec import shape as s
from mf.codec.archive_form import integer_of, is_wrapped, is_zigzag, wire_of
from mf.codec.archive_wire import BYTES, CLOSE_GROUP, FIXED32, OPEN_GROUP, VARINT
from mf.codec.contents import bare
from mf.codec.limits import U64_MAX
from mfidl.dynamic.labels import EndOfLabelsError, Labels, alone, fixed, laid

_FORMS = ("varint", "8 bytes", "length and bytes", "group", "end of group", "4 bytes")  # by the wire type
Places = dict[int, tuple[str, s.Shape]]


class Of(Enum):
    """What a message is. In one of a struct, and in the message around a container or an optional, these have
    fields of several values, or of none; in the others each value is single.
    """

    STRUCT = "struct"
    UNION = "union"
    ENTRY = "entry"


class _Parts:
    """Of one message, which may come in parts: how many elements each field has, and the messages in it."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.inner: dict[int, _Parts] = {}

    def next(self, number: int) -> int:
        index = self.counts.get(number, 0)
        self.counts[number] = index + 1
        return index


def whole(r: Labels, shape: s.Struct | s.Union) -> None:
    """A message or a graph, up to `r.end`."""
    tables = dict(enumerate(shape.tables.items(), 1))
    if not tables:
        _message(r, shape, _Parts())
        return
    names = {number: name for number, (name, _) in tables.items()}
    graph = _Parts()
    while r.pos < r.end:
        number, wire = _tag(r, names)
        if number not in tables:
            _skip(r, wire)
            continue
        name, each = tables[number]
        with r.at(name), r.at(graph.next(number)):
            size = r.padded_length()
            with r.unchecked(r.pos + size), r.window(size):
                _message(r, each, _Parts())


def _message(r: Labels, shape: s.Struct | s.Union, parts: _Parts) -> None:
    r.enter()
    if isinstance(shape, s.Union):
        _fields(r, {each.number: (each.name, each.shape) for each in shape.alternatives}, parts, Of.UNION)
    else:
        _fields(r, {each.number: (each.name, each.shape) for each in shape.fields}, parts)
    r.depth -= 1


def _fields(r: Labels, places: Places, parts: _Parts, of: Of = Of.STRUCT) -> None:
    names = {number: name for number, (name, _) in places.items()}
    while r.pos < r.end:
        number, wire = _tag(r, names)
        if number not in places:
            _skip(r, wire)
            continue
        name, shape = places[number]
        if of is Of.UNION and number not in parts.inner:
            parts.inner = {}
        with r.at(name):
            if of is Of.STRUCT:
                _field(r, bare(shape), number, wire, parts)
            else:
                _single(r, shape, number, wire, parts)


def _field(r: Labels, shape: s.Shape, number: int, wire: int, parts: _Parts) -> None:
    match shape:
        case s.Optional(element=element):
            _single(r, element, number, wire, parts)
        case s.List(element=element) | s.Set(element=element) | s.Array(element=element):
            _repeated(r, element, number, wire, parts)
        case s.Map(key=key, value=value):
            with r.at(parts.next(number)), r.window(r.padded_length()):
                _fields(r, {1: ("", key), 2: ("", value)}, _Parts(), Of.ENTRY)
        case _:
            _single(r, shape, number, wire, parts)


def _repeated(r: Labels, element: s.Shape, number: int, wire: int, parts: _Parts) -> None:
    if wire == wire_of(element):
        with r.at(parts.next(number)):
            _one(r, element, _Parts())
        return
    if wire != BYTES:
        raise EndOfLabelsError
    with r.window(r.padded_length()):
        while r.pos < r.end:
            with r.at(parts.next(number)):
                _one(r, element, _Parts())


def _single(r: Labels, shape: s.Shape, number: int, wire: int, parts: _Parts) -> None:
    if wire != wire_of(shape):
        raise EndOfLabelsError
    _one(r, shape, parts.inner.setdefault(number, _Parts()))


def _one(r: Labels, shape: s.Shape, parts: _Parts) -> None:
    """A value behind its tag; `parts` of it, if it is a message."""
    shape = bare(shape)
    if wire_of(shape) == VARINT:
        _varint(r, shape)
        return
    if wire_of(shape) != BYTES:
        fixed(r, shape)
        return
    size = r.padded_length()
    if isinstance(shape, s.Scalar) and shape.name != "uuid":
        r.sized(shape, size)
        return
    with r.window(size):
        match shape:
            case s.Scalar():
                fixed(r, shape)
            case s.Struct() | s.Union() if shape.archive:
                _message(r, shape, parts)
            case s.Struct() if shape.memcpy:
                laid(r, shape)
            case s.Struct() | s.Union() | s.Custom():
                alone(r, shape)
            case _:
                assert is_wrapped(shape)
                _fields(r, {1: ("", shape)}, parts)


def _varint(r: Labels, shape: s.Shape) -> None:
    start = r.pos
    number = r.unsigned(U64_MAX, shortest=False)
    if isinstance(shape, s.Ref):
        r.note_value(start, shape, number, "index in the table")
    elif shape is s.BOOL:
        r.note_value(start, shape, number == 1 if number < 2 else number)
    elif is_zigzag(shape):
        r.note_value(start, shape, number >> 1 ^ -(number & 1))
    else:
        signed = (integer_of(shape) or "u")[0] == "i"
        r.note_value(start, shape, number - (1 << 64) if signed and number >> 63 else number)


# Tags, and what the schema does not know --------------------------------------------------------------------


def _tag(r: Labels, names: Mapping[int, str]) -> tuple[int, int]:
    start = r.pos
    tag = r.unsigned(U64_MAX, shortest=False)
    number, wire = tag >> 3, tag & 7
    if wire >= len(_FORMS):
        raise EndOfLabelsError
    known = "field" if number in names else "unknown field"
    name = f" `{names[number]}`" if names.get(number) else ""
    r.note(start, f"tag: {known} {number}{name}, {_FORMS[wire]}", value=str(tag))
    return number, wire


def _skip(r: Labels, wire: int) -> None:
    """The value of an unknown field; a group with all that is in it."""
    groups = 0
    while True:
        if wire == OPEN_GROUP:
            groups += 1
        elif wire == CLOSE_GROUP:
            groups -= 1
        else:
            _skip_one(r, wire)
        if groups <= 0:
            return
        _, wire = _tag(r, {})


def _skip_one(r: Labels, wire: int) -> None:
    if wire == BYTES:
        size = r.padded_length()
        start, data = r.pos, r.take(size)
        r.note(start, "unknown bytes", value=data.hex(" "))
        return
    start = r.pos
    if wire == VARINT:
        number = r.unsigned(U64_MAX, shortest=False)
        r.note(start, "unknown value", value=str(number))
    else:
        data = r.take(4 if wire == FIXED32 else 8)
        r.note(start, "unknown value", value=data.hex(" "))
