"""F6. Constraints that accept less than before, of a field and inside its type."""

from collections.abc import Iterator

from mfidl import model

_Constraints = tuple[model.Constraint, ...]
_Placed = Iterator[tuple[str, _Constraints]]


def tightened(before: model.Field, after: model.Field) -> Iterator[str]:
    """Clauses such as "lets at most 16 elements pass, before 32"."""
    old = dict(_positions(before.type, before.constraints, ""))
    for where, constraints in _positions(after.type, after.constraints, ""):
        yield from (f"{where}{words}" for words in _tightened(old.get(where, ()), constraints))


def _positions(type_: model.Type, constraints: _Constraints, where: str) -> _Placed:
    yield where, constraints
    match type_:
        case model.OptionalOf(element):
            yield from _positions(element, (), f"{where}(its value) ") if _inner(element) else ()
        case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
            yield from _positions(element, type_.constraints, f"{where}(each element) ")
        case model.MapOf(key, value):
            yield from _positions(key, type_.key_constraints, f"{where}(each key) ")
            yield from _positions(value, type_.value_constraints, f"{where}(each value) ")
        case _:
            pass


def _inner(type_: model.Type) -> bool:
    return isinstance(type_, model.ListOf | model.SetOf | model.ArrayOf | model.MapOf)


def _tightened(old: _Constraints, new: _Constraints) -> Iterator[str]:
    for each in new:
        match each:
            case model.RangeConstraint(low, high):
                bounds = [(c.low, c.high) for c in old if isinstance(c, model.RangeConstraint)]
                if _narrower(low, high, bounds):
                    yield f"takes only {_span(low, high)} now, {_before(bounds)}"
            case model.LengthConstraint(low, high):
                bounds = [(c.low, c.high) for c in old if isinstance(c, model.LengthConstraint)]
                if _narrower(low or None, high, bounds):
                    yield f"takes only lengths of {_span(low, high)} now, {_before(bounds)}"
            case model.FiniteConstraint():
                if each not in old:
                    yield "must be finite now"
            case model.PatternConstraint(pattern):
                if each not in old:
                    yield f"must match {pattern!r} now"


_Bounds = list[tuple[int | float | None, int | float | None]]


def _narrower(low: int | float | None, high: int | float | None, bounds: _Bounds) -> bool:
    """Whether a value that satisfied all old bounds may violate the new ones."""
    lows = [at for at, _ in bounds if at is not None]
    highs = [to for _, to in bounds if to is not None]
    below = low is not None and (not lows or max(lows) < low)
    return below or (high is not None and (not highs or min(highs) > high))


def _span(low: int | float | None, high: int | float | None) -> str:
    return f"{'' if low is None else low}..{'' if high is None else high}"


def _before(bounds: _Bounds) -> str:
    return "before " + " and ".join(_span(low, high) for low, high in bounds) if bounds else "before any"
