"""R1. The careful reader's part for tier archive: all that protobuf allows, one field at a time.

A message may come in several parts, which are one; what it lacks is known when the last of them has been
read. So a message is `_Open` while its parts come, and the one around it looks ahead for more of them.

Functions on the `CarefulReader`: path, depth and budget are one for all tiers. `bounded` cuts what is read to
a part of the bytes; offsets stay those of the whole.
"""

import struct
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import bare, integer_of, is_message, is_wrapped, is_zigzag, limits_of, wire_of
from mf.codec.archive_wire import (
    BYTES,
    CLOSE_GROUP,
    FIXED32,
    FIXED64,
    LARGEST_NUMBER,
    OPEN_GROUP,
    VARINT,
    read_varint,
)
from mf.codec.fault import Fault
from mf.codec.graph_unknown import Reading
from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.varint import unzigzag

if TYPE_CHECKING:
    from mf.codec.careful_error import CarefulError
    from mf.codec.careful_reader import CarefulReader

Composite = s.Struct | s.Union
Span = tuple[int, int]
_new: Final = object.__new__
_SINGLE, _REPEATED, _MAP = range(3)
_NODE = 100


class _Place:
    """What a field number means. `name`: in paths; `optional`: may be absent."""

    __slots__ = ("attribute", "default", "form", "name", "number", "optional", "rules", "shape")

    def __init__(self, number: int, name: str, shape: s.Shape, *, single: bool = False) -> None:
        self.number = number
        self.name = name
        self.attribute = name
        self.default: Any = None
        self.rules: list[Any] = []
        self.optional = isinstance(bare(shape), s.Optional)
        plain = bare(shape)
        if isinstance(plain, s.Optional) and not single:
            shape, single = plain.element, True
        if not single:
            while isinstance(shape, s.Checked):
                self.rules += shape.rules
                shape = shape.shape
        self.shape = shape
        match shape:
            case s.List() | s.Set() | s.Array() if not single:
                self.form = _REPEATED
            case s.Map() if not single:
                self.form = _MAP
            case _:
                self.form = _SINGLE
                if self.rules:
                    self.shape = s.Checked(shape, tuple(self.rules))


class _Open:
    """A message of which there may be more. `spans`: where the parts of each message in it are; `last`: where
    the last alternative of a union is, which alone counts.
    """

    __slots__ = ("any", "end", "inner", "is_union", "last", "made", "places", "spans", "unknown", "values")

    def __init__(
        self, whole: bytes, places: list[_Place], spans: list[Span], *, is_union: bool = False
    ) -> None:
        self.places = {each.number: each for each in places}
        self.is_union = is_union
        self.values: dict[int, Any] = {}
        self.inner: dict[int, _Open] = {}
        self.made: dict[int, Any] = {}
        self.unknown = bytearray()
        self.any = False
        self.end = spans[-1][1] if spans else 0
        self.spans: dict[int, list[Span]] = {}
        self.last = 0
        if any(each.form == _SINGLE and is_message(each.shape) for each in places):
            self._look_ahead(whole, spans)

    def _look_ahead(self, whole: bytes, spans: list[Span]) -> None:
        """Where the messages in it are. Stops at what is wrong, which is met again."""
        try:
            for start, end in spans:
                pos = start
                while pos < end:
                    tag, pos = read_varint(whole, pos)
                    place = self.places.get(tag >> 3)
                    if place is not None:
                        self.last = pos
                    if tag & 7 != BYTES:
                        pos = _behind(whole, pos, tag)
                        continue
                    size, pos = read_varint(whole, pos)
                    if size > end - pos:
                        return
                    if place is not None and place.form == _SINGLE and is_message(place.shape):
                        self.spans.setdefault(place.number, []).append((pos, pos + size))
                    pos += size
        except (MalformedError, IndexError):
            return


def _behind(data: bytes, pos: int, tag: int) -> int:
    wire = tag & 7
    if wire == VARINT:
        return read_varint(data, pos)[1]
    if wire in (FIXED64, FIXED32):
        return pos + (8 if wire == FIXED64 else 4)
    if wire != OPEN_GROUP:
        raise MalformedError
    open_groups = 1
    while open_groups:
        inner, pos = read_varint(data, pos)
        if inner & 7 == BYTES:
            size, pos = read_varint(data, pos)
            pos += size
        elif inner & 7 == CLOSE_GROUP:
            open_groups -= 1
        elif inner & 7 == OPEN_GROUP:
            open_groups += 1
        else:
            pos = _behind(data, pos, inner)
    return pos


