"""R1. Constraints of a schema as data: each says in words what is wrong with a value, or None.

Plain classes: imports of generated code pay for this.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Rule(Protocol):
    def violation(self, value: Any) -> str | None: ...

    def test(self) -> Callable[[Any], bool]:
        """Whether a value keeps it, in a hurry."""

    def holds_all(self, values: Sequence[Any]) -> bool:
        """Whether none of the values violates it."""


class InRange:
    __slots__ = ("high", "low")

    def __init__(self, low: float | None, high: float | None) -> None:
        self.low = low
        self.high = high

    def violation(self, value: Any) -> str | None:
        if (self.low is None or self.low <= value) and (self.high is None or value <= self.high):
            return None
        low = "" if self.low is None else self.low
        high = "" if self.high is None else self.high
        return f"{value} is not in {low}..{high}"

    def test(self) -> Callable[[Any], bool]:
        low, high = self.low, self.high
        if low is None:
            return lambda value: value <= high
        if high is None:
            return lambda value: low <= value
        return lambda value: low <= value <= high

    def holds_all(self, values: Sequence[Any]) -> bool:
        """Of numbers without a loop of Python."""
        low, high = self.low, self.high
        if not len(values):
            return True
        if not isinstance(values[0], float):
            return (low is None or low <= min(values)) and (high is None or max(values) <= high)
        # A NaN is in no range, but min() may pass over it.
        return (low is None or all(map(float(low).__le__, values))) and (
            high is None or all(map(float(high).__ge__, values))
        )


class HasLength:
    """Bytes of a string or bytes value, elements of a container."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int | None) -> None:
        self.low = low
        self.high = high

    def violation(self, value: Any) -> str | None:
        length = len(value.encode()) if isinstance(value, str) else len(value)
        if self.low <= length and (self.high is None or length <= self.high):
            return None
        return f"length {length} is not in {self.low}..{'' if self.high is None else self.high}"

    def test(self) -> Callable[[Any], bool]:
        low, high = self.low, math.inf if self.high is None else self.high

        def holds(value: Any) -> bool:
            length = len(value)
            if isinstance(value, str) and not value.isascii():
                length = len(value.encode())
            return low <= length <= high

        return holds

    def holds_all(self, values: Sequence[Any]) -> bool:
        return not any(map(self.violation, values))


class IsFinite:
    __slots__ = ()

    def test(self) -> Callable[[Any], bool]:
        return math.isfinite

    def violation(self, value: Any) -> str | None:
        return None if math.isfinite(value) else f"{value} is not finite"

    def holds_all(self, values: Sequence[Any]) -> bool:
        return all(map(math.isfinite, values))


class Matches:
    """The whole text matches, which is found in linear time. `re` is imported if there is a pattern."""

    __slots__ = ("pattern",)

    def __init__(self, pattern: str) -> None:
        from mf.patterns import Matcher

        self.pattern = Matcher(pattern)

    def violation(self, value: Any) -> str | None:
        if self.pattern.fullmatch(value) is not None:
            return None
        shown = ascii(value[:40])
        return f"{shown} does not match {self.pattern.pattern!r}"

    def test(self) -> Callable[[Any], bool]:
        return lambda value: self.violation(value) is None

    def holds_all(self, values: Sequence[Any]) -> bool:
        return not any(map(self.violation, values))
