"""F6. The schema's constraints of a position: whether a value satisfies them, and values that do."""

from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.shapes import rule_of
from mfidl.dynamic.value import Value

# Finds a text for a pattern, with these limits of its bytes; None if none was found.
PatternText = Callable[[str, int, int | None], str | None]


def satisfies(value: Value, constraints: tuple[model.Constraint, ...], type_: model.Type) -> bool:
    return all(rule_of(each, type_).violation(value) is None for each in constraints)


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