@contextmanager
def bounded(r: "CarefulReader", size: int) -> Iterator[None]:
    """The next `size` bytes are all there is."""
    data, base, pos = r._data, r._base, r.pos
    r._data, r._base, r.pos = data[pos : pos + size], base + pos, 0
    yield
    r._data, r._base, r.pos = data, base, pos + size


@contextmanager
def _at(r: "CarefulReader", span: Span) -> Iterator[None]:
    """A part of the whole, wherever the reader is."""
    data, base, pos = r._data, r._base, r.pos
    r._data, r._base, r.pos = r._whole[span[0] : span[1]], span[0], 0
    yield
    r._data, r._base, r.pos = data, base, pos


# Doors from the other tiers


def read_embedded(r: "CarefulReader", shape: Composite) -> Any:
    """A message or graph behind its length."""
    with bounded(r, r._length(shortest=True)):
        return read_alone(r, shape)


def read_alone(r: "CarefulReader", shape: Composite) -> Any:
    """A message or graph, to the end."""
    if shape.tables:
        return _graph(r, shape)
    return _message(r, shape)


def read_custom(r: "CarefulReader", shape: s.Custom, size: int) -> Any:
    from mf.codec.custom import user_codec

    codec = user_codec(shape.module, shape.codec)
    at = r.pos
    r.charge(sizes.memory(shape) + size)
    data = r._take(size)
    try:
        made = codec.decode(data)
    except Exception as error:
        reason = f"the codec of {shape.name} refused it: {_said(error)}"
        raise r.fail(Fault.CUSTOM_CODEC_FAILED, reason, at) from None
    if made is None:
        reason = f"the codec of {shape.name} made None of it: its decode must return a value"
        raise r.fail(Fault.CUSTOM_CODEC_FAILED, reason, at)
    return made


def _said(error: Exception) -> str:
    text = str(error)[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# Graphs


def _graph(r: "CarefulReader", shape: Composite) -> Any:
    tables = list(shape.tables.items())
    spans, unknown = _objects_in(r, len(tables))
    if not next(iter(spans.values())):
        raise r.fail(Fault.INVALID_REFERENCE, f"a graph of {shape.name} without a root", len(r._data))
    outer, r._tables = (r._tables, r._reading), {}
    reading = r._reading = Reading()
    for number, (_, each) in enumerate(tables, 1):
        r.charge(len(spans[number]) * (64 + sizes.memory(each)))
        r._tables[each] = [_empty(r, each, span) for span in spans[number]]
    order = sorted((span, number, at) for number, own in spans.items() for at, span in enumerate(own))
    for span, number, at in order:
        name, each = tables[number - 1]
        r._path.field(name)
        r._path.item(at)
        with _at(r, span):
            _message(r, each, r._tables[each][at])
        r._path.back()
        r._path.back()
    root = r._tables[shape][0]
    _keep_loose(root, r._tables)
    reading.objects += r._tables.items()
    if unknown:
        reading.unknown = unknown
        root.__mf_reading__ = reading
    r._tables, r._reading = outer
    r.pos = len(r._data)
    return root


def _objects_in(r: "CarefulReader", count: int) -> tuple[dict[int, list[Span]], bytes]:
    """Where the objects of each table are, and the unknown fields; the reader is at the end then."""
    unknown = bytearray()
    spans: dict[int, list[Span]] = {number: [] for number in range(1, count + 1)}
    while r.pos < len(r._data):
        start = r.pos
        number, wire = _tag(r)
        if wire == CLOSE_GROUP:
            raise _not_open(r, number, start)
        if number not in spans:
            _skip(r, number, wire, start)
            r.charge(r.pos - start)
            unknown += r._data[start : r.pos]
            continue
        if wire != BYTES:
            raise r.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire} where a table of a graph has 2", start)
        size = r._length()
        spans[number].append((r._base + r.pos, r._base + r.pos + size))
        r.pos += size
    return spans, bytes(unknown)


