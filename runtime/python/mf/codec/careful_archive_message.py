"""R1. The careful reader's messages of tier archive: all that protobuf allows, one field at a time.

    message(r, shape)             the reader's bytes are the message
    message(r, shape, target)     the same, into an object of a graph

Functions on the `CarefulReader`: path, depth and budget are one for all tiers. `bounded` cuts what is read to
a part of the bytes; offsets stay those of the whole.
"""

import struct
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import bare, integer_of, is_message, is_zigzag, limits_of, wire_of
from mf.codec.archive_runs import Runs, packed_in, runs_of
from mf.codec.archive_wire import BYTES, CLOSE_GROUP
from mf.codec.careful_archive_finish import finish, object_at, there
from mf.codec.careful_archive_open import Form, Open, Place, open_message
from mf.codec.careful_archive_tags import check_wire, not_open, read_tag, skip
from mf.codec.fault import Fault
from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.varint import unzigzag

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader

Composite = s.Struct | s.Union


@contextmanager
def bounded(r: "CarefulReader", size: int) -> Iterator[None]:
    """The next `size` bytes are all there is."""
    data, base, pos = r._data, r._base, r.pos
    r._data, r._base, r.pos = data[pos : pos + size], base + pos, 0
    yield
    r._data, r._base, r.pos = data, base, pos + size


def message(r: "CarefulReader", shape: Composite, target: Any = None) -> Any:
    """The reader's bytes are the message."""
    span = (r._base + r.pos, r._base + len(r._data))
    opened = open_message(r, shape, [span])
    _read_part(r, opened, shape, is_charged=target is not None)
    return finish(r, opened, shape, target)


def _read_part(r: "CarefulReader", opened: Open, shape: s.Shape, *, is_charged: bool = False) -> None:
    plain = bare(shape)
    declared = isinstance(plain, s.Struct | s.Union)
    if declared:
        r._enter()
        r.charge(0 if is_charged else sizes.memory(plain))
    _read_places(r, opened, keeps=isinstance(plain, s.Struct))
    if declared:
        r._depth -= 1


def _read_places(r: "CarefulReader", opened: Open, *, keeps: bool = False) -> None:
    while r.pos < len(r._data):
        start = r.pos
        number, wire = read_tag(r)
        if wire == CLOSE_GROUP:
            raise not_open(r, number, start)
        opened.any = True
        place = opened.places.get(number)
        if place is None:
            skip(r, number, wire, start)
            if keeps:
                r.charge(r.pos - start)
                opened.unknown += r._data[start : r.pos]
            continue
        if opened.is_union and number not in opened.values and number not in opened.inner:
            for of_another in (opened.values, opened.inner, opened.made, opened.wrong):
                of_another.clear()
        if place.name:
            r._path.field(place.name)
        outer, r._violation = r._violation, None
        _read_place(r, opened, place, wire, start)
        before = opened.wrong.get(place.number) if place.form == Form.REPEATED else None
        opened.wrong[place.number], r._violation = before or r._violation, outer
        if place.name:
            r._path.back()
    opened.end = r._base + r.pos


def _read_place(r: "CarefulReader", opened: Open, place: Place, wire: int, tag: int) -> None:
    match place.form:
        case Form.REPEATED:
            assert isinstance(place.shape, s.List | s.Set | s.Array)
            r._enter()
            _read_repeated(r, opened, place, place.shape.element, wire, tag)
            r._depth -= 1
        case Form.MAP:
            assert isinstance(place.shape, s.Map)
            r._enter()
            _read_entry(r, place.shape, wire, opened.values.setdefault(place.number, []), tag)
            r._depth -= 1
        case _:
            check_wire(r, place.shape, wire, tag)
            if is_message(place.shape):
                _read_inner(r, opened, place)
            else:
                opened.values[place.number] = _read_one(r, place.shape)


def _read_inner(r: "CarefulReader", opened: Open, place: Place) -> None:
    """A part of a message; it is finished with the last one."""
    behind_tag = r._base + r.pos
    size = r._length()
    start = r._base + r.pos
    spans = opened.spans.get(place.number, [])
    last = opened.last if opened.is_union else spans[-1][0] if spans else 0
    inner = opened.inner.get(place.number)
    if inner is None:
        inner = opened.inner[place.number] = open_message(r, place.shape, spans or [(start, start + size)])
    with bounded(r, size):
        _read_part(r, inner, place.shape)
        opened.made.pop(place.number, None)
        if (behind_tag if opened.is_union else start) >= last:
            opened.made[place.number] = finish(r, inner, place.shape)


def _read_one(r: "CarefulReader", shape: s.Shape) -> Any:
    """One value behind its tag."""
    if isinstance(shape, s.Checked):
        at = r.pos
        return r._checked(shape.rules, _read_one(r, shape.shape), at)
    if is_message(shape):
        with bounded(r, r._length()):
            opened = open_message(r, shape, [(r._base, r._base + len(r._data))])
            _read_part(r, opened, shape)
            return finish(r, opened, shape)
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
            return r._custom(shape, r._length())
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
    return object_at(r, element, number, at)


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


def _read_repeated(
    r: "CarefulReader", opened: Open, place: Place, element: s.Shape, wire: int, tag: int
) -> None:
    """Numbers are charged for ahead: millions of them, read one by one, would take minutes to refuse."""
    values = opened.values.setdefault(place.number, [])
    memory = 8 + _uncharged(element)
    if wire == BYTES and wire_of(element) != BYTES:
        with bounded(r, r._length()):
            r.charge(packed_in(r._data, wire_of(element)) * memory)
            while r.pos < len(r._data):
                _read_element(r, element, values)
        return
    r._path.item(len(values))
    check_wire(r, element, wire, tag)
    r._path.back()
    if wire == BYTES:
        r.charge(memory)
    elif r._base + tag >= opened.charged:
        opened.charged = r._base + _charge_run(r, runs_of(place.number, wire), memory, tag)
    _read_element(r, element, values)


def _charge_run(r: "CarefulReader", runs: Runs, memory: int, tag: int) -> int:
    """For the numbers that follow each other from `tag` on. Returns where the run ends."""
    pos, stop = tag, runs.stop(r._data, tag, len(r._data))
    if stop == tag:  # the tag is longer than needed, or the number wrong
        r.charge(memory)
    while stop > pos:
        r.charge(runs.count(r._data, pos, stop) * memory)
        pos, stop = stop, runs.stop(r._data, stop, len(r._data))
    return stop


def _read_element(r: "CarefulReader", element: s.Shape, values: list[Any]) -> None:
    """Which has been charged for."""
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
    begin = r._base + r.pos
    r.charge(
        sizes.ENTRY + (0 if entries else sizes.FIRST_ENTRY) + _uncharged(shape.key) + _uncharged(shape.value)
    )
    places = [Place(1, "", shape.key, single=True), Place(2, "", shape.value, single=True)]
    with bounded(r, r._length()):
        entry = Open(r._whole, places, [(r._base, r._base + len(r._data))])
        _read_places(r, entry)
        key, value = (there(r, entry, each, begin - r._base) for each in places)
    entries.append((key, value, r._violation))
    r._violation = None  # another entry of its key may follow
    r._path.back()
