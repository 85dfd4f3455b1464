"""F6. The schema's constraints of a position: whether a value satisfies them, and values that do."""

from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.shapes import rule_of
from mfidl.dynamic.value import Value
from mfidl.model import Constraints

# Finds a text for a pattern, with these limits of its bytes; None if none was found.
PatternText = Callable[[str, int, int | None], str | None]


def satisfies(value: Value, constraints: Constraints, type_: model.Type) -> bool:
    return all(rule_of(each, type_).violation(value) is None for each in constraints)


def bounds(constraints: Constraints) -> list[Value]:
    """The borders that ranges draw."""
    return [bound for bound in model.range_of(constraints) if bound is not None]


def texts(constraints: Constraints, pattern_text: PatternText) -> list[str]:
    """Texts made for patterns and lengths."""
    low, high = model.lengths_of(constraints)
    found: list[str | None] = ["x" * low, "x" * min(high if high is not None else low + 3, low + 300)]
    for each in constraints:
        if isinstance(each, model.PatternConstraint):
            found += [pattern_text(each.pattern, low, high), pattern_text(each.pattern, low + 1, high)]
    return [each for each in found if each is not None]
