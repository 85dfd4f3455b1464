"""R1. Small checks that fast functions call; each gives up by `MalformedError`."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from mf.codec.limits import MAX_EMPTY_ITEMS
from mf.codec.malformed import MalformedError

S = TypeVar("S", bound=Sequence[Any])


def exactly(values: S, length: int) -> S:
    """`values` when there are `length` of them: an array's length is not on the wire."""
    if len(values) != length:
        raise MalformedError
    return values


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