def _empty(r: "CarefulReader", shape: Composite, span: Span) -> Any:
    """The object that a message will be read into; of a union, of the class that its last field says."""
    if isinstance(shape, s.Struct):
        return _new(shape.make)  # type: ignore[arg-type] # a class
    found: s.Alternative | None = None
    pos, end = span
    try:
        while pos < end:
            tag, pos = read_varint(r._whole, pos)
            found = next((each for each in shape.alternatives if each.number == tag >> 3), found)
            if tag & 7 == BYTES:
                size, pos = read_varint(r._whole, pos)
                pos += size
            else:
                pos = _behind(r._whole, pos, tag)
    except (MalformedError, IndexError):
        pass  # met again when it is read
    return None if found is None else _new(found.type)  # type: ignore[arg-type] # a class


def _keep_loose(root: Any, tables: dict[Composite, list[Any]]) -> None:
    """What nothing refers to stays with the root."""
    from mf.codec.graph_values import reachable

    shape = next(iter(tables))
    met = reachable(shape, root)
    loose = tuple((each.name, value) for each, own in tables.items() for value in own if id(value) not in met)
    if loose:
        root.__mf_loose__ = loose


# Messages


def _message(r: "CarefulReader", shape: Composite, target: Any = None) -> Any:
    """The reader's bytes are the message."""
    span = (r._base + r.pos, r._base + len(r._data))
    opened = _open(r, shape, [span])
    _read_part(r, opened, shape, is_charged=target is not None)
    return _finish(r, opened, shape, target)


def _open(r: "CarefulReader", shape: s.Shape, spans: list[Span]) -> _Open:
    """Of a struct or union, or the message around a container or optional."""
    match bare(shape):
        case s.Struct() as struct:
            places = []
            for each in struct.fields:
                place = _Place(each.number, each.name, each.shape)
                place.attribute, place.default = each.attribute, each.default
                places.append(place)
            return _Open(r._whole, sorted(places, key=lambda each: each.number), spans)
        case s.Union() as union:
            places = [_Place(each.number, each.name, each.shape, single=True) for each in union.alternatives]
            return _Open(r._whole, places, spans, is_union=True)
        case plain:
            return _Open(r._whole, [_Place(1, "", plain)], spans)


def _read_part(r: "CarefulReader", opened: _Open, shape: s.Shape, *, is_charged: bool = False) -> None:
    plain = bare(shape)
    declared = isinstance(plain, s.Struct | s.Union)
    if declared:
        r._enter()
        r.charge(0 if is_charged else sizes.memory(plain))
    _read_places(r, opened, keeps=isinstance(plain, s.Struct))
    if declared:
        r._depth -= 1


def _read_places(r: "CarefulReader", opened: _Open, *, keeps: bool = False) -> None:
    while r.pos < len(r._data):
        start = r.pos
        number, wire = _tag(r)
        if wire == CLOSE_GROUP:
            raise _not_open(r, number, start)
        opened.any = True
        place = opened.places.get(number)
        if place is None:
            _skip(r, number, wire, start)
            if keeps:
                r.charge(r.pos - start)
                opened.unknown += r._data[start : r.pos]
            continue
        if opened.is_union and number not in opened.values and number not in opened.inner:
            opened.values.clear()
            opened.inner.clear()
            opened.made.clear()
        if place.name:
            r._path.field(place.name)
        _read_place(r, opened, place, wire, start)
        if place.name:
            r._path.back()
    opened.end = r._base + r.pos


def _read_place(r: "CarefulReader", opened: _Open, place: _Place, wire: int, tag: int) -> None:
    match place.form:
        case 1:
            assert isinstance(place.shape, s.List | s.Set | s.Array)
            r._enter()
            _read_repeated(r, place.shape.element, wire, opened.values.setdefault(place.number, []), tag)
            r._depth -= 1
        case 2:
            assert isinstance(place.shape, s.Map)
            r._enter()
            _read_entry(r, place.shape, wire, opened.values.setdefault(place.number, []), tag)
            r._depth -= 1
        case _:
            _check_wire(r, place.shape, wire, tag)
            if is_message(place.shape):
                _read_inner(r, opened, place)
            else:
                opened.values[place.number] = _read_one(r, place.shape)


