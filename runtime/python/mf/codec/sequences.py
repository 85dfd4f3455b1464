"""R1. Many values of one built-in type, one behind the other, without their count: what lists and arrays are
made of.

    write_<type>s(out, values)             appends
    read_<type>s(data, pos, count)         -> (list, position behind)

These are the loops of the fast codec, so most hand the whole run to C: numbers through `struct` and `array`,
varints through `bytes` as long as all take one byte. Beside lists, writers take any sequence, and numbers
also anything with a buffer (array, numpy), which is copied as it lies when its format is the wire's.
"""

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.varint import read_unsigned, write_unsigned

BIT: Final[dict[Any, int]] = {False: 0, True: 1}  # refuses what is not a bool, where truth would let it pass
BOOL: Final[dict[int, bool]] = {0: False, 1: True}  # refuses a byte above 1

_BIG_ENDIAN: Final = sys.byteorder == "big"

# A signed byte to its zigzag form and back, for the numbers that take one byte (-64 to 63); others become
# 0x80.
_ZIGZAG: Final = bytes((n << 1 if n < 64 else (255 - n << 1) + 1 if n >= 192 else 128) for n in range(256))
_UNZIGZAG: Final = bytes(((n >> 1) ^ -(n & 1)) & 255 for n in range(256))


def _plain(values: Iterable[int]) -> list[int]:
    """A list of Python numbers from whatever the caller has; a str or bytes is no sequence of numbers."""
    if type(values) is list:
        return values
    if isinstance(values, (str, bytes, bytearray)):
        raise MalformedError
    tolist = getattr(values, "tolist", None)
    return list(values if tolist is None else tolist())


def span(data: bytes, pos: int, size: int) -> bytes:
    if size > len(data) - pos:
        raise MalformedError
    return data[pos : pos + size]


def write_unsigneds(out: bytearray, values: Sequence[int], highest: int) -> None:
    values = _plain(values)
    try:
        short = bytes(values)
    except ValueError:
        short = b"\x80"
    if short.isascii():
        out += short
        return
    append = out.append
    for number in values:
        if 0 <= number < 128:
            append(number)
        elif 128 <= number < 16384:
            append(number & 127 | 128)
            append(number >> 7)
        else:
            write_unsigned(out, number, highest)


def read_unsigneds(data: bytes, pos: int, count: int, highest: int) -> tuple[list[int], int]:
    short = span(data, pos, count)
    if short.isascii():
        return list(short), pos + count
    values: list[int] = []
    append = values.append
    for _ in range(count):
        number = data[pos]
        pos += 1
        if number > 127:
            second = data[pos]
            if 0 < second < 128:
                number = number & 127 | second << 7
                pos += 1
            else:
                number, pos = read_unsigned(data, pos - 1, highest)
        append(number)
    return values, pos


def write_signeds(out: bytearray, values: Sequence[int], highest: int) -> None:
    """`highest` is that of the signed type."""
    values = _plain(values)
    try:
        short = array("b", values).tobytes().translate(_ZIGZAG)
    except OverflowError:
        short = b"\x80"
    if short.isascii():
        out += short
        return
    if min(values) < -highest - 1 or max(values) > highest:
        raise MalformedError
    write_unsigneds(out, [(number << 1) ^ (number >> 63) for number in values], 2 * highest + 1)


def read_signeds(data: bytes, pos: int, count: int, highest: int) -> tuple[list[int], int]:
    short = span(data, pos, count)
    if short.isascii():
        return array("b", short.translate(_UNZIGZAG)).tolist(), pos + count
    numbers, pos = read_unsigneds(data, pos, count, 2 * highest + 1)
    return [(number >> 1) ^ -(number & 1) for number in numbers], pos


def write_u8s(out: bytearray, values: Sequence[int]) -> None:
    out += bytes(_plain(values))


def read_u8s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return list(span(data, pos, count)), pos + count


def write_i8s(out: bytearray, values: Sequence[int]) -> None:
    out += array("b", _plain(values))


def read_i8s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return array("b", span(data, pos, count)).tolist(), pos + count


def write_bools(out: bytearray, values: Sequence[bool]) -> None:
    out += bytes([BIT[value] for value in _plain(values)])


