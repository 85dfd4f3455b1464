"""F6. Constraints as calls of mf/codec/constraints.hpp: one expression for each position, whose value is
empty or a text."""

from collections.abc import Collection, Iterable, Iterator

from mfidl.emit.cpp.facts import Facts
from mfidl.emit.cpp.literals import scalar_literal
from mfidl.emit.cpp.patterns import matches, steps
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import Pattern
from mfidl.model import (
    ArrayOf,
    Constraint,
    DeclKind,
    FiniteConstraint,
    LengthConstraint,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    PatternConstraint,
    Primitive,
    RangeConstraint,
    Scalar,
    SetOf,
    Type,
)


class Checks:
    """Writes the expressions of one function; `variable` is C++ for the value that is checked."""

    def __init__(self, facts: Facts, types: CppTypes, parameters: Collection[str] = ()) -> None:
        """`parameters` are those of the function: no inner variable may have one of their names."""
        self._facts = facts
        self._types = types
        self._parameters = parameters
        self._depths: dict[str, int] = {}  # how deeply each inner variable is nested
        self.patterns: list[Pattern] = []  # constants at the start of the function

    def of(self, type_: Type, constraints: Iterable[Constraint], variable: str) -> Iterator[str]:
        """For an expanded type: the constraints of the position itself, then those of its content."""
        if isinstance(type_, OptionalOf):
            element = self._element(variable)
            inner = self.of(type_.element, constraints, element)
            yield from _mapped("if_present", variable, element, inner)
            return
        for constraint in constraints:
            yield self._own(type_, constraint, variable)
        element = self._element(variable)
        match type_:
            case ListOf() | ArrayOf() | SetOf():
                inner = self.of(type_.element, type_.constraints, element)
                yield from _mapped("each", variable, element, inner)
            case MapOf():
                keys = self.of(type_.key, type_.key_constraints, element)
                yield from _mapped("each_key", variable, element, keys)
                values = self.of(type_.value, type_.value_constraints, element)
                yield from _mapped("each_value", variable, element, values)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR | DeclKind.UNION) if self._types.is_graph(
                type_
            ) or self._facts.constrained(type_):
                yield f"check::holds({variable})"
            case _:
                pass

    def _element(self, variable: str) -> str:
        """A name for the parameter of an inner function, which differs from the names around it."""
        depth = self._depths.get(variable, 0) + 1
        name = f"element{depth}" if depth > 1 else "element"
        while name in self._parameters:
            name += "_"
        self._depths[name] = depth
        return name

    def _own(self, type_: Type, constraint: Constraint, variable: str) -> str:
        match constraint:
            case RangeConstraint():
                return self._range(type_, constraint, variable)
            case LengthConstraint():
                high = "SIZE_MAX" if constraint.high is None else str(constraint.high)
                return f"check::has_length({variable}, {constraint.low}, {high})"
            case FiniteConstraint():
                return f"check::is_finite({variable})"
            case PatternConstraint():
                name = f"kPattern{len(self.patterns)}"
                self.patterns.append(Pattern(name, steps(constraint.pattern)))
                return matches(variable, name, constraint.pattern)

    def _range(self, type_: Type, constraint: RangeConstraint, variable: str) -> str:
        assert isinstance(type_, Primitive)
        spelled = self._types.spell(type_)
        low = _bound(constraint.low, type_.scalar, "lowest")
        high = _bound(constraint.high, type_.scalar, "max")
        texts = f'"{_text(constraint.low)}", "{_text(constraint.high)}"'
        return f"check::in_range<{spelled}>({variable}, {low}, {high}, {texts})"


def _mapped(function: str, variable: str, element: str, inner: Iterable[str]) -> Iterator[str]:
    for each in inner:
        yield f"check::{function}({variable}, [](const auto& {element}) {{ return {each}; }})"


def _bound(value: int | float | None, scalar: Scalar, end: str) -> str:
    if value is not None:
        return scalar_literal(value, scalar)
    if scalar.is_float:
        return scalar_literal(float("-inf") if end == "lowest" else float("inf"), scalar)
    if scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
        return f"(mf::{scalar.value.capitalize()}::{'min' if end == 'lowest' else end})()"
    low, high = scalar.limits()
    return scalar_literal(low if end == "lowest" else high, scalar)


def _text(value: int | float | None) -> str:
    return "" if value is None else repr(value)
