"""R1. The functions of the types of tier archive, and of custom ones.

write_part, read_part, fill_part    messages: archive_write.py, archive_read.py
make_part                           an empty object for an alternative of a union, in a graph
write, read                         values inside of other tiers: messages or graphs behind their length
write_alone, read_alone             one value that is all there is
"""

from collections.abc import Callable
from typing import Any

from mf.codec import archive_wire, packed
from mf.codec import shape as s
from mf.codec.archive_form import wire_of
from mf.codec.archive_wire import custom_bytes, custom_made, tag_of, write_blob
from mf.codec.fast.archive_read import ArchiveReading
from mf.codec.fast.archive_write import ArchiveWriting
from mf.codec.fast.check import Checking
from mf.codec.fast.unit import Unit, indented
from mf.codec.graph import GraphFunctions
from mf.codec.graph_unknown import kept_fields
from mf.codec.limits import MAX_DEPTH
from mf.codec.malformed import MalformedError
from mf.codec.sequences import plain
from mf.codec.varint import read_u32, write_signed, write_unsigned

_HELPERS: dict[str, Any] = {
    name: each
    for module in (archive_wire, packed)
    for name, each in vars(module).items()
    if callable(each) and name[0] != "_"
} | {
    "items_of": plain,
    "kept_fields": kept_fields,
    "write_signed": write_signed,
    "write_unsigned": write_unsigned,
}


def archive_text(shape: s.Struct | s.Union, unit: Unit, checked: set[Any], height: int) -> str:
    """`height`: levels below a value, but for what counts its own."""
    unit.globals.update(_HELPERS)
    limit = [f"if depth > {MAX_DEPTH - height}:", "    raise MalformedError"] if unit.is_deep(shape) else []
    lines = [
        'def write_part(out, values, depth=1, tag=b"", graph=None):',
        *indented([*limit, *ArchiveWriting(unit).body(shape)]),
        *(_union(shape, unit, limit) if isinstance(shape, s.Union) else _struct(shape, unit, limit)),
    ]
    if not shape.tables:
        deeper = ", depth=1" if unit.is_deep(shape) else ""
        passed = ", depth" if unit.is_deep(shape) else ""
        lines += [
            f"def write(out, values{deeper}):",
            f"    write_part(out, values{passed})",
            f"def read(data, pos, count{deeper}):",
            *indented(_read(passed)),
        ]
    if shape in checked:
        body = Checking(unit, checked).body(shape)
        lines += ["def check_written(value):", *indented(body or ["pass"])]
    return "\n".join(lines) + "\n"


def _reading(unit: Unit) -> ArchiveReading:
    if not unit.lenient:
        return ArchiveReading(unit)
    from mf.codec.fast.archive_lenient import LenientReading

    return LenientReading(unit)


def _struct(shape: s.Struct, unit: Unit, limit: list[str]) -> list[str]:
    body = _reading(unit).struct(shape)
    make = f"value = new({unit.constant('make', shape.make)})"
    if not shape.tables:
        return [
            "def read_part(data, pos, end, depth=1, graph=None):",
            *indented([*limit, make, *body, "return value"]),
        ]
    return [
        "def fill_part(value, data, pos, end, depth, graph):",
        *indented([*limit, *body]),
        "def read_part(data, pos, end, depth, graph):",
        *indented([make, "fill_part(value, data, pos, end, depth, graph)", "return value"]),
    ]


def _union(shape: s.Union, unit: Unit, limit: list[str]) -> list[str]:
    lines = [
        "def read_part(data, pos, end, depth=1, graph=None):",
        *indented([*limit, *_reading(unit).union(shape), "return value"]),
    ]
    if shape.tables:
        lines += [
            "def fill_part(value, data, pos, end, depth, graph):",
            *indented([*limit, *_reading(unit).union(shape, "value.value = {1}")]),
            "def make_part(data, pos, end):",
            *indented(_make_part(shape, unit)),
        ]
    return lines


def _make_part(shape: s.Union, unit: Unit) -> list[str]:
    lines = []
    for each in shape.alternatives:
        tag = tag_of(each.number, wire_of(each.shape))
        kind = unit.constant("kind", each.type)
        lines += [f"if pos < end and data.startswith({tag!r}, pos):", f"    return new({kind})"]
    return [*lines, "raise MalformedError"]


def _read(passed: str) -> list[str]:
    return [
        "if count > len(data) - pos:",
        "    raise MalformedError",
        "values = []",
        "for _ in range(count):",
        "    size = data[pos]",
        "    pos += 1",
        "    if size > 127:",
        "        size, pos = read_u32(data, pos - 1)",
        "    end = pos + size",
        "    if end > len(data):",
        "        raise MalformedError",
        f"    values.append(read_part(data, pos, end{passed}))",
        "    pos = end",
        "return values, pos",
    ]


def complete(
    shape: s.Struct | s.Union, made: dict[str, Any], functions_of: Callable[[s.Composite], Any]
) -> None:
    """Adds what needs no text of its own to the functions of an archive type."""
    if shape.tables:
        graph = GraphFunctions(shape, functions_of)
        made |= {
            "write": graph.write,
            "read": graph.read,
            "write_alone": graph.write_alone,
            "read_alone": graph.read_alone,
        }
        return
    write_part, read_part = made["write_part"], made["read_part"]

    def write_alone(out: bytearray, values: Any) -> None:
        if len(values) != 1:
            raise MalformedError
        write_part(out, values)
        at = 1  # the length in front is not wanted
        while out[at - 1] > 127:
            at += 1
        del out[:at]

    def read_alone(data: bytes, pos: int, count: int) -> tuple[list[Any], int]:
        if count != 1:
            raise MalformedError
        return [read_part(data, pos, len(data))], len(data)

    made |= {"write_alone": write_alone, "read_alone": read_alone}


def custom_functions(shape: s.Custom) -> dict[str, Any]:
    def write(out: bytearray, values: Any) -> None:
        for value in values:
            write_blob(out, custom_bytes(shape, value))

    def read(data: bytes, pos: int, count: int) -> tuple[list[Any], int]:
        values = []
        for _ in range(count):
            size, pos = read_u32(data, pos) if data[pos] > 127 else (data[pos], pos + 1)
            if size > len(data) - pos:
                raise MalformedError
            values.append(custom_made(shape, data[pos : pos + size]))
            pos += size
        return values, pos

    def write_alone(out: bytearray, values: Any) -> None:
        if len(values) != 1:
            raise MalformedError
        out += custom_bytes(shape, values[0])

    def read_alone(data: bytes, pos: int, count: int) -> tuple[list[Any], int]:
        if count != 1:
            raise MalformedError
        return [custom_made(shape, data[pos:])], len(data)

    return {"write": write, "read": read, "write_alone": write_alone, "read_alone": read_alone}
