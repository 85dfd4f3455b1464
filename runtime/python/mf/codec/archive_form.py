"""R1. How values are represented in archive messages (docs/proto.md).

A message is that of a struct or union, of an entry of a map (key 1, value 2), or the one around a container
or optional inside of another (value 1).
"""

from mf.codec import shape as s
from mf.codec.archive_wire import BYTES, FIXED32, FIXED64, VARINT
from mf.codec.contents import bare

_WIRES = {
    "f32": FIXED32,
    "f64": FIXED64,
    "timestamp": FIXED64,
    "string": BYTES,
    "bytes": BYTES,
    "uuid": BYTES,
}


def wire_of(shape: s.Shape) -> int:
    """The wire type of one value."""
    match bare(shape):
        case s.Scalar(coding="fixed") as plain:
            return FIXED32 if plain.bits == 32 else FIXED64
        case s.Scalar(name=name):
            return _WIRES.get(name, VARINT)
        case s.Enum() | s.Ref():
            return VARINT
        case _:
            return BYTES


def is_wrapped(shape: s.Shape) -> bool:
    """Whether one value needs a message around it."""
    return isinstance(bare(shape), s.List | s.Set | s.Array | s.Map | s.Optional)


def is_message(shape: s.Shape) -> bool:
    """Whether a value is a message, parts of which may come one after the other."""
    plain = bare(shape)
    return is_wrapped(plain) or (isinstance(plain, s.Struct | s.Union) and plain.archive)


def refers(shape: s.Shape) -> bool:
    """Whether a value holds references of the graph that it is in."""
    match bare(shape):
        case s.Ref():
            return True
        case s.Optional(element=element) | s.List(element=element) | s.Array(element=element):
            return refers(element)
        case s.Map(value=element):
            return refers(element)
        case s.Struct() | s.Union() as plain:
            return bool(plain.tables)
        case _:
            return False


def integer_of(shape: s.Shape) -> str | None:
    """The scalar that a varint is; of an enum its base."""
    match bare(shape):
        case s.Enum(base=base):
            return base.name
        case s.Scalar(name="duration"):
            return "i64"
        case s.Scalar(name=name, coding=coding) if (
            coding != "fixed" and name[1:].isdigit() and name[0] in "iu"
        ):
            return name
        case _:
            return None


def is_zigzag(shape: s.Shape) -> bool:
    plain = bare(shape)
    if not isinstance(plain, s.Scalar) or plain.coding:
        return False
    return plain.name == "duration" or plain.name[0] == "i"
