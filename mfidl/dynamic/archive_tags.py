"""F6. Tags of proto2, and fields that the schema does not know."""

from collections.abc import Mapping

from mf.codec.fault import Fault
from mfidl.dynamic.archive_form import Wire
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.errors import DecodeError

_LARGEST = (1 << 29) - 1
_SHAPES = {
    Wire.VARINT: "varint",
    Wire.FIXED64: "8 bytes",
    Wire.BYTES: "length and bytes",
    Wire.OPEN: "group",
    Wire.CLOSE: "end of group",
    Wire.FIXED32: "4 bytes",
}


def read_tag(at: Decoding, names: Mapping[int, str]) -> tuple[int, Wire]:
    """`names`: those of the known fields, for the listener."""
    start = at.pos
    tag = at.varint(64, shortest=False)
    number, wire = tag >> 3, tag & 7
    if not 1 <= number <= _LARGEST:
        raise at.fail(Fault.MALFORMED_TAG, f"{number} is no field number", start)
    if wire > Wire.FIXED32.value:
        raise at.fail(Fault.MALFORMED_TAG, f"protobuf has no wire type {wire}", start)
    kind = Wire(wire)
    if at.listener is not None:
        known = "field" if number in names else "unknown field"
        name = f" `{names[number]}`" if names.get(number) else ""
        at.note(start, f"tag: {known} {number}{name}, {_SHAPES[kind]}", None, tag)
    return number, kind


def read_field_tag(at: Decoding, names: Mapping[int, str]) -> tuple[int, Wire]:
    """The same if no group is open, so that none can end, whatever its number."""
    start = at.pos
    number, wire = read_tag(at, names)
    if wire is Wire.CLOSE:
        raise _not_open(at, number, start)
    return number, wire


def _not_open(at: Decoding, number: int, tag: int) -> DecodeError:
    return at.fail(Fault.MALFORMED_TAG, f"group {number} is closed, but not open", tag)


def skip(at: Decoding, number: int, wire: Wire, tag: int) -> None:
    """The value of an unknown field whose tag began at `tag`; a group with all that is in it."""
    groups = [(number, tag)] if wire is Wire.OPEN else []
    if wire is Wire.OPEN:
        at.enter()
    else:
        _skip_one(at, number, wire, tag)
    while groups:
        if at.pos >= at.end:
            raise at.fail(Fault.MALFORMED_TAG, f"group {groups[-1][0]} is not closed", groups[-1][1])
        start = at.pos
        inner, kind = read_tag(at, {})
        if kind is Wire.OPEN:
            at.enter()
            groups.append((inner, start))
        elif kind is Wire.CLOSE and inner == groups[-1][0]:
            at.leave()
            groups.pop()
        else:
            _skip_one(at, inner, kind, start)


def _skip_one(at: Decoding, number: int, wire: Wire, tag: int) -> None:
    match wire:
        case Wire.CLOSE:
            raise _not_open(at, number, tag)
        case Wire.BYTES:
            size = at.length(shortest=False)
            start = at.pos
            at.note_bytes(start, "unknown bytes", at.take(size))
        case Wire.VARINT:
            start = at.pos
            value = at.varint(64, shortest=False)
            at.note(start, "unknown value", None, value)
        case _:
            start = at.pos
            at.note_bytes(start, "unknown value", at.take(4 if wire is Wire.FIXED32 else 8))
