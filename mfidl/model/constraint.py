"""F3. Constraints: what a value must satisfy before it is sent and after it was decoded.

They belong to a position (a field, a list element, a map key or value), not to a type. At an optional
position they apply to the value when it is present. Several constraints at one position must all hold.
Literals are already evaluated and checked against the type; bounds are inclusive.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RangeConstraint:
    """`@range(low..high)` on a number, timestamp or duration (then in nanoseconds). None: unbounded on that
    side.

    Both bounds are int for integer types and float for f32 and f64.
    """

    low: int | float | None
    high: int | float | None


@dataclass(frozen=True, slots=True)
class LengthConstraint:
    """`@length(low..high)`: bytes of a string or bytes value, elements of a list, set or map. None: no upper
    bound.
    """

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class FiniteConstraint:
    """`@finite` on f32 and f64: neither NaN nor infinite."""


@dataclass(frozen=True, slots=True)
class PatternConstraint:
    """`@pattern("...")` on a string: the whole value matches this regular expression of the RE2 subset."""

    pattern: str


Constraint = RangeConstraint | LengthConstraint | FiniteConstraint | PatternConstraint
Constraints = tuple[Constraint, ...]


def lengths_of(constraints: Constraints) -> tuple[int, int | None]:
    """The bounds of all `@length`s of a position."""
    found = [each for each in constraints if isinstance(each, LengthConstraint)]
    highs = [each.high for each in found if each.high is not None]
    return max((each.low for each in found), default=0), min(highs, default=None)


def range_of(constraints: Constraints) -> tuple[float | None, float | None]:
    """The bounds of all `@range`s of a position."""
    found = [each for each in constraints if isinstance(each, RangeConstraint)]
    lows = [each.low for each in found if each.low is not None]
    highs = [each.high for each in found if each.high is not None]
    return max(lows, default=None), min(highs, default=None)