def _read_inner(r: "CarefulReader", opened: _Open, place: _Place) -> None:
    """A part of a message; it is finished with the last one."""
    behind_tag = r._base + r.pos
    size = r._length()
    start = r._base + r.pos
    spans = opened.spans.get(place.number, [])
    last = opened.last if opened.is_union else spans[-1][0] if spans else 0
    inner = opened.inner.get(place.number)
    if inner is None:
        inner = opened.inner[place.number] = _open(r, place.shape, spans or [(start, start + size)])
    with bounded(r, size):
        _read_part(r, inner, place.shape)
        opened.made.pop(place.number, None)
        if (behind_tag if opened.is_union else start) >= last:
            opened.made[place.number] = _finish(r, inner, place.shape)


def _read_one(r: "CarefulReader", shape: s.Shape) -> Any:
    """One value behind its tag."""
    if isinstance(shape, s.Checked):
        at = r.pos
        return r._checked(shape.rules, _read_one(r, shape.shape), at)
    if is_message(shape):
        with bounded(r, r._length()):
            opened = _open(r, shape, [(r._base, r._base + len(r._data))])
            _read_part(r, opened, shape)
            return _finish(r, opened, shape)
    if integer_of(shape) is not None:
        return _integer(r, shape)
    match shape:
        case s.Scalar(name="bool"):
            at = r.pos
            number = r._unsigned(U64_MAX, shortest=False)
            if number > 1:
                raise r.fail(Fault.INVALID_BOOL, f"bool {number} is neither 0 nor 1", at)
            return number == 1
        case s.Scalar(name="string" | "bytes"):
            return _blob(r, shape.name)
        case s.Scalar(name="uuid"):
            at = r.pos
            size = r._length()
            if size != 16:
                raise r.fail(Fault.WRONG_LENGTH, f"a uuid has 16 bytes, not {size}", at)
            return uuid.UUID(bytes=r._take(16))
        case s.Scalar():
            code = sizes.MEMCPY_CODES[shape.name]
            (value,) = struct.unpack(f"<{code}", r._take(struct.calcsize(f"<{code}")))
            return r._timed(shape.name, value)
        case s.Ref(element=element):
            return _reference(r, element)
        case s.Custom():
            return read_custom(r, shape, r._length())
        case _:
            return _foreign(r, shape)


def _integer(r: "CarefulReader", shape: s.Shape) -> Any:
    name = integer_of(shape)
    assert name is not None
    at = r.pos
    number = r._unsigned(U64_MAX, shortest=False)
    if is_zigzag(shape):
        number = unzigzag(number)
    elif name[0] == "i" and number >> 63:
        number -= 1 << 64
    low, high = limits_of(name)
    if not low <= number <= high:
        raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"{number} does not fit in {name}", at)
    if isinstance(shape, s.Enum):
        return r._member(shape, number, at)
    assert isinstance(shape, s.Scalar)
    return r._timed(shape.name, number)


def _blob(r: "CarefulReader", name: str) -> Any:
    size = r._length()
    r.charge(64 + size)
    at, blob = r.pos, r._take(size)
    if name == "bytes":
        return blob
    try:
        return blob.decode()
    except UnicodeDecodeError as error:
        raise r.fail(Fault.INVALID_UTF8, "text is not UTF-8", at + error.start) from None


def _reference(r: "CarefulReader", element: s.Shape) -> Any:
    at = r.pos
    number = r._unsigned(U64_MAX, shortest=False)
    if number > U32_MAX:
        raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"an index of {number} does not fit in u32", at)
    return _object(r, element, number, at)


def _object(r: "CarefulReader", element: s.Shape, number: int, at: int) -> Any:
    assert isinstance(element, s.Struct | s.Union)
    objects = r._tables.get(element, [])
    if number >= len(objects):
        reason = f"{number} is behind the end of the table of {element.name}, which has {len(objects)}"
        raise r.fail(Fault.INVALID_REFERENCE, reason, at)
    return objects[number]


def _foreign(r: "CarefulReader", shape: s.Shape) -> Any:
    """A value of another tier, which fills its bytes."""
    at = r.pos
    size = r._length()
    if isinstance(shape, s.Struct) and shape.memcpy and size != shape.layout[0]:
        reason = f"{shape.name} has {shape.layout[0]} bytes, not {size}"
        raise r.fail(Fault.WRONG_LENGTH, reason, at)
    outer, r._tables, r._reading = (r._tables, r._reading), {}, None
    with bounded(r, size):
        value = r.read(shape)
        r.finish()
    r._tables, r._reading = outer
    return value


