"""R1. The attributes of a flexible message: names and values (docs/protocol.md, section 5c).

u32 varint      their number, at most 256
so many times   u8, 1 to 255, and so many bytes of UTF-8: the name; then its value; names ascend by bytes
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mf.codec.codec import Buffer, bytes_of
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.flex.declared import Described, Known
from mf.codec.flex.kinds import MAX_ATTRIBUTES, MAX_NAME, RESERVED, Tag
from mf.codec.flex.reader import NO_TYPES, ValueReader, explained
from mf.codec.flex.writer import Out, refuse, refused, write
from mf.codec.limits import DEFAULT_LIMITS, U32_MAX, Limits
from mf.codec.varint import write_unsigned

_MOST_NAMES: Final = 1024
_LARGE: Final = 4096  # bytes that are joined to the others, and not copied among them before
_BYTES: Final = int(Tag.BYTES)
_written: Final[dict[str, bytes]] = {}  # cache of sent names: name -> its length byte and UTF-8
_read: Final[dict[bytes, str]] = {}


def encode_attributes(attributes: Mapping[str, Any]) -> bytes:
    """Raises Error(INVALID_ARGUMENT) with the path of an unsupported value."""
    return encode_with_types(attributes).data


class Written(NamedTuple):
    """Attributes in bytes, and the declared types of which there are values, by fingerprint, as far as this
    process knows them or was told of them."""

    data: bytes
    types: Mapping[bytes, Known | Described]


def encode_with_types(attributes: Mapping[str, Any]) -> Written:
    """Raises Error as `encode_attributes` does."""
    count = len(attributes)
    if count > MAX_ATTRIBUTES:
        refuse(f"{count} attributes: a message has at most {MAX_ATTRIBUTES}")
    types: dict[bytes, Known | Described] = {}
    out: bytearray = Out(types)
    before: list[bytes | bytearray] = []
    write_unsigned(out, count, MAX_ATTRIBUTES)
    for name in sorted(attributes) if count > 1 else attributes:
        out += _written.get(name) or _write_name(name)
        value = attributes[name]
        if type(value) is bytes and _LARGE <= len(value) <= U32_MAX:
            out.append(_BYTES)
            write_unsigned(out, len(value), U32_MAX)
            before += (out, value)
            out = Out(types)
            continue
        try:
            write(out, value)
        except CodecError as failure:
            raise refused(failure, name) from None
    return Written(b"".join((*before, out)) if before else bytes(out), types)


def _write_name(name: str) -> bytes:
    """The encoded name with its length byte; a limited number of names are cached."""
    try:
        data = name.encode()
    except UnicodeEncodeError:
        refuse(f"{name!r} is no name: half of a surrogate pair does not travel")
    if not 1 <= len(data) <= MAX_NAME:
        refuse(f"the name of an attribute has 1 to {MAX_NAME} bytes, not {len(data)}")
    if name in RESERVED:
        refuse(f"{name!r} is no attribute of a program: the runtime sets it")
    written = bytes((len(data),)) + data
    if len(_written) < _MOST_NAMES:
        _written[name] = written
        _read[data] = name
    return written


def decode_attributes(
    data: Buffer, limits: Limits = DEFAULT_LIMITS, *, types: Mapping[bytes, Described] = NO_TYPES
) -> dict[str, Any]:
    """`types`: those that the sender has described, by fingerprint. Raises DecodeError."""
    reader = ValueReader(bytes_of(data), limits, types)
    try:
        count = reader.unsigned(U32_MAX)
        if count > MAX_ATTRIBUTES:
            text = f"{count:,} attributes: a message has at most {MAX_ATTRIBUTES}"
            raise reader.fault(Fault.COUNT_TOO_LARGE, text, 0)
        found: dict[str, Any] = {}
        before = b""
        for _ in range(count):
            name, before = _name(reader, before)
            try:
                found[name] = reader.value()
            except CodecError as failure:
                failure.steps.append(name)
                raise
        reader.finish()
    except CodecError as failure:
        raise explained(failure) from None
    return found


def _name(reader: ValueReader, before: bytes) -> tuple[str, bytes]:
    data, at = reader.data, reader.pos
    size = data[at] if at < len(data) else 0
    if not size or at + 1 + size > len(data):
        what = "an attribute without a name" if at < len(data) and not size else "the bytes end within a name"
        raise reader.fault(Fault.TRUNCATED if size or at >= len(data) else Fault.COUNT_TOO_LARGE, what, at)
    written = data[at + 1 : at + 1 + size]
    if written <= before:
        raise reader.fault(Fault.KEYS_NOT_ASCENDING, "names of attributes ascend", at)
    name = _read.get(written, "")
    if not name:
        try:
            name = written.decode()
        except UnicodeDecodeError:
            raise reader.fault(Fault.INVALID_UTF8, "a name that is no UTF-8", at) from None
        if name in RESERVED:
            raise reader.fault(Fault.UNKNOWN_ALTERNATIVE, f"{name!r} is no attribute of a program", at)
    reader.pos = at + 1 + size
    reader.charge(100)
    return name, written
