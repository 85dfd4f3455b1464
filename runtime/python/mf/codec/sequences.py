"""R1. The bytes of many values of one built-in type, one behind the other, without their count: what lists
and arrays are made of.

Beside lists, writers take any sequence, and numbers also anything with a buffer (array, numpy), which is
copied as it is when its format is the wire's. Integers of more than a byte lie in rows (mf.codec.rows).
"""

import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from mf.codec.failure import MalformedError
from mf.codec.writer import is_array, is_list

_BIG_ENDIAN: Final = sys.byteorder == "big"

_SAME: Final = {
    "q": ("q", "l") if struct.calcsize("l") == 8 else ("q",),
    "f": ("f",),
    "d": ("d",),
    "b": ("b",),
    "B": ("B",),
    "?": ("?",),
}


_OF_NUMPY: Final = {"q": "<i8", "f": "<f4", "d": "<f8", "b": "|i1", "B": "|u1", "?": "|b1"}
"""`dtype.str` of numpy."""


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


def laid_out(values: Any, code: str) -> memoryview | bytes | None:
    """The memory of a buffer whose elements already are what struct calls `code`; None: it is none."""
    if type(values) is list or isinstance(values, (bytes, bytearray)):
        return None
    if is_array(values):  # also over a message, where no number is aligned
        if values.dtype.str != _OF_NUMPY[code] or values.ndim != 1:
            return None
        return memoryview(values.view("u1")) if values.flags.c_contiguous else memoryview(values.tobytes())
    try:
        view = memoryview(values)
    except TypeError:
        return None
    if view.format not in _SAME[code] or view.ndim != 1 or _BIG_ENDIAN:
        return None
    return view.cast("B") if view.c_contiguous else view.tobytes()


def _numbers_written(code: str) -> Callable[[Any], bytes | memoryview]:
    def written(values: Any) -> bytes | memoryview:
        found = laid_out(values, code)
        if found is not None:
            return found
        values = plain(values)
        return struct.pack(f"<{len(values)}{code}", *values)

    return written


def _bytes_written(values: Any) -> bytes | memoryview:
    found = laid_out(values, "B")
    return bytes(plain(values)) if found is None else found


def _bools_written(values: Any) -> bytes:
    found = laid_out(values, "?")
    bools = bytes(plain(values) if found is None else found)
    if bools.translate(None, b"\0\1"):
        raise MalformedError
    return bools


def _uuids_written(values: Any) -> bytes:
    from uuid import UUID

    if not set(map(type, values)) <= {UUID}:
        raise MalformedError
    return b"".join([value.bytes for value in values])


WRITERS: Final[dict[str, Callable[[Any], bytes | memoryview]]] = {
    "bool": _bools_written,
    "u8": _bytes_written,
    "i8": _numbers_written("b"),
    "f32": _numbers_written("f"),
    "f64": _numbers_written("d"),
    "timestamp": _numbers_written("q"),
    "uuid": _uuids_written,
}
"""The bytes of many values, by the type. They raise all kinds of errors where one of the values is wrong."""