def _read_repeated(r: "CarefulReader", element: s.Shape, wire: int, values: list[Any], tag: int) -> None:
    if wire == BYTES and wire_of(element) != BYTES:
        with bounded(r, r._length()):
            while r.pos < len(r._data):
                _read_element(r, element, values)
        return
    r._path.item(len(values))
    _check_wire(r, element, wire, tag)
    r._path.back()
    _read_element(r, element, values)


def _read_element(r: "CarefulReader", element: s.Shape, values: list[Any]) -> None:
    r.charge(8 + _uncharged(element))
    r._path.item(len(values))
    values.append(_read_one(r, element))
    r._path.back()


def _uncharged(shape: s.Shape) -> int:
    """The memory of what is not charged for when it is read itself."""
    match bare(shape):
        case s.Struct() | s.Union() | s.Custom() | s.Scalar(name="string" | "bytes"):
            return 0
        case plain:
            return sizes.memory(plain)


def _read_entry(r: "CarefulReader", shape: s.Map, wire: int, entries: list[Any], tag: int) -> None:
    r._path.item(len(entries))
    if wire != BYTES:
        raise r.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire} where an entry of a map has 2", tag)
    r.charge(_NODE + (0 if entries else sizes.FIRST_ENTRY) + _uncharged(shape.key) + _uncharged(shape.value))
    places = [_Place(1, "", shape.key, single=True), _Place(2, "", shape.value, single=True)]
    with bounded(r, r._length()):
        entry = _Open(r._whole, places, [(r._base, r._base + len(r._data))])
        _read_places(r, entry)
        key, value = (_there(r, entry, each) for each in places)
    entries.append((key, value))
    r._path.back()


def _there(r: "CarefulReader", entry: _Open, place: _Place) -> Any:
    """The key or value of an entry; its zero if it is not there."""
    if place.number in entry.made:
        return entry.made[place.number]
    if place.number in entry.values:
        return entry.values[place.number]
    match bare(place.shape):
        case shape if is_message(shape):
            return _finish(r, _open(r, shape, [(entry.end, entry.end)]), shape)
        case s.Enum() as shape:
            return r._member(shape, 0, r.pos)
        case s.Ref(element=element):
            return _object(r, element, 0, r.pos)
        case shape:
            return zero(shape)


def zero(shape: s.Shape) -> Any:
    """What a field that has no default of its own starts with; of scalars and values of other tiers."""
    match shape:
        case s.Scalar(name="bool"):
            return False
        case s.Scalar(name="f32" | "f64"):
            return 0.0
        case s.Scalar(name="string"):
            return ""
        case s.Scalar(name="bytes"):
            return b""
        case s.Scalar(name="uuid"):
            return uuid.UUID(int=0)
        case s.Scalar(name="timestamp" | "duration"):
            from mf.codec.times import Duration, Timestamp

            return Timestamp(0) if shape.name == "timestamp" else Duration(0)
        case s.Struct():
            return shape.make()
        case s.Union():
            first = shape.alternatives[0]
            return first.type(_start(first.shape))
        case s.Custom():
            from mf.codec.custom import custom_value

            return custom_value(shape.module, shape.codec)
        case _:
            return 0


def _start(shape: s.Shape) -> Any:
    """The same of any type."""
    match bare(shape):
        case s.Enum(values=values):
            return values[0] if 0 in values else next(iter(values.values()))
        case s.List():
            return []
        case s.Set():
            return set()
        case s.Map():
            return {}
        case s.Array(element=element, length=length):
            return [_start(element) for _ in range(length)]
        case plain:
            return zero(plain)


def _finish(r: "CarefulReader", opened: _Open, shape: s.Shape, target: Any = None) -> Any:
    """The value, when nothing of the message can follow."""
    match bare(shape):
        case s.Union() as union:
            return _finish_union(r, opened, union, target)
        case s.Struct() as struct:
            value = _new(struct.make) if target is None else target  # type: ignore[arg-type] # a class
            for place in opened.places.values():
                r._path.field(place.name)
                setattr(value, place.attribute, _finish_place(r, opened, place))
                r._path.back()
            unknown = bytes(opened.unknown)
            r.charge(200 if unknown and r._reading else 0)
            value.__mf_unknown__ = r._reading.kept(unknown) if unknown and r._reading else unknown
            return value
        case _:
            return _finish_place(r, opened, opened.places[1])


