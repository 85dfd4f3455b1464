"""R1. Many values of one built-in type, one behind the other, without their count: what lists and arrays are
made of.

    write_<type>s(out, values)             appends
    read_<type>s(data, pos, count)         -> (list, position behind)

These are the loops of the fast codec, so most hand the whole run to C. Beside lists, writers take any
sequence, and numbers also anything with a buffer (array, numpy), which is copied as it lies when its format
is the wire's. Integers of more than a byte lie in rows (mf.codec.rows).
"""

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mf.codec.checks import is_list
from mf.codec.limits import U32_MAX
from mf.codec.malformed import MalformedError
from mf.codec.varint import read_unsigned, write_unsigned

BOOL: Final[dict[int, bool]] = {0: False, 1: True}  # refuses a byte above 1

_BIG_ENDIAN: Final = sys.byteorder == "big"

_SAME: Final = {
    "q": ("q", "l") if struct.calcsize("l") == 8 else ("q",),
    "f": ("f",),
    "d": ("d",),
    "b": ("b",),
    "B": ("B",),
    "?": ("?",),
}


def plain(values: Iterable[int]) -> list[int]:
    """A list of Python numbers from whatever list the caller has."""
    if type(values) is list:
        return values
    if not is_list(values):
        raise MalformedError
    tolist = getattr(values, "tolist", None)
    try:
        return list(values if tolist is None else tolist())
    except NotImplementedError:
        raise MalformedError from None  # a memoryview of what it cannot read itself


def span(data: bytes, pos: int, size: int) -> bytes:
    if size > len(data) - pos:
        raise MalformedError
    return data[pos : pos + size]


def _laid_out(values: Any, code: str) -> memoryview | bytes | None:
    """The bytes of a buffer whose elements already are what struct calls `code`."""
    if type(values) is list or isinstance(values, (bytes, bytearray)):
        return None
    try:
        view = memoryview(values)
    except TypeError:
        return None
    if view.format not in _SAME[code] or view.ndim != 1 or _BIG_ENDIAN:
        return None
    return view.cast("B") if view.c_contiguous else view.tobytes()


def write_u8s(out: bytearray, values: Sequence[int]) -> None:
    laid_out = _laid_out(values, "B")
    out += bytes(plain(values)) if laid_out is None else laid_out


def read_u8s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return list(span(data, pos, count)), pos + count


def write_i8s(out: bytearray, values: Sequence[int]) -> None:
    _write_numbers(out, values, "b")


def read_i8s(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    return memoryview(span(data, pos, count)).cast("b").tolist(), pos + count


def write_bools(out: bytearray, values: Sequence[bool]) -> None:
    laid_out = _laid_out(values, "?")
    bools = bytes(plain(values)) if laid_out is None else bytes(laid_out)
    if bools.translate(None, b"\0\1"):
        raise MalformedError
    out += bools


def read_bools(data: bytes, pos: int, count: int) -> tuple[list[bool], int]:
    found = span(data, pos, count)
    if found.translate(None, b"\0\1"):
        raise MalformedError
    as_bools: Any = memoryview(found).cast("?")
    return as_bools.tolist(), pos + count


def _write_numbers(out: bytearray, values: Any, code: str) -> None:
    laid_out = _laid_out(values, code)
    if laid_out is None:
        values = plain(values)
        out += struct.pack(f"<{len(values)}{code}", *values)
    else:
        out += laid_out


def _read_numbers(data: bytes, pos: int, size: int, code: Any) -> tuple[list[Any], int]:
    found = span(data, pos, size)
    if _BIG_ENDIAN:
        numbers: array[Any] = array(code, found)
        numbers.byteswap()
        return numbers.tolist(), pos + size
    return memoryview(found).cast(code).tolist(), pos + size


def write_f32s(out: bytearray, values: Sequence[float]) -> None:
    _write_numbers(out, values, "f")


def read_f32s(data: bytes, pos: int, count: int) -> tuple[list[float], int]:
    return _read_numbers(data, pos, 4 * count, "f")


def write_f64s(out: bytearray, values: Sequence[float]) -> None:
    _write_numbers(out, values, "d")


def read_f64s(data: bytes, pos: int, count: int) -> tuple[list[float], int]:
    return _read_numbers(data, pos, 8 * count, "d")


def write_timestamps(out: bytearray, values: Sequence[int]) -> None:
    _write_numbers(out, values, "q")


def read_timestamps(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
    """As plain numbers."""
    return _read_numbers(data, pos, 8 * count, "q")


def write_strings(out: bytearray, values: Iterable[str]) -> None:
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
    """The bytes of anything with a buffer, an array of numbers too; a list of numbers is refused."""
    if type(value) is bytes:
        return value
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise MalformedError from None


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
