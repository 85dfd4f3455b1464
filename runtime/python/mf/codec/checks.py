"""R1. Small checks that fast functions call; each gives up by `MalformedError`."""

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any, TypeVar

from mf.codec.limits import MAX_EMPTY_ITEMS
from mf.codec.malformed import MalformedError

S = TypeVar("S", bound=Sequence[Any])


def is_list(values: object) -> bool:
    """Has it elements in an order, to be looked at more than once? No text, set, dict or iterator has."""
    return hasattr(values, "__len__") and not isinstance(values, (str, bytes, bytearray, Mapping, Set))


def listed(values: S) -> S:
    """`values` when they can be a list."""
    if type(values) is not list and not is_list(values):
        raise MalformedError
    return values


def exactly(values: S, length: int) -> S:
    """`values` when there are `length` of them: an array's length is not on the wire."""
    if len(listed(values)) != length:
        raise MalformedError
    return values


def in_order(values: Collection[Any]) -> list[Any]:
    """The values of a set, as they are written. In anything else one of them might come twice."""
    if not isinstance(values, Set):
        raise MalformedError
    return sorted(values)


def is_bool(value: Any) -> bool:
    """Also 0 or 1, and those of other libraries; but no float or Decimal, as integers take none."""
    is_whole = hasattr(value, "__index__") or type(value).__name__ in ("bool", "bool_")
    return is_whole and value in (False, True)


def bool_of(value: Any) -> bool:
    """Of what is neither `True` nor `False`."""
    if not is_bool(value):
        raise MalformedError
    return bool(value)


def members_of(values: S, numbers: Mapping[int, bool]) -> S:
    """`values` when each equals one of the numbers of a closed enum."""
    if not numbers.keys() >= set(values):
        raise MalformedError
    return values


def no_parts(value: object, kind: type) -> tuple[()]:
    """What is packed of a struct without fields, which is one all the same."""
    if not isinstance(value, kind):
        raise MalformedError
    return ()


def ascending(keys: Collection[Any], count: int) -> None:
    """Keys as they were read must be ascending and, in a dict or set, none lost as a duplicate.

    Lists that are in order already are sorted at the price of a comparison each.
    """
    found = list(keys)
    if len(found) != count or found != sorted(found):
        raise MalformedError


def fits(data: bytes, pos: int, count: int, smallest: int) -> None:
    """`count` elements of at least `smallest` bytes must fit in what is left; asked before allocating."""
    if count * smallest > len(data) - pos or (smallest == 0 and count > MAX_EMPTY_ITEMS):
        raise MalformedError
