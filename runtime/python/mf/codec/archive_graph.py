"""R1. Functions that read graphs (docs/protocol.md, section 8): the tables of a message first, then each
object where its bytes stand. So nothing recurses, however long a chain of references is; what nothing refers
to at the end stays with the root.
"""

from collections.abc import Callable
from typing import Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_wire import BYTES, CLOSE_GROUP, Span, read_tag, skip
from mf.codec.composed import Of
from mf.codec.failure import CodecError, item_step
from mf.codec.fault import Fault
from mf.codec.graph_unknown import Reading
from mf.codec.graph_walk import keep_loose
from mf.codec.limits import U64_MAX
from mf.codec.reader import Reader

Composite = s.Struct | s.Union
_new: Final = object.__new__


def graph_read(shape: Composite, of: Of) -> Callable[[Reader], Any]:
    """The bytes up to `r.end` are the graph."""
    tables = list(shape.tables.items())

    def read(r: Reader) -> Any:
        messages = [of(each).message for _, each in tables]
        spans, unknown = _objects_in(r, len(tables))
        if not spans[0]:
            raise r.fail(Fault.INVALID_REFERENCE, f"a graph of {shape.name} without a root", r.end)
        outer, end = (r.tables, r.reading), r.end
        reading = r.reading = Reading()
        r.tables = {}
        for (_, each), own in zip(tables, spans, strict=True):
            r.charge(len(own) * (64 + sizes.memory(each)))
            r.tables[each] = [_empty(r, each, span) for span in own]
        order = sorted((span, table, at) for table, own in enumerate(spans) for at, span in enumerate(own))
        for span, table, at in order:
            name, each = tables[table]
            r.pos, r.end = span
            if r.tables[each][at] is not None:
                r.budget += sizes.memory(each)  # which reading it charges once more
            try:
                messages[table].read(r, r.tables[each][at])
            except CodecError as failure:
                failure.steps.append(item_step(at))
                failure.in_field(name)
                raise
        root = r.tables[shape][0]
        keep_loose(shape, root, r.tables)
        reading.objects += r.tables.items()
        if unknown:
            reading.unknown = unknown
            root.__mf_reading__ = reading
        r.tables, r.reading = outer
        r.pos = r.end = end
        return root

    return read


def _objects_in(r: Reader, count: int) -> tuple[list[list[Span]], bytes]:
    """Where the objects of each table are, and the unknown fields; the reader is at the end then."""
    unknown = bytearray()
    spans: list[list[Span]] = [[] for _ in range(count)]
    while r.pos < r.end:
        start = r.pos
        number, wire = read_tag(r)
        if number > count or wire == CLOSE_GROUP:
            skip(r, number, wire, start)
            r.charge(r.pos - start)
            unknown += r.data[start : r.pos]
            continue
        if wire != BYTES:
            reason = f"wire type {wire} where a table of a graph has 2"
            raise r.fail(Fault.WRONG_WIRE_TYPE, reason, start)
        size = r.padded_length()
        spans[number - 1].append((r.pos, r.pos + size))
        r.pos += size
    return spans, bytes(unknown)


def _empty(r: Reader, shape: Composite, span: Span) -> Any:
    """The object that a message will be read into; of a union, of the class that its last field says."""
    if isinstance(shape, s.Struct):
        return _new(shape.type)
    found: s.Alternative | None = None
    ahead = Reader(r.data, 0, span[0])
    ahead.end = span[1]
    try:
        while ahead.pos < ahead.end:
            tag = ahead.unsigned(U64_MAX, shortest=False)
            found = next((each for each in shape.alternatives if each.number == tag >> 3), found)
            skip(ahead, tag >> 3, tag & 7, ahead.pos)
    except (CodecError, KeyError):  # of a wire type that is none
        pass  # found again when it is read
    return None if found is None else _new(found.type)  # type: ignore[arg-type] # a class