def read_bools(data: bytes, pos: int, count: int) -> tuple[list[bool], int]:
    found = span(data, pos, count)
    if found.translate(None, b"\0\1"):
        raise MalformedError
    return [byte == 1 for byte in found], pos + count


def _write_floats(out: bytearray, values: Any, code: str) -> None:
    if type(values) is not list:
        try:
            view = memoryview(values)
        except TypeError:
            view = None
        if view is not None and view.format == code and view.ndim == 1 and not _BIG_ENDIAN:
            out += view.cast("B") if view.c_contiguous else view.tobytes()
            return
        values = _plain(values)
    out += struct.pack(f"<{len(values)}{code}", *values)


def _read_floats(data: bytes, pos: int, size: int, code: str) -> tuple[list[float], int]:
    numbers: array[float] = array(code, span(data, pos, size))
    if _BIG_ENDIAN:
        numbers.byteswap()
    return numbers.tolist(), pos + size


def write_f32s(out: bytearray, values: Sequence[float]) -> None:
    _write_floats(out, values, "f")


def read_f32s(data: bytes, pos: int, count: int) -> tuple[list[float], int]:
    return _read_floats(data, pos, 4 * count, "f")


def write_f64s(out: bytearray, values: Sequence[float]) -> None:
    _write_floats(out, values, "d")


def read_f64s(data: bytes, pos: int, count: int) -> tuple[list[float], int]:
    return _read_floats(data, pos, 8 * count, "d")


def write_strings(out: bytearray, values: Iterable[str]) -> None:
    if isinstance(values, str):
        raise MalformedError
    append = out.append
    for value in values:
        text = value.encode()
        size = len(text)
        if size < 128:
            append(size)
        else:
            write_unsigned(out, size, U32_MAX)
        out += text


def read_strings(data: bytes, pos: int, count: int) -> tuple[list[str], int]:
    if count > len(data) - pos:
        raise MalformedError
    values: list[str] = []
    append = values.append
    for _ in range(count):
        size = data[pos]
        pos += 1
        if size > 127:
            size, pos = read_unsigned(data, pos - 1, U32_MAX)
        end = pos + size
        append(data[pos:end].decode())
        pos = end
    return values, pos


def as_bytes(value: Any) -> bytes:
    """The bytes of a bytes-like value; anything else is refused, a list of numbers too."""
    if type(value) is bytes:
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise MalformedError


def write_blobs(out: bytearray, values: Iterable[bytes]) -> None:
    """Values of type `bytes`."""
    for value in values:
        blob = as_bytes(value)
        write_unsigned(out, len(blob), U32_MAX)
        out += blob


def read_blobs(data: bytes, pos: int, count: int) -> tuple[list[bytes], int]:
    if count > len(data) - pos:
        raise MalformedError
    values: list[bytes] = []
    for _ in range(count):
        size, pos = read_unsigned(data, pos, U32_MAX)
        values.append(data[pos : pos + size])
        pos += size
    return values, pos


def write_u16s(out: bytearray, values: Sequence[int]) -> None:
    write_unsigneds(out, values, 0xFFFF)


def read_u16s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return read_unsigneds(data, pos, count, 0xFFFF)


def write_u32s(out: bytearray, values: Sequence[int]) -> None:
    write_unsigneds(out, values, U32_MAX)


def read_u32s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return read_unsigneds(data, pos, count, U32_MAX)


def write_u64s(out: bytearray, values: Sequence[int]) -> None:
    write_unsigneds(out, values, U64_MAX)


def read_u64s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return read_unsigneds(data, pos, count, U64_MAX)


def write_i16s(out: bytearray, values: Sequence[int]) -> None:
    write_signeds(out, values, 0x7FFF)


def read_i16s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return read_signeds(data, pos, count, 0x7FFF)


def write_i32s(out: bytearray, values: Sequence[int]) -> None:
    write_signeds(out, values, U32_MAX >> 1)


def read_i32s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return read_signeds(data, pos, count, U32_MAX >> 1)


def write_i64s(out: bytearray, values: Sequence[int]) -> None:
    write_signeds(out, values, U64_MAX >> 1)


def read_i64s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return read_signeds(data, pos, count, U64_MAX >> 1)
