"""R1. Integers of 2, 4 and 8 bytes in lists, sets and arrays: rows (docs/protocol.md, section 8, "Rows").

    write_u32_row(out, values)              a list or set: head, codes, values
    write_u32_row(out, values, False)       an array: codes, values
    read_u32_row(data, pos)                 -> (list, position behind)
    read_u32_codes(data, pos, count)        of an array

No loop of Python sees a single value. Up to 256 values are one block, which `struct` and `memoryview`
convert. Longer rows are looked at by their bytes: the first ones of all values, the second ones, ...
(planes), because whether a block fits in fewer bytes is a comparison of planes, and so is cutting it. Buffers
(array, numpy, memoryview) of any integer format lie as they are and are only cut.
"""

import struct
import sys
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from struct import pack
from typing import Any, Final

from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.sequences import plain
from mf.codec.varint import read_u64, write_unsigned

BLOCK: Final = 256
Write = Callable[..., None]
ReadRow = Callable[[bytes, int], tuple[list[int], int]]
ReadCodes = Callable[[bytes, int, int], tuple[list[int], int]]

_BIG_ENDIAN: Final = sys.byteorder == "big"
_SIGN: Final = bytes(128) + b"\xff" * 128  # the bytes above one, in two's complement
_SIGNED: Final = "bhiq"
_UNSIGNED: Final = "BHIQ"
_SIZES: Final = {each: 1 << at for letters in (_SIGNED, _UNSIGNED) for at, each in enumerate(letters)} | {
    each: struct.calcsize(each) for each in "lLnN"
}


