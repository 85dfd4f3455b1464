"""R1. The careful reader's graphs: the tables of a message first, then each object where its bytes stand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_wire import BYTES, CLOSE_GROUP, read_varint
from mf.codec.careful_archive_message import message
from mf.codec.careful_archive_open import Span
from mf.codec.careful_archive_tags import behind, not_open, read_tag, skip
from mf.codec.fault import Fault
from mf.codec.graph_unknown import Reading
from mf.codec.malformed import MalformedError

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader

Composite = s.Struct | s.Union
_new: Final = object.__new__


def graph(r: "CarefulReader", shape: Composite) -> Any:
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
            message(r, each, r._tables[each][at])
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
        number, wire = read_tag(r)
        if wire == CLOSE_GROUP:
            raise not_open(r, number, start)
        if number not in spans:
            skip(r, number, wire, start)
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
                pos = behind(r._whole, pos, tag)
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


@contextmanager
def _at(r: "CarefulReader", span: Span) -> Iterator[None]:
    """A part of the whole, wherever the reader is."""
    data, base, pos = r._data, r._base, r.pos
    r._data, r._base, r.pos = r._whole[span[0] : span[1]], span[0], 0
    yield
    r._data, r._base, r.pos = data, base, pos
