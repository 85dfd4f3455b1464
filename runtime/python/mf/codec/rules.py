"""R1. Constraints of a schema as data: each says in words what is wrong with a value, or None.

Plain classes: imports of generated code pay for this.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any


class Rule:
    __slots__ = ()

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether the value keeps it."""

    @abstractmethod
    def words(self, value: Any) -> str:
        """What is wrong with a value that does not."""

    def violation(self, value: Any) -> str | None:
        return None if self.holds(value) else self.words(value)

    def holds_all(self, values: Sequence[Any]) -> bool:
        return all(map(self.holds, values))


def held_by(rules: Sequence[Rule]) -> Callable[[Any], bool]:
    """Whether a value keeps all of them."""
    if len(rules) == 1:
        return rules[0].holds
    return lambda value: all(rule.holds(value) for rule in rules)


class InRange(Rule):
    __slots__ = ("high", "low")

    def __init__(self, low: float | None, high: float | None) -> None:
        self.low = low
        self.high = high

    def holds(self, value: Any) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def words(self, value: Any) -> str:
        low = "" if self.low is None else self.low
        high = "" if self.high is None else self.high
        return f"{value} is not in {low}..{high}"

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


class HasLength(Rule):
    """Bytes of a string or bytes value, elements of a container."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int | None) -> None:
        self.low = low
        self.high = high

    def holds(self, value: Any) -> bool:
        length = _length(value)
        return self.low <= length and (self.high is None or length <= self.high)

    def words(self, value: Any) -> str:
        return f"length {_length(value)} is not in {self.low}..{'' if self.high is None else self.high}"


def _length(value: Any) -> int:
    return len(value.encode()) if isinstance(value, str) and not value.isascii() else len(value)


class IsFinite(Rule):
    __slots__ = ()

    def holds(self, value: Any) -> bool:
        return math.isfinite(value)

    def words(self, value: Any) -> str:
        return f"{value} is not finite"

    def holds_all(self, values: Sequence[Any]) -> bool:
        return all(map(math.isfinite, values))


class Matches(Rule):
    """The whole text matches, which is found in linear time. `re` is imported if there is a pattern."""

    __slots__ = ("pattern",)

    def __init__(self, pattern: str) -> None:
        from mf.patterns import Matcher

        self.pattern = Matcher(pattern)

    def holds(self, value: Any) -> bool:
        return self.pattern.fullmatch(value) is not None

    def words(self, value: Any) -> str:
        return f"{value[:40]!a} does not match {self.pattern.pattern!r}"
