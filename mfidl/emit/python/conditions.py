"""F6. Constraints as plain conditions: the body of a generated check_<struct>."""

from collections.abc import Iterable
from textwrap import indent

from mfidl.emit.naming import Scope
from mfidl.emit.python.context import Context
from mfidl.emit.python.facts import element_constraints
from mfidl.emit.python.literals import text_literal
from mfidl.model import (
    ArrayOf,
    Constraint,
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
from mfidl.model.types import DeclKind


class Conditions:
    """`locals_` gives names to loop variables."""

    def __init__(self, context: Context, locals_: Scope) -> None:
        self._context = context
        self._locals = locals_

    def of(self, type_: Type, value: str, name: str, constraints: Iterable[Constraint]) -> str:
        """Statements that give up if `value` violates something; "" if it cannot."""
        if isinstance(type_, OptionalOf):
            inner = self.of(type_.element, value, name, constraints)
            return _unless_absent(value, inner) if inner else ""
        own = "".join(
            f"if {condition}:\n    raise MalformedError\n"
            for condition in (self._violated(each, type_, value) for each in constraints)
        )
        return own + self._inside(type_, value, name)

    def _inside(self, type_: Type, value: str, name: str) -> str:
        match type_:
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                struct = self._context.program.struct(type_)
                if self._context.facts.is_constrained(struct):
                    return f"{self._context.codec_name(type_.full_name, 'check_{}')}({value})\n"
                return ""
            case ListOf() | ArrayOf() | SetOf():
                return self._loop(f"{value}", name, "item", type_.element, type_.constraints)
            case MapOf():
                keys = self._loop(f"{value}", name, "key", type_.key, type_.key_constraints)
                return keys + self._loop(
                    f"{value}.values()", name, "item", type_.value, type_.value_constraints
                )
            case _:
                return ""

    def _loop(self, values: str, name: str, what: str, type_: Type, constraints: Iterable[Constraint]) -> str:
        if not self.can_violate(type_, constraints):
            return ""
        item = self._locals.take(f"{name}_{what}")
        return f"for {item} in {values}:\n{indent(self.of(type_, item, item, constraints), '    ')}"

    def can_violate(self, type_: Type, constraints: Iterable[Constraint]) -> bool:
        if tuple(constraints) or element_constraints(type_):
            return True
        program = self._context.program
        match type_:
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return self._context.facts.is_constrained(program.struct(type_))
            case ListOf() | ArrayOf() | SetOf() | OptionalOf():
                return self.can_violate(type_.element, ())
            case MapOf():
                return self.can_violate(type_.key, ()) or self.can_violate(type_.value, ())
            case _:
                return False

    def _violated(self, constraint: Constraint, type_: Type, value: str) -> str:
        match constraint:
            case RangeConstraint():
                return _outside(constraint.low, value, constraint.high)
            case LengthConstraint():
                is_text = isinstance(type_, Primitive) and type_.scalar is Scalar.STRING
                length = f"len({value}.encode())" if is_text else f"len({value})"
                return _outside(constraint.low, length, constraint.high)
            case FiniteConstraint():
                return f"not {self._context.imports.name('math', 'isfinite')}({value})"
            case PatternConstraint():
                self._context.imports.module("re")
                pattern = text_literal(constraint.pattern)
                return f"re.compile({pattern}, re.ASCII).fullmatch({value}) is None"


def _unless_absent(value: str, inner: str) -> str:
    lines = inner.splitlines()
    if len(lines) == 2 and lines[0].startswith("if "):
        return f"if {value} is not None and {lines[0].removeprefix('if ')}\n{lines[1]}\n"
    return f"if {value} is not None:\n{indent(inner, '    ')}"


def _outside(low: float | None, value: str, high: float | None) -> str:
    if low is not None and high is not None:
        return f"not {low!r} <= {value} <= {high!r}"
    return f"not {value} >= {low!r}" if low is not None else f"not {value} <= {high!r}"
