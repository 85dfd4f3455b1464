"""R1. Writes integers of 2, 4 and 8 bytes in lists, sets and arrays: rows and maps (docs/protocol.md,
section 8, "Rows" and "Maps of integers").

    WRITERS["u32"](out, values, True)       a list or set: head, codes, values
    WRITERS["u32"](out, values, False)      an array: codes, values

    entries_writer("i32", "u64")(out, keys, values)     the blocks of a map of integers, whose keys ascend

No loop of Python sees a single value. Up to 256 values are one block, which `struct` converts. Longer rows
are looked at by their bytes: the first ones of all values, the second ones, ... (planes), because whether a
block fits in fewer bytes is a comparison of planes, and so is cutting it. Buffers (array, numpy, memoryview)
of any integer format lie as they are and are only cut.
"""

import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import groupby
from struct import Struct, pack
from typing import Any, Final

from mf.codec.failure import MalformedError
from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.sequences import plain
from mf.codec.varint import write_unsigned
from mf.codec.writer import is_array

BLOCK: Final = 256
Write = Callable[..., None]
WriteEntries = Callable[[bytearray, Sequence[int], Sequence[int]], None]
Run = tuple[int, int, int]
"""Code, first value, the one behind the last."""

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
    if is_array(values) and not values.flags.aligned:
        values = values.copy()  # over a message; the formats of such arrays have other names
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
        high, low = max(values), ~int(min(values))  # `~` of flags and of numpy is another
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
    for code, begin, end in runs_of(codes, count):
        out += planes.cut(begin, end, code)


def runs_of(codes: bytes, count: int) -> list[Run]:
    """Of neighbouring blocks in one width."""
    if codes.count(codes[:1]) == len(codes):
        return [(codes[0], 0, count)]
    runs, begin = [], 0
    for code, blocks in groupby(codes):
        end = min(count, begin + BLOCK * len(list(blocks)))
        runs.append((code, begin, end))
        begin = end
    return runs


KINDS: Final = {name: Kind(name) for name in ("u16", "u32", "u64", "i16", "i32", "i64")}
"""By the type."""

WRITERS: Final[dict[str, Write]] = {name: _writer(kind) for name, kind in KINDS.items()}
"""By the type."""


# --- Maps of integers: blocks of keys and values


@lru_cache(maxsize=500)  # of 2,304; `struct` itself keeps but 100
def _packer(key: str, value: str, count: int) -> Callable[..., bytes]:
    """Packs a block; its letters are those of `struct`."""
    return Struct(f"<B{count}{key}{count}{value}").pack


@cache
def entries_writer(key: str, value: str) -> WriteEntries:
    kinds = KINDS[key], KINDS[value]
    key_codes, value_codes = kinds[0].codes, kinds[1].codes
    signed_keys, signed_values = (each.signed for each in kinds)
    key_letters, value_letters = (each.letters for each in kinds)

    def write(out: bytearray, keys: Sequence[int], values: Sequence[int]) -> None:
        count = len(keys)
        if count > BLOCK:
            for at in range(0, count, BLOCK):
                write(out, keys[at : at + BLOCK], values[at : at + BLOCK])
            return
        # What is too wide is no index, and what is negative but must not be is refused when it is packed.
        widest = keys[-1]
        if signed_keys and widest < (low := ~int(keys[0])):  # `~` of flags and of numpy is another
            widest = low
        code = key_codes[widest.bit_length()]
        widest = max(values)
        if signed_values and widest < (low := ~int(min(values))):
            widest = low
        value_code = value_codes[widest.bit_length()]
        pack = _packer(key_letters[code], value_letters[value_code], count)
        out += pack(code | value_code << 2, *keys, *values)

    return write
