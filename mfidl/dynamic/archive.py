"""F6. Tier archive: proto2 messages, and graphs as tables of them. The entry point for the other tiers.

A graph is read twice: first the objects of each table are counted, so that every reference can be checked
immediately; then they are read in order.
"""

from typing import Any

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.archive_form import Wire
from mfidl.dynamic.archive_read import read_message
from mfidl.dynamic.archive_tags import read_field_tag, skip
from mfidl.dynamic.archive_write import write_message, write_tag
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.graph import ordered
from mfidl.dynamic.value import Graph, Value


def read(at: Decoding, type_: model.Named) -> Value:
    """A struct or union, to the end of the window; a Graph, if its values have references."""
    tables = at.schema.tables(type_.full_name)
    return _read_graph(at, type_, tables) if tables else read_message(at, type_)


def write(to: Encoding, type_: model.Named, value: Value) -> None:
    tables = to.schema.tables(type_.full_name)
    if not tables:
        write_message(to, type_, value)
        return
    graph = ordered(to.schema, type_.full_name, to.of(Graph, value, type_), str(to.path))
    for number, (full_name, name) in enumerate(tables.items(), 1):
        for index, each in enumerate(graph.tables[full_name]):
            to.path.steps += [name, index]
            write_tag(to, number, Wire.BYTES)
            held = _reference(to, full_name)
            to.sealed(lambda held=held, each=each: write_message(to, held, each))  # type: ignore[misc]
            del to.path.steps[-2:]
    to.data += to.of(bytes, graph.unknown, type_)


def _read_graph(at: Decoding, type_: model.Named, tables: dict[str, str]) -> Graph:
    names = dict(enumerate(tables.values(), 1))
    types = dict(enumerate(tables, 1))
    outer, at.tables = at.tables, _counted(at, type_.full_name, types, names)
    found: dict[str, list[Value]] = {full_name: [] for full_name in tables}
    unknown = bytearray()
    while at.pos < at.end:
        start = at.pos
        number, wire = read_field_tag(at, names)
        if number not in types:
            skip(at, number, wire, start)
            unknown += at.data[start : at.pos]
            at.charge(at.pos - start)
            continue
        objects = found[types[number]]
        at.path.steps += [names[number], len(objects)]
        at.charge(8)
        with at.window(at.length(shortest=False)):
            objects.append(read_message(at, _reference(at, types[number])))
        del at.path.steps[-2:]
    at.tables = outer
    return Graph(found, bytes(unknown))


def _counted(at: Decoding, root: str, types: dict[int, str], names: dict[int, str]) -> dict[str, int]:
    """Counts the objects of each table. A listener gets only faults here, since the bytes are read again
    otherwise."""
    start, listener = at.pos, at.listener
    heard: list[tuple[Any, ...]] = []
    at.listener = None if listener is None else lambda *note: heard.append(note)
    counts = dict.fromkeys(types.values(), 0)
    try:
        while at.pos < at.end:
            _count_one(at, types, names, counts)
        if not counts[root]:
            raise at.fail(Fault.INVALID_REFERENCE, f"a graph of {root} without a root", at.end)
    except DecodeError:
        for note in heard:
            assert listener is not None
            listener(*note)
        raise
    at.pos, at.listener = start, listener
    return counts


def _count_one(at: Decoding, types: dict[int, str], names: dict[int, str], counts: dict[str, int]) -> None:
    tag = at.pos
    number, wire = read_field_tag(at, names)
    if number not in types:
        skip(at, number, wire, tag)
        return
    if wire is not Wire.BYTES:
        raise at.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire.value} where a table of a graph has 2", tag)
    size = at.length(shortest=False)
    start = at.pos
    at.note_bytes(start, "object", at.take(size))
    counts[types[number]] += 1


def _reference(of: Decoding | Encoding, full_name: str) -> model.Named:
    declaration = of.schema.program.declaration(full_name)
    assert isinstance(declaration, model.Struct | model.Union)
    return declaration.reference