def _finish_union(r: "CarefulReader", opened: _Open, union: s.Union, target: Any) -> Any:
    for each in union.alternatives:
        found = opened.made.get(each.number, opened.values.get(each.number, opened))
        if each.number in opened.made or each.number in opened.values:
            if target is None:
                return each.type(found)
            target.value = found
            return target
        if each.number in opened.inner:  # the last part was of another alternative, and did not count
            r._path.field(each.name)
            made = _finish(r, opened.inner[each.number], each.shape)
            r._path.back()
            return each.type(made)
    fault = Fault.UNKNOWN_ALTERNATIVE if opened.any else Fault.MISSING_FIELD
    raise r.fail(fault, f"no alternative of {union.name} is there", opened.end - r._base)


def _finish_place(r: "CarefulReader", opened: _Open, place: _Place) -> Any:
    end = opened.end - r._base
    found = opened.values.get(place.number)
    if place.form == _SINGLE:
        if place.number in opened.made:
            return opened.made[place.number]
        if place.number in opened.inner:
            return _finish(r, opened.inner[place.number], place.shape)
        if place.number in opened.values:
            return found
        if place.optional:
            return None
    elif not isinstance(place.shape, s.Array) or found is not None or place.shape.length == 0:
        return r._checked(place.rules, _container(r, place.shape, found or [], end), end)
    if place.default is not None:
        return place.default()
    raise r.fail(Fault.MISSING_FIELD, "it is missing", end)


def _container(r: "CarefulReader", shape: s.Shape, found: list[Any], end: int) -> Any:
    match shape:
        case s.Set():
            return set(found)
        case s.Map():
            return dict(found)
        case s.Array(length=length) if len(found) != length:
            reason = f"expected exactly {length} elements, got {len(found)}"
            raise r.fail(Fault.WRONG_LENGTH, reason, end)
        case _:
            return found


# Tags


def _tag(r: "CarefulReader") -> tuple[int, int]:
    start = r.pos
    tag = r._unsigned(U64_MAX, shortest=False)
    number, wire = tag >> 3, tag & 7
    if not 1 <= number <= LARGEST_NUMBER:
        raise r.fail(Fault.MALFORMED_TAG, f"{number} is no field number", start)
    if wire > FIXED32:
        raise r.fail(Fault.MALFORMED_TAG, f"protobuf has no wire type {wire}", start)
    return number, wire


def _check_wire(r: "CarefulReader", shape: s.Shape, wire: int, tag: int) -> None:
    wanted = BYTES if is_wrapped(shape) else wire_of(shape)
    if wire != wanted:
        raise r.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire} where {wanted} is expected", tag)


def _skip(r: "CarefulReader", number: int, wire: int, tag: int) -> None:
    """The value of an unknown field; a group with all that is in it."""
    if wire != OPEN_GROUP:
        _skip_one(r, number, wire, tag)
        return
    groups = [(number, tag)]
    r._enter()
    while groups:
        if r.pos >= len(r._data):
            raise r.fail(Fault.MALFORMED_TAG, f"group {groups[-1][0]} is not closed", groups[-1][1])
        start = r.pos
        number, wire = _tag(r)
        if wire == OPEN_GROUP:
            r._enter()
            groups.append((number, start))
        elif wire == CLOSE_GROUP and number == groups[-1][0]:
            r._depth -= 1
            groups.pop()
        else:
            _skip_one(r, number, wire, start)


def _not_open(r: "CarefulReader", number: int, tag: int) -> "CarefulError":
    return r.fail(Fault.MALFORMED_TAG, f"group {number} is closed, but not open", tag)


def _skip_one(r: "CarefulReader", number: int, wire: int, tag: int) -> None:
    match wire:
        case 4:
            raise _not_open(r, number, tag)
        case 2:
            r._take(r._length())
        case 0:
            r._unsigned(U64_MAX, shortest=False)
        case _:
            r._take(4 if wire == FIXED32 else 8)
