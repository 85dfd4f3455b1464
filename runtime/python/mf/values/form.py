"""R2. How the bytes of a file of values lie (docs/protocol.md, section 8a). Bytes in, bytes out.

    head    "MFVALUE\\n"  version u32  descriptor length u32  annex length u32  zero u32
            descriptor  annex  zeros up to a multiple of 8  sum u64 over all of it
    record  sum u64 over the value  length u32  check u32  value  zeros up to a multiple of 8

Numbers are little-endian, sums are XXH64. `check` is the lower half of the sum over length u32 and number
u64, which counts the values of the file from 0: so a length that is damaged is no value that is cut off. A
file may come from anywhere: every length has a bound, and memory is taken for bytes that are there alone.

A machine that loses its power may leave zeros at the end of a file in the place of what was written. All
begins at multiples of 8, so these are 8 at least, and no record is zeros: from a head or record that they
reach into up to the end of the file, they are an end that is cut off.
"""

import struct
from collections.abc import Callable
from typing import Final

from mf.codec.hashing import hash64
from mf.codec.texts import Texts
from mf.core.error import Code, Error, Execution
from mf.evolution.reading import MOST_BYTES

MAGIC: Final = b"MFVALUE\n"
VERSION: Final = 1
MOST_VALUE: Final = 64 << 20
"""Bytes of one value."""

_HEAD: Final = struct.Struct("<8s4I")
_SUM: Final = struct.Struct("<Q")
_RECORD: Final = struct.Struct("<QII")
_NUMBERED: Final = struct.Struct("<IQ")
_CHUNK: Final = 1 << 18
_LEAST_ZEROS: Final = 8


class FormError(Exception):
    """What is wrong with the bytes of a file, in words that follow its name. `cut`: only that it ends too
    early."""

    def __init__(self, words: str, *, cut: bool = False) -> None:
        super().__init__(words)
        self.cut = cut


def head(of: Texts) -> bytes:
    texts = of.descriptor.encode(), of.annex.encode()
    made = _HEAD.pack(MAGIC, VERSION, len(texts[0]), len(texts[1]), 0) + texts[0] + texts[1]
    made += bytes(-len(made) % 8)
    return made + _SUM.pack(hash64(made))


def record(number: int, value: bytes) -> bytes:
    head = _RECORD.pack(hash64(value), len(value), _check(len(value), number))
    return head + value + bytes(-len(value) % 8)


def _check(length: int, number: int) -> int:
    return hash64(_NUMBERED.pack(length, number)) & 0xFFFF_FFFF


class Records:
    """What a file holds, one after the other. `read`: gives the next bytes of the file, at most so many, none
    at its end. `offset`: where the next record begins; `number`: how many came before it."""

    __slots__ = ("_at", "_data", "_read", "number", "offset", "texts")

    def __init__(self, read: Callable[[int], bytes]) -> None:
        """Reads the head. Raises FormError."""
        self._read = read
        self._data = b""
        self._at = 0
        self.offset = 0
        self.number = 0
        start = self._peek(_HEAD.size)
        if start and not any(start) and self._zeros_end(start):
            raise FormError("cut off at byte 0, within its head, where zeros begin", cut=True)
        if start[: len(MAGIC)] != MAGIC[: len(start)] or not start:
            raise FormError("no file of values: it does not begin as one")
        if len(start) < _HEAD.size:
            raise FormError(f"cut off at byte {len(start)}, within its head", cut=True)
        _, version, *lengths, zero = _HEAD.unpack(start)
        if version != VERSION:
            raise FormError(f"a file of values of version {version}; this program reads version {VERSION}")
        if not 0 < lengths[0] <= MOST_BYTES or lengths[1] > MOST_BYTES or zero:
            raise FormError("its head is damaged")
        size = _HEAD.size + sum(lengths)
        size += -size % 8
        data = self._take(size + _SUM.size)
        if len(data) < size + _SUM.size:
            raise FormError(f"cut off at byte {len(data)}, within its head", cut=True)
        if hash64(data[:size]) != _SUM.unpack_from(data, size)[0]:
            if self._zeros_end(data):
                at = len(data.rstrip(b"\0"))
                raise FormError(f"cut off at byte {at}, within its head, where zeros begin", cut=True)
            raise FormError("its head is damaged")
        texts = data[_HEAD.size : _HEAD.size + sum(lengths)]
        try:
            self.texts = Texts(texts[: lengths[0]].decode(), texts[lengths[0] :].decode())
        except UnicodeDecodeError:
            raise FormError("its descriptor is no UTF-8") from None

    def next(self) -> bytes | None:
        """The bytes of the next value; None at the end of the file. Raises FormError; nothing can be read
        behind it."""
        start = self._peek(_RECORD.size)
        if not start:
            return None
        if len(start) < _RECORD.size:
            raise self._cut(f"byte {self.offset + len(start)}")
        total, length, check = _RECORD.unpack(start)
        if length > MOST_VALUE or check != _check(length, self.number):
            raise self._broken(start)
        size = _RECORD.size + length
        data = self._peek(size + -length % 8)
        if len(data) < size + -length % 8:
            raise self._cut(f"byte {self.offset + len(data)}")
        value = data[_RECORD.size : size]
        if hash64(value) != total or data[size:].strip(b"\0"):
            raise self._broken(data[:size])
        self._take(len(data))
        self.number += 1
        return value

    def _cut(self, place: str) -> FormError:
        what = f"the value that begins at byte {self.offset} is not whole"
        return FormError(f"cut off at {place}: {what}; values before it: {self.number}", cut=True)

    def _broken(self, data: bytes) -> FormError:
        """`data`: the next bytes, which are no record."""
        if self._zeros_end(data):
            return self._cut(f"byte {self.offset + len(data.rstrip(bytes(1)))}, where zeros begin")
        return FormError(
            f"damaged at byte {self.offset}: no value begins there; values before it: {self.number}"
        )

    def _zeros_end(self, data: bytes) -> bool:
        """Whether zeros that reach into the next bytes, `data`, are all up to the end of the file. It is read
        to there and not kept."""
        zeros = len(data) - len(data.rstrip(b"\0"))
        part = self._data[self._at + len(data) :]
        self._data, self._at = b"", 0
        while zeros and not part.strip(b"\0"):
            zeros += len(part)
            part = self._read(_CHUNK)
            if not part:
                return zeros >= _LEAST_ZEROS
        return False

    # The bytes that come next: fewer than asked for only at the end of the file.

    def _peek(self, size: int) -> bytes:
        if len(self._data) - self._at < size:
            parts = [self._data[self._at :]]
            have = len(parts[0])
            while have < size:
                part = self._read(_CHUNK)
                if not part:
                    break
                parts.append(part)
                have += len(part)
            self._data, self._at = b"".join(parts), 0
        return self._data[self._at : self._at + size]

    def _take(self, size: int) -> bytes:
        data = self._peek(size)
        self._at += len(data)
        self.offset += len(data)
        return data


def failed(name: str, words: str, code: Code = Code.DECODE_ERROR) -> Error:
    """`name`: of the file."""
    return Error(code, f"{name}: {words}", Execution.NO_CALL)


def not_done(name: str, failure: OSError, then: str = "") -> Error:
    """Of what the system refused."""
    return failed(name, f"{failure.strerror or failure}{then}", Code.UNAVAILABLE)
