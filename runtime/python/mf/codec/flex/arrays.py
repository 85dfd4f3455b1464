"""R1. numpy arrays in flexible messages: the code of a dtype, the shape, and the elements as in memory.

numpy is imported only when an array is sent or received; programs without arrays do not need it.
"""

import math
from typing import TYPE_CHECKING, Any, Final

from mf.codec.flex.kinds import MAX_DIMENSIONS
from mf.codec.writer import is_array
from mf.core.error import Code, Error, Execution

if TYPE_CHECKING:
    import numpy as np

# numpy's name of each dtype, and the bytes of an element. Their order defines the codes, from 1 on.
DTYPES: Final = (
    ("bool", 1),
    ("int8", 1),
    ("int16", 2),
    ("int32", 4),
    ("int64", 8),
    ("uint8", 1),
    ("uint16", 2),
    ("uint32", 4),
    ("uint64", 8),
    ("float32", 4),
    ("float64", 8),
    ("complex64", 8),
    ("complex128", 16),
)
_CODES: Final = {name: code for code, (name, _) in enumerate(DTYPES, start=1)}
ALIGNMENT: Final = 8


def is_scalar(value: Any) -> bool:
    """Whether it is a numpy scalar, as `numpy.dot` returns."""
    return is_array(value) and not hasattr(value, "__setitem__")


def parts(array: "np.ndarray[Any, Any]") -> tuple[int, tuple[int, ...], memoryview]:
    """The code of its dtype, its shape, and its elements in C order, copied only if they are not
    little-endian and contiguous. Raises TypeError for an unsupported dtype."""
    import numpy as np

    code = _CODES.get(array.dtype.name)
    if code is None or array.dtype.fields is not None:
        names = ", ".join(name for name, _ in DTYPES)
        raise TypeError(f"an array of {array.dtype} does not travel: of {names}")
    if array.ndim > MAX_DIMENSIONS:
        raise TypeError(f"an array of {array.ndim} dimensions does not travel: at most {MAX_DIMENSIONS}")
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    flat = np.ascontiguousarray(little).reshape(-1)
    return code, array.shape, flat.view(np.uint8).data


def size_of(code: int, shape: tuple[int, ...]) -> int:
    return DTYPES[code - 1][1] * math.prod(shape)


def made(code: int, shape: tuple[int, ...], data: bytes, offset: int) -> "np.ndarray[Any, Any]":
    """A read-only array over the given bytes, without a copy. Raises ValueError for a bool that is neither 0
    nor 1."""
    try:
        import numpy as np
    except ImportError:
        text = "an array came, and numpy is not installed here"
        raise Error(Code.DECODE_ERROR, text, Execution.UNKNOWN) from None
    dtype = np.dtype(DTYPES[code - 1][0]).newbyteorder("<")
    count = math.prod(shape)
    if code == 1 and count and np.frombuffer(data, np.uint8, count, offset).max() > 1:
        raise ValueError
    if not count:  # numpy refuses an offset at the end of the buffer
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype, count, offset).reshape(shape)
