"""R2. The byte layout of frames: the only place that has it (docs/protocol.md, section 1).

frame     := header [extension] payload padding
header    := size:u32 type:u8 flags:u8 route:u16 id:u32 word:u16 count:u16     little-endian, 16 bytes
word      := deadline in REQUEST; status in REPLY, BOUND, REFUSE, GOAWAY; else 0
extension := count:u32 0:u32               only if count is 0xffff; part of size
padding   := zeros up to a multiple of 8   not part of size
"""

from functools import lru_cache
from math import ceil
from struct import Struct

from mf.core.gathered import Gathered

Buffer = bytes | bytearray | memoryview

HELLO, REFUSE, BIND, BOUND, REQUEST, REPLY = 1, 2, 3, 4, 5, 6
CANCEL, PING, PONG, GOAWAY, DESCRIBE, DESCRIPTOR = 7, 8, 9, 10, 11, 12
DATA, CREDIT, END, UNBIND = 13, 14, 15, 16
LAST_TYPE = UNBIND
FIRST_SKIPPABLE = 128
"""Receivers skip frames of unknown types from this number on."""

TYPE_NAMES = (
    "?", "HELLO", "REFUSE", "BIND", "BOUND", "REQUEST", "REPLY",
    "CANCEL", "PING", "PONG", "GOAWAY", "DESCRIBE", "DESCRIPTOR",
    "DATA", "CREDIT", "END", "UNBIND",
)  # fmt: skip

ENCODING_MASK = 0x0F
BULK = 0x10
ONEWAY = 0x20
METADATA = 0x40
STREAM = 0x80

HEADER_SIZE = 16
EXTENSION_SIZE = 8
EXTENDED_COUNT = 0xFFFF
CONTROL_LIMIT = 32 * 1024
DATA_LIMIT = 64 * 1024
"""The largest payload of one DATA."""
SMALLEST_MAX_PAYLOAD = 4096

HEADER = Struct("<IBBHIHH")
EXTENSION = Struct("<II")
PADDING = tuple(bytes(-length % 8) for length in range(8))
"""PADDING[size % 8] pads a frame of that size."""

_pack_header = HEADER.pack

# Copying smaller parts into one buffer is cheaper than another entry of a gather list.
_JOIN_BELOW = 16 * 1024


def is_behind(id_: int, other: int) -> bool:
    """Whether one request id was assigned after the other; ids count up and wrap."""
    return 0 < (id_ - other) & 0xFFFFFFFF < 0x80000000


def frame_cost(length: int) -> int:
    """The bytes of a DATA with a payload of `length` bytes on a connection."""
    return (HEADER_SIZE + length + 7) & ~7


def pack(
    type_: int,
    payload: Buffer = b"",
    *,
    flags: int = 0,
    route: int = 0,
    id_: int = 0,
    word: int = 0,
    count: int = 0,
) -> bytes:
    """One whole frame in one buffer. For control frames and tests; requests and replies use pack_into."""
    out: list[Buffer] = []
    pack_into(out, type_, flags, route, id_, word, count, payload)
    return b"".join(out)


def pack_into(
    out: list[Buffer],
    type_: int,
    flags: int,
    route: int,
    id_: int,
    word: int,
    count: int,
    payload: Buffer,
) -> int:
    """Appends one frame to a gather list; large payloads are not copied. Returns the bytes appended."""
    if count < EXTENDED_COUNT:
        size = HEADER_SIZE + len(payload)
        header = _pack_header(size, type_, flags, route, id_, word, count)
    else:
        size = HEADER_SIZE + EXTENSION_SIZE + len(payload)
        header = _pack_header(size, type_, flags, route, id_, word, EXTENDED_COUNT)
        header += EXTENSION.pack(count, 0)
    padding = PADDING[size & 7]
    if type(payload) is Gathered:
        out.append(header + payload.head)
        out.append(payload.blob)
        if padding:
            out.append(padding)
    elif size < _JOIN_BELOW:
        out.append(header + payload + padding)
    else:
        out.append(header)
        out.append(payload)
        if padding:
            out.append(padding)
    return (size + 7) & ~7


@lru_cache(256)  # most calls have one of a few deadlines
def pack_deadline(seconds: float) -> int:
    """The time left as 11 bits of mantissa and 5 of exponent, in microseconds, rounded up. Infinite is 0."""
    if seconds > 4.5e6:
        return 0 if seconds == float("inf") else 0xFFFF
    micros = ceil(seconds * 1e6)
    if micros < 2048:
        return max(micros, 1)
    exponent = micros.bit_length() - 11
    mantissa = -(-micros >> exponent)
    if mantissa == 2048:
        mantissa = 1024
        exponent += 1
    return exponent << 11 | mantissa if exponent < 32 else 0xFFFF


def unpack_deadline(word: int) -> float:
    """Seconds; infinity for none."""
    return ((word & 0x7FF) << (word >> 11)) * 1e-6 if word else float("inf")
