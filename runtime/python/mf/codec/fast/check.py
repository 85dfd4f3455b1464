"""R1. Constraints as plain conditions: the bodies of the check functions."""

from mf.codec import rules
from mf.codec import shape as s
from mf.codec.fast.unit import Unit, bare, indented


class Checking:
    """`constrained`: the types that have something to check."""

    def __init__(self, unit: Unit, constrained: "set[s.Composite]") -> None:
        self._unit = unit
        self._constrained = constrained

    def body(self, shape: s.Struct | s.Union) -> list[str]:
        if isinstance(shape, s.Union):
            return self._union(shape)
        single = shape.parts is s.bare_parts
        return [
            line
            for each in shape.fields
            for line in self._of(each.shape, "value" if single else f"value.{each.attribute}")
        ]

    def parts(self, shape: s.Struct) -> list[str]:
        """Of a tuple of parameters, as they are read."""
        return [line for at, each in enumerate(shape.fields) for line in self._of(each.shape, f"value[{at}]")]

    def _union(self, shape: s.Union) -> list[str]:
        lines = ["kind = type(value)"]
        for each in shape.alternatives:
            inner = self._of(each.shape, "value.value")
            if inner:
                lines += [f"if kind is {self._unit.constant('kind', each.type)}:", *indented(inner)]
        return lines

    def _of(self, shape: s.Shape, value: str) -> list[str]:
        """Statements that give up if `value` violates something; none if it cannot."""
        match shape:
            case s.Checked(shape=inner, rules=own):
                conditions = [self._violated(rule, inner, value) for rule in own]
                tests = [line for each in conditions for line in (f"if {each}:", "    raise MalformedError")]
                return [*tests, *self._of(inner, value)]
            case s.Optional(element=element):
                lines = self._of(element, value)
                return [f"if {value} is not None:", *indented(lines)] if lines else []
            case s.Struct() | s.Union():
                known = shape in self._constrained
                return [f"{self._unit.function(shape, 'check_written')}({value})"] if known else []
            case s.List(element=element) | s.Array(element=element) | s.Set(element=element):
                return self._each(value, element)
            case s.Map(key=key, value=item):
                return [*self._each(value, key), *self._each(f"{value}.values()", item)]
            case _:
                return []

    def _each(self, values: str, shape: s.Shape) -> list[str]:
        item = self._unit.local("item")
        lines = self._of(shape, item)
        return [f"for {item} in {values}:", *indented(lines)] if lines else []

    def _violated(self, rule: rules.Rule, shape: s.Shape, value: str) -> str:
        match rule:
            case rules.InRange(low=low, high=high):
                return _outside(self._bound(low), value, self._bound(high))
            case rules.HasLength(low=low, high=high):
                plain = bare(shape)
                is_text = isinstance(plain, s.Scalar) and plain.name == "string"
                length = f"len({value}.encode())" if is_text else f"len({value})"
                return _outside(str(low), length, None if high is None else str(high))
            case rules.IsFinite():
                from math import isfinite

                return f"not {self._unit.constant('isfinite', isfinite)}({value})"
            case rules.Matches(pattern=pattern):
                return f"{self._unit.constant('matches', pattern.fullmatch)}({value}) is None"
            case _:
                return f"{self._unit.constant('rule', rule)}.violation({value}) is not None"

    def _bound(self, bound: float | None) -> str | None:
        if bound is None or abs(bound) != float("inf"):
            return None if bound is None else repr(bound)
        return self._unit.constant("bound", bound)


def _outside(low: str | None, value: str, high: str | None) -> str:
    if low is not None and high is not None:
        return f"not {low} <= {value} <= {high}"
    return f"not {value} >= {low}" if low is not None else f"not {value} <= {high}"