class Kind:
    """An integer type: `top` is the code of its own width, `letters` what struct calls each width."""

    __slots__ = ("codes", "letters", "signed", "top")

    def __init__(self, name: str) -> None:
        bits = int(name[1:])
        self.signed: Final = name[0] == "i"
        self.letters: Final = _SIGNED if self.signed else _UNSIGNED
        self.top: Final = (bits // 8).bit_length() - 1
        by_width = [(8 << code) - self.signed for code in range(self.top + 1)]
        codes = [0] * (by_width[0] + 1)
        for code in range(1, self.top + 1):
            codes += [code] * (by_width[code] - by_width[code - 1])
        self.codes: Final = codes  # by the bits that the widest value has


class _Planes:
    """Many integers by their bytes, lowest first."""

    __slots__ = ("_extended", "_kind", "_raw", "planes")

    def __init__(self, kind: Kind, raw: bytes, size: int) -> None:
        self._kind = kind
        self._raw = raw
        self.planes: Final = [raw[at::size] for at in range(size)]
        self._extended: dict[int, bytes] = {}

    def codes(self) -> bytes:
        """Of each block the smallest."""
        count = len(self.planes[0])
        whole = self._code(0, count)
        if whole == 0 or count <= BLOCK:
            return bytes([whole]) * -(-count // BLOCK)
        return bytes(self._code(at, at + BLOCK) for at in range(0, count, BLOCK))

    def cut(self, begin: int, end: int, code: int) -> bytes | bytearray:
        """These values, in the width of the code."""
        width = 1 << code
        size = len(self.planes)
        if width == size:
            return self._raw[begin * size : end * size]
        if width == 1:
            return self.planes[0][begin:end]
        out = bytearray(width * (end - begin))
        for at in range(width):
            out[at::width] = self.planes[at][begin:end]
        return out

    def _code(self, begin: int, end: int) -> int:
        planes = self.planes
        code, width = 0, 1
        while width < len(planes):
            above = self._above(width)[begin:end]
            for at in range(width, len(planes)):
                if planes[at][begin:end] != above:
                    break
            else:
                return code
            code, width = code + 1, width * 2
        return code

    def _above(self, width: int) -> bytes:
        """What every higher byte is if the lowest `width` hold a value."""
        if width not in self._extended:
            low = self.planes[width - 1]
            self._extended[width] = low.translate(_SIGN) if self._kind.signed else bytes(len(low))
        return self._extended[width]


def _planes_of(kind: Kind, values: Any) -> _Planes | None:
    """Of a buffer of integers, whatever their format; None for anything else."""
    try:
        view = memoryview(values)
    except TypeError:
        return None
    size = _SIZES.get(view.format)
    if size is None or view.ndim != 1 or isinstance(values, (bytes, bytearray)):
        return None
    raw = view.tobytes()
    if _BIG_ENDIAN:
        swapped = array(view.format, raw)
        swapped.byteswap()
        raw = swapped.tobytes()
    planes = _Planes(kind, raw, size)
    if view.format.islower() != kind.signed and not planes.planes[-1].isascii():
        raise MalformedError  # a sign on one side only
    return planes


@cache
def _in_a_byte() -> list[bytes]:
    """The four codes in each byte. Made by the first long row: few programs read one."""
    return [bytes((byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6)) for byte in range(256)]


def _packed_codes(codes: bytes) -> bytearray:
    codes += bytes(-len(codes) % 4)
    out = bytearray(codes[::4])
    for at in (1, 2, 3):
        for index, code in enumerate(codes[at::4]):
            out[index] |= code << 2 * at
    return out


def _writer(kind: Kind) -> Write:
    letters, code_of = kind.letters, _code_of(kind)

    def write(out: bytearray, values: Any, counted: bool = True) -> None:
        if type(values) is not list and type(values) is not tuple:
            planes = _planes_of(kind, values)
            if planes is not None:
                _write_long(out, kind, planes, len(values), counted)
                return
            values = plain(values)
        count = len(values)
        if count > BLOCK:
            _write_long(out, kind, _converted(kind, values), count, counted)
        elif count:
            code = code_of(values)
            head = count << 2 | code if counted else code
            if head < 128:
                out.append(head)
            else:
                out += bytes((head & 127 | 128, head >> 7))
            out += pack(f"<{count}{letters[code]}", *values)
        elif counted:
            out.append(0)

    return write


def _code_of(kind: Kind) -> Callable[[list[int]], int]:
    """The code of a block of numbers; what is too wide for the type raises IndexError."""
    widths = kind.codes

    def unsigned(values: list[int]) -> int:
        return widths[max(values).bit_length()]

    def signed(values: list[int]) -> int:
        high, low = max(values), ~min(values)
        return widths[(high if high > low else low).bit_length()]

    return signed if kind.signed else unsigned


def _converted(kind: Kind, values: Any) -> _Planes:
    numbers = array(kind.letters[kind.top], values)
    if _BIG_ENDIAN:
        numbers.byteswap()
    return _Planes(kind, numbers.tobytes(), 1 << kind.top)


def _write_long(out: bytearray, kind: Kind, planes: _Planes, count: int, counted: bool) -> None:
    codes = planes.codes()
    if max(codes, default=0) > kind.top or count > U32_MAX:
        raise MalformedError
    if counted:
        write_unsigned(out, count << 2 | (codes[0] if codes else 0), U64_MAX)
    out += _packed_codes(codes[counted:])
    for code, begin, end in _runs(codes, count):
        out += planes.cut(begin, end, code)


def _runs(codes: bytes, count: int) -> Iterator[tuple[int, int, int]]:
    """(code, first value, the one behind the last) of neighbouring blocks in one width."""
    begin = 0
    for code, blocks in groupby(codes):
        end = min(count, begin + BLOCK * sum(1 for _ in blocks))
        yield code, begin, end
        begin = end


def _reader(kind: Kind) -> ReadRow:
    top = kind.top

    def read(data: bytes, pos: int) -> tuple[list[int], int]:
        head = data[pos]
        pos += 1
        if head > 127:
            head, pos = read_u64(data, pos - 1)
        count, code = head >> 2, head & 3
        if code > top or count > U32_MAX:
            raise MalformedError
        if count > BLOCK:
            return _read_long(data, pos, kind, count, bytes([code]))
        if count:
            return _values(data, pos, kind, count, code)
        if head:
            raise MalformedError
        return [], pos

    return read


def _array_reader(kind: Kind) -> ReadCodes:
    top = kind.top

    def read(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
        if count > BLOCK:
            return _read_long(data, pos, kind, count, b"")
        if not count:
            return [], pos
        code = data[pos]
        if code > top:
            raise MalformedError
        return _values(data, pos + 1, kind, count, code)

    return read


def _values(data: bytes, pos: int, kind: Kind, count: int, code: int) -> tuple[list[int], int]:
    """In one width."""
    end = pos + (count << code)
    if end > len(data):
        raise MalformedError
    letter: Any = kind.letters[code]
    if _BIG_ENDIAN:
        return list(struct.unpack_from(f"<{count}{letter}", data, pos)), end
    return memoryview(data)[pos:end].cast(letter).tolist(), end


def _read_long(data: bytes, pos: int, kind: Kind, count: int, first: bytes) -> tuple[list[int], int]:
    """`first`: the code of block 0, if the head had it."""
    blocks = -(-count // BLOCK)
    size = (blocks - len(first) + 3) // 4
    if count > len(data) - pos:
        raise MalformedError
    codes = first + b"".join(map(_in_a_byte().__getitem__, data[pos : pos + size]))
    pos += size
    if len(codes) < blocks or any(codes[blocks:]) or max(codes) > kind.top:
        raise MalformedError
    values: list[int] = []
    for code, begin, end in _runs(codes[:blocks], count):
        found, pos = _values(data, pos, kind, end - begin, code)
        if begin:
            values += found
        else:
            values = found
    return values, pos


KINDS: Final = {name: Kind(name) for name in ("u16", "u32", "u64", "i16", "i32", "i64")}
"""By the type."""

_U16, _U32, _U64 = KINDS["u16"], KINDS["u32"], KINDS["u64"]
_I16, _I32, _I64 = KINDS["i16"], KINDS["i32"], KINDS["i64"]

write_u16_row, read_u16_row, read_u16_codes = _writer(_U16), _reader(_U16), _array_reader(_U16)
write_u32_row, read_u32_row, read_u32_codes = _writer(_U32), _reader(_U32), _array_reader(_U32)
write_u64_row, read_u64_row, read_u64_codes = _writer(_U64), _reader(_U64), _array_reader(_U64)
write_i16_row, read_i16_row, read_i16_codes = _writer(_I16), _reader(_I16), _array_reader(_I16)
write_i32_row, read_i32_row, read_i32_codes = _writer(_I32), _reader(_I32), _array_reader(_I32)
write_i64_row, read_i64_row, read_i64_codes = _writer(_I64), _reader(_I64), _array_reader(_I64)

READERS: Final = {
    "u16": read_u16_row,
    "u32": read_u32_row,
    "u64": read_u64_row,
    "i16": read_i16_row,
    "i32": read_i32_row,
    "i64": read_i64_row,
}
"""By the type."""
