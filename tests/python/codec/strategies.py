"""Hypothesis strategies for values of a shape, within its constraints."""

import math
from typing import Any

from hypothesis import strategies as st

from mf.codec import rules
from mf.codec import shape as s
from mf.codec.times import Duration, Timestamp

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_MOST = 2


def integers(name: str) -> st.SearchStrategy[int]:
    signed, bits = name[0] == "i", int(name[1:])
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) if signed else st.integers(0, (1 << bits) - 1)


def values(shape: s.Shape, depth: int = 0) -> st.SearchStrategy[Any]:
    match shape:
        case s.Scalar():
            return _scalars(shape.name)
        case s.Enum(members=None):
            return integers(shape.base.name).map(shape.type)
        case s.Enum():
            assert shape.members is not None
            return st.sampled_from(sorted(shape.members)).map(shape.members.__getitem__)
        case s.Checked():
            return values(shape.shape, depth).filter(lambda each: _holds(shape, each)) | _within(shape)
        case s.Optional():
            return st.none() if depth > _MOST else st.none() | values(shape.element, depth + 1)
        case s.List():
            return st.lists(values(shape.element, depth + 1), max_size=0 if depth > _MOST else 4)
        case s.Array():
            return st.lists(values(shape.element, depth + 1), min_size=shape.length, max_size=shape.length)
        case s.Set():
            return st.sets(values(shape.element, depth + 1), max_size=4)
        case s.Map():
            most = 0 if depth > _MOST else 3
            return st.dictionaries(
                values(shape.key, depth + 1), values(shape.value, depth + 1), max_size=most
            )
        case s.Struct():
            make = shape.make
            return st.deferred(
                lambda: st.tuples(*(values(each.shape, depth + 1) for each in shape.fields))
            ).map(lambda parts: make(*parts))
        case s.Union():
            chosen = [each for each in shape.alternatives if depth <= _MOST or _is_leaf(each.shape)]
            return st.one_of([values(each.shape, depth + 1).map(each.type) for each in chosen])
        case _:
            raise TypeError(f"{type(shape).__name__} needs a strategy of its own")


def _is_leaf(shape: s.Shape) -> bool:
    return isinstance(shape.shape if isinstance(shape, s.Checked) else shape, s.Scalar | s.Enum)


def _scalars(name: str) -> st.SearchStrategy[Any]:
    match name:
        case "bool":
            return st.booleans()
        case "f32":
            return st.floats(width=32, allow_nan=False)
        case "f64":
            return st.floats(allow_nan=False)
        case "string":
            return _TEXT
        case "bytes":
            return st.binary(max_size=12)
        case "uuid":
            return st.uuids()
        case "timestamp":
            return integers("i64").map(Timestamp)
        case "duration":
            return integers("i64").map(Duration)
        case _:
            return integers(name)


def _holds(shape: s.Checked, value: Any) -> bool:
    return all(rule.violation(value) is None for rule in shape.rules)


def _within(shape: s.Checked) -> st.SearchStrategy[Any]:
    """A few values that surely satisfy the constraints, so that no filter has to find them."""
    for rule in shape.rules:
        if isinstance(rule, rules.InRange):
            low, high = rule.low or 0, rule.high or 0
            if isinstance(low, float) or isinstance(high, float):
                return st.floats(math.ceil(low), math.floor(high), width=32)
            kind = Duration if shape.shape is s.DURATION else int
            return st.integers(low, high).map(kind)
    return st.nothing()
