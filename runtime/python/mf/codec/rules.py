"""R1. Constraints of a schema as data: each says in words what is wrong with a value, or None.

The fast functions have the same conditions as plain expressions; these here find the words. Plain classes:
imports of generated code pay for this.
"""

import math
from typing import Any, Protocol


class Rule(Protocol):
    def violation(self, value: Any) -> str | None: ...


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

    def holds_all(self, numbers: memoryview) -> bool:
        """Of all numbers of a view, without a loop of Python."""
        low, high = self.low, self.high
        if numbers.format not in ("f", "d"):
            return (low is None or low <= min(numbers)) and (high is None or max(numbers) <= high)
        # A NaN is in no range, but min() may pass over it.
        return (low is None or all(map(float(low).__le__, numbers))) and (
            high is None or all(map(float(high).__ge__, numbers))
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


class IsFinite:
    __slots__ = ()

    def violation(self, value: Any) -> str | None:
        return None if math.isfinite(value) else f"{value} is not finite"

    def holds_all(self, numbers: memoryview) -> bool:
        return all(map(math.isfinite, numbers))


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
