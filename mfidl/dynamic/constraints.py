"""F6. Values that satisfy what the schema asks of a position: of those that are offered, the good ones."""

import math
import re
from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.value import Value

# A text for a pattern, of so many bytes at least and at most; None where none was found.
PatternText = Callable[[str, int, int | None], str | None]


def satisfies(value: Value, constraints: tuple[model.Constraint, ...]) -> bool:
    return all(_holds(value, each) for each in constraints)


def _holds(value: Value, constraint: model.Constraint) -> bool:
    match constraint:
        case model.RangeConstraint(low, high):
            return not (math.isnan(value) or (low is not None and value < low)) and (
                high is None or value <= high
            )
        case model.LengthConstraint(low, high):
            size = len(value.encode()) if isinstance(value, str) else len(value)
            return size >= low and (high is None or size <= high)
        case model.FiniteConstraint():
            return math.isfinite(value)
        case model.PatternConstraint(pattern):
            return re.fullmatch(pattern, value, re.ASCII) is not None


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
