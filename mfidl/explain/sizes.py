"""The bytes of a single integer in febird: the only place that has its coding (docs/protocol.md, 8). In
lists, sets and arrays, and in maps of integers to integers, they are stored in blocks (rows.py).

8-bit integers are one byte. Wider unsigned ones are LEB128 in its shortest form, signed ones use zigzag (0,
-1, 1, -2 ... become 0, 1, 2, 3 ...). Counts and lengths are coded as a u32. A change of the coding changes
this file, and tests/compiler/test_explain_sizes.py compares it with the Python runtime.
"""

from mfidl.model import Scalar
from mfidl.plan.sizes import varint_size

_GROUP = 7  # bits of the number in each byte
_LONGEST = 10  # bytes of the largest u64


def count(number: int) -> int:
    """Bytes of a count, of a length, or of the number of an alternative."""
    return varint_size(number)


def integer(scalar: Scalar, value: int) -> int:
    """Bytes of one value."""
    if scalar.bits == 8:
        return 1
    return count(_folded(value) if scalar.is_signed else value)


def extremes(scalar: Scalar, low: int, high: int) -> tuple[int, int]:
    """The fewest and the most bytes of the values from `low` to `high`."""
    sizes = [size for size, _ in histogram(scalar, low, high)]
    return min(sizes), max(sizes)


def histogram(scalar: Scalar, low: int, high: int) -> list[tuple[int, int]]:
    """(bytes, how many values of `low` to `high` take so many), ascending, without empty ones."""
    if scalar.bits == 8:
        return [(1, high - low + 1)]
    found = []
    for size in range(1, _LONGEST + 1):
        first = 1 << _GROUP * (size - 1) if size > 1 else 0
        last = (1 << _GROUP * size) - 1
        if scalar.is_signed:
            here = _overlap(-(-first // 2), last // 2, low, high)
            here += _overlap(-((last + 1) // 2), -max(1, -(-(first + 1) // 2)), low, high)
        else:
            here = _overlap(first, last, low, high)
        if here:
            found.append((size, here))
    return found


def _folded(value: int) -> int:
    return value * 2 if value >= 0 else -value * 2 - 1


def _overlap(first: int, last: int, low: int, high: int) -> int:
    return max(0, min(last, high) - max(first, low) + 1)
