"""R2. Blocks of metadata: read and written here only (docs/protocol.md, section 4a).

block := size:u32 entry* padding     size: from itself to the end of the last entry, 4 to 16,384; at most 64
entry := length:u8 key length:u16 value          the key 1 to 64 of a-z 0-9 . _ -, once; the value UTF-8
padding := zeros to a multiple of 8
"""

from collections.abc import Mapping

from mf.core.error import Code, Error, not_executed
from mf.core.metadata import check_key
from mf.core.service import Payload
from mf.protocol.wire import U16, U32

MAX_BLOCK = 16 * 1024
MAX_ENTRIES = 64

_KEY_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789._-"
_LONGEST_KEY = 64


def pack_metadata(entries: Mapping[str, str]) -> bytes:
    """The block with its padding. Raises Error, NOT_EXECUTED: INVALID_ARGUMENT for an invalid key or value,
    MESSAGE_TOO_LARGE for more than a block holds.
    """
    parts: list[bytes] = []
    for key, value in entries.items():
        check_key(key)
        try:
            text = value.encode()
        except (UnicodeEncodeError, AttributeError):
            raise not_executed(Code.INVALID_ARGUMENT, f"metadata: the value of {key} is no text") from None
        if len(text) > MAX_BLOCK:
            raise _too_large(len(text))
        parts += (bytes((len(key),)), key.encode(), U16.pack(len(text)), text)
    if len(entries) > MAX_ENTRIES:
        words = f"the metadata has {len(entries):,} entries, at most {MAX_ENTRIES} may go"
        raise not_executed(Code.MESSAGE_TOO_LARGE, words)
    body = b"".join(parts)
    size = 4 + len(body)
    if size > MAX_BLOCK:
        raise _too_large(size)
    return U32.pack(size) + body + bytes(-size % 8)


def _too_large(size: int) -> Error:
    return not_executed(
        Code.MESSAGE_TOO_LARGE, f"the metadata takes {size:,} bytes, at most {MAX_BLOCK:,} may go"
    )


def block_size(payload: Payload) -> int:
    """The size of a block that this side has packed, with its padding."""
    (size,) = U32.unpack_from(payload)
    return int(size + 7) & ~7


def take_metadata(payload: Payload) -> tuple[dict[str, str] | Error, Payload]:
    """The entries of the block at the start of `payload`, and the payload after it; or the fault, and an
    empty payload.
    """
    try:
        entries, start = _read(payload)
    except _FaultError as fault:
        return not_executed(Code.DECODE_ERROR, f"metadata: {fault}"), b""
    return entries, payload[start:]


class _FaultError(Exception):
    """The fault of a block, in words."""


def _read(payload: Payload) -> tuple[dict[str, str], int]:
    if len(payload) < 4:
        raise _FaultError("cut off")
    (size,) = U32.unpack_from(payload)
    start = (size + 7) & ~7
    if not 4 <= size <= MAX_BLOCK:
        raise _FaultError(f"a block of {size} bytes: 4 to {MAX_BLOCK} may be")
    if start > len(payload):
        raise _FaultError(f"{size} bytes announced, {len(payload)} there")
    if any(payload[size:start]):
        raise _FaultError("padding is not zero")
    entries: dict[str, str] = {}
    at = 4
    while at < size:
        key, value, at = _read_entry(payload, at, size)
        if key in entries:
            raise _FaultError(f"{key} comes twice")
        if len(entries) == MAX_ENTRIES:
            raise _FaultError(f"more than {MAX_ENTRIES} entries")
        entries[key] = value
    return entries, start


def _read_entry(payload: Payload, at: int, size: int) -> tuple[str, str, int]:
    behind_key = at + 1 + payload[at]
    if behind_key + 2 > size:
        raise _FaultError("an entry is cut off")
    name = bytes(payload[at + 1 : behind_key])
    if not 0 < len(name) <= _LONGEST_KEY or name.strip(_KEY_BYTES):
        raise _FaultError("a key is not 1 to 64 of a-z, 0-9, '.', '_' and '-'")
    end = behind_key + 2 + U16.unpack_from(payload, behind_key)[0]
    if end > size:
        raise _FaultError("a value is cut off")
    try:
        return name.decode(), str(payload[behind_key + 2 : end], "utf-8"), end
    except UnicodeDecodeError:
        raise _FaultError("a value is not UTF-8") from None
