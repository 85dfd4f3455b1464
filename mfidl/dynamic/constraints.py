"""F6. The schema's constraints of a position: whether a value satisfies them, and values that do."""

import math
from collections.abc import Callable
from functools import cache

from mf.patterns import Matcher
from mfidl import model
from mfidl.dynamic.value import Value

# Finds a text for a pattern, with these limits of its bytes; None if none was found.
PatternText = Callable[[str, int, int | None], str | None]


def satisfies(value: Value, constraints: tuple[model.Constraint, ...]) -> bool:
    return all(violation_of(value, each) is None for each in constraints)


def violation_of(value: Value, constraint: model.Constraint) -> str | None:
    """The violation of the value, if there is one; with the words of the Python runtime."""
    match constraint:
        case model.RangeConstraint(low, high):
            good = (low is None or low <= value) and (high is None or value <= high)
            good = good and not math.isnan(value)  # no comparison detects it if both ends are open
            return None if good else f"{value} is not in {_ends(low, high)}"
        case model.LengthConstraint(low, high):
            size = len(value.encode()) if isinstance(value, str) else len(value)
            good = size >= low and (high is None or size <= high)
            return None if good else f"length {size} is not in {_ends(low, high)}"
        case model.FiniteConstraint():
            return None if math.isfinite(value) else f"{value} is not finite"
        case model.PatternConstraint(pattern):
            if _matcher(pattern).fullmatch(value) is not None:
                return None
            return f"{value[:40]!a} does not match {pattern!r}"


@cache
def _matcher(pattern: str) -> Matcher:
    return Matcher(pattern)


def _ends(low: float | None, high: float | None) -> str:
    return f"{'' if low is None else low}..{'' if high is None else high}"


def bounds(constraints: tuple[model.Constraint, ...]) -> list[Value]:
    """The borders that ranges draw."""
    found: list[Value] = []
    for each in constraints:
        if isinstance(each, model.RangeConstraint):
            found += [bound for bound in (each.low, each.high) if bound is not None]
    return found


def lengths(constraints: tuple[model.Constraint, ...]) -> tuple[int, int | None]:
    low, high = 0, None
    for each in constraints:
        if isinstance(each, model.LengthConstraint):
            low = max(low, each.low)
            high = each.high if high is None else min(high, each.high if each.high is not None else high)
    return low, high


def texts(constraints: tuple[model.Constraint, ...], pattern_text: PatternText) -> list[str]:
    """Texts made for patterns and lengths."""
    low, high = lengths(constraints)
    found: list[str | None] = ["x" * low, "x" * min(high if high is not None else low + 3, low + 300)]
    for each in constraints:
        if isinstance(each, model.PatternConstraint):
            found += [pattern_text(each.pattern, low, high), pattern_text(each.pattern, low + 1, high)]
    return [each for each in found if each is not None]
