"""Files of values: any bytes are refused in words that begin with the file's name, or are values. The first
byte picks the reader's schema (bit 0) and whether the sums of the file are made right before it is read (bit
1).
"""

import io
import json
from functools import cache
from typing import Any

import mf
from mf.codec.hashing import hash64
from tests.fuzz.in_python.harness import Target
from tests.vectors.make_values import TARGET as VECTORS
from tests.vectors.make_values import VALUES, module

_HEAD, _RECORD = 24, 16
_SIDES = ("old", "new")


class _File(io.BytesIO):
    name = "FILE"


@cache
def _files() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(VECTORS.read_text())
    return found


def seeds() -> list[bytes]:
    """Each file of values that both schemas can read, in all ways."""
    files = [bytes.fromhex(each["hex"]) for each in _files()["files"]]
    return [seed for file in files for mode in range(4) if not refusal(seed := bytes([mode]) + file)]


def refusal(data: bytes) -> str:
    if not data:
        return "no byte that picks the schema"
    file = bytearray(data[1:])
    if data[0] & 2:
        _repair(file)
    return _read(bytes(file), _kind(_SIDES[data[0] & 1], bytes(file[_HEAD:])))


def _kind(side: str, texts: bytes) -> Any:
    """The type that the file is of; of none a type that it hardly is of."""
    own = next(
        (each for each in VALUES[side] if texts.startswith(f"value stored.{each}\n".encode())), "Point"
    )
    return getattr(module(side), own)


def _read(file: bytes, kind: Any) -> str:
    words = ""
    try:
        reader = mf.ValueReader(_File(file), kind)
    except mf.Error as refused:
        assert refused.message.startswith("FILE: ")
        return refused.message
    for _ in range(len(file) + 1):
        try:
            next(reader)
        except StopIteration:
            assert reader.offset <= len(file)
            return words
        except mf.Error as refused:
            assert refused.message.startswith("FILE: ")
            words = words or refused.message
    raise AssertionError("more values than bytes")


def _repair(file: bytearray) -> None:
    """The sums of a file (docs/protocol.md, section 8a), as far as its lengths lead."""
    if len(file) < _HEAD:
        return
    texts = _HEAD + _number(file, 12) + _number(file, 16)
    at = (texts + 7) & ~7
    if at + 8 > len(file):
        return
    file[at : at + 8] = hash64(bytes(file[:at])).to_bytes(8, "little")
    at += 8
    number = 0
    while at + _RECORD <= len(file):
        length = _number(file, at + 8)
        if length > len(file) - at - _RECORD:
            return
        value = bytes(file[at + _RECORD : at + _RECORD + length])
        check = hash64(length.to_bytes(4, "little") + number.to_bytes(8, "little"))
        file[at : at + 8] = hash64(value).to_bytes(8, "little")
        file[at + 12 : at + 16] = (check & 0xFFFF_FFFF).to_bytes(4, "little")
        at += _RECORD + (length + 7) // 8 * 8
        number += 1


def _number(file: bytearray, at: int) -> int:
    return int.from_bytes(file[at : at + 4], "little")


TARGET = Target("values", seeds, refusal, cost=4)
