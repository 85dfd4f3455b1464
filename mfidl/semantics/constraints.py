"""F4. Constraints: from annotations to the model, and whether a default keeps them."""

import re
import warnings
from collections.abc import Iterable
from typing import Any

from mfidl import model
from mfidl.semantics.annotations import Read, bad_arguments, no_arguments, only_argument
from mfidl.semantics.context import Context
from mfidl.semantics.numbers import as_held
from mfidl.semantics.symbols import Scope
from mfidl.syntax import ast

_PATTERN_LIMIT = 1000
# Matchers that run in linear time write repeats out: this bounds their table, and their work a character.
_STEPS_LIMIT = 20_000
_parser: Any = re._parser  # type: ignore[attr-defined]  # the module that re itself is built on
_NOT_RE2 = (
    (r"\(\?<?[=!]", "look-around"),
    (r"\(\?P=|\\[1-9]", "back reference"),
    (r"\(\?>", "atomic group"),
    (r"\(\?\(", "conditional"),
    (r"(?:[*+?]|\})\+", "possessive repetition"),
    (r"\{(?:[0-9]*,)?0*(?:[1-9][0-9]{4}|[2-9][0-9]{3}|1(?!000)[0-9]{3})", "repetition above 1000"),
)


def bare(type_: model.Type) -> model.Type:
    """What a constraint looks at: aliases expanded, and the present value of an optional."""
    expanded = model.expand(type_)
    return expanded.element if isinstance(expanded, model.OptionalOf) else expanded


def constraints_from(
    context: Context, read: Read, type_: model.Type, scope: Scope
) -> tuple[model.Constraint, ...]:
    """The constraints among annotations that were read, in a fixed order; what does not fit the type is
    reported.
    """
    makers = (("range", _range), ("length", _length), ("finite", _finite), ("pattern", _pattern))
    made = []
    for name, make in makers:
        if name in read:
            constraint = make(context, read[name], bare(type_), scope)
            if constraint is not None:
                made.append(constraint)
    return tuple(made)


def _does_not_fit(context: Context, annotation: ast.Annotation, needs: str, type_: model.Type) -> None:
    name, spelled = annotation.path.text, f"`{model.spell(type_)}`"
    context.diagnostics.error("E0605", annotation.span, name=name, needs=needs, type=spelled)


def _bounds(context: Context, annotation: ast.Annotation, exact: bool) -> ast.RangeExpr | None:
    """The written range; with `exact`, a single value is both bounds."""
    value = only_argument(context, annotation)
    if value is None or isinstance(value, ast.BrokenExpr):
        return None
    if isinstance(value, ast.RangeExpr):
        if value.low is not None or value.high is not None:
            return value
    elif exact:
        return ast.RangeExpr(value, value, value.span)
    bad_arguments(context, annotation)
    return None


def _range(
    context: Context, annotation: ast.Annotation, type_: model.Type, scope: Scope
) -> model.Constraint | None:
    numeric = isinstance(type_, model.Primitive) and (
        type_.scalar.is_integer
        or type_.scalar.is_float
        or type_.scalar in (model.Scalar.TIMESTAMP, model.Scalar.DURATION)
    )
    if not numeric:
        _does_not_fit(context, annotation, "a number, timestamp or duration", type_)
        return None
    written = _bounds(context, annotation, exact=False)
    if written is None:
        return None
    bounds: list[int | float | None] = []
    for side in (written.low, written.high):
        value = None if side is None else context.values.value(side, type_, scope)
        if side is not None and value is None:
            return None
        assert value is None or isinstance(value, int | float)
        bounds.append(value)
    low, high = bounds
    if _is_empty(low, high):
        context.diagnostics.error("E0606", written.span, range=written.span.text())
        return None
    return model.RangeConstraint(low, high)


def _is_empty(low: int | float | None, high: int | float | None) -> bool:
    if any(bound is not None and bound != bound for bound in (low, high)):
        return True  # nan bounds nothing
    return low is not None and high is not None and low > high


def _length(
    context: Context, annotation: ast.Annotation, type_: model.Type, scope: Scope
) -> model.Constraint | None:
    sized = isinstance(type_, model.ListOf | model.SetOf | model.MapOf) or (
        isinstance(type_, model.Primitive) and type_.scalar in (model.Scalar.STRING, model.Scalar.BYTES)
    )
    if not sized:
        _does_not_fit(context, annotation, "a string, bytes, list, set or map", type_)
        return None
    written = _bounds(context, annotation, exact=True)
    if written is None:
        return None
    bounds: list[int | None] = []
    for side in (written.low, written.high):
        count = None if side is None else context.values.whole_number(side, scope, "a length")
        if side is not None and count is None:
            return None
        if side is not None and count is not None and not 0 <= count < 1 << 32:
            context.diagnostics.error("E0502", side.span, value=side.span.text(), type="a length")
            return None
        bounds.append(count)
    low, high = bounds[0] or 0, bounds[1]
    if high is not None and low > high:
        context.diagnostics.error("E0606", written.span, range=written.span.text())
        return None
    return model.LengthConstraint(low, high)


def _finite(
    context: Context, annotation: ast.Annotation, type_: model.Type, _scope: Scope
) -> model.Constraint | None:
    if not (isinstance(type_, model.Primitive) and type_.scalar.is_float):
        _does_not_fit(context, annotation, "an f32 or f64", type_)
        return None
    return model.FiniteConstraint() if no_arguments(context, annotation) else None


def _pattern(
    context: Context, annotation: ast.Annotation, type_: model.Type, _scope: Scope
) -> model.Constraint | None:
    if type_ != model.Primitive(model.Scalar.STRING):
        _does_not_fit(context, annotation, "a string", type_)
        return None
    value = only_argument(context, annotation)
    if value is None or isinstance(value, ast.BrokenExpr):
        return None
    if not isinstance(value, ast.StringLiteral):
        bad_arguments(context, annotation)
        return None
    text = value.data.decode("utf-8", "replace")
    reason = pattern_fault(text)
    if reason:
        context.diagnostics.error("E0607", value.span, reason=reason)
        return None
    return model.PatternConstraint(text)


def pattern_fault(text: str) -> str | None:
    """Why a pattern is not of the RE2 subset, or None."""
    if len(text) > _PATTERN_LIMIT:
        return f"it has more than {_PATTERN_LIMIT} characters"
    # Escaped backslashes and classes cannot hide or fake the constructs looked for.
    plain = re.sub(r"\\[^1-9]", "_", text)
    plain = re.sub(r"\[\^?\]?[^\]]*\]", "_", plain)
    for construct, name in _NOT_RE2:
        if re.search(construct, plain):
            return f"it has a {name}" if name[0] not in "a" else f"it has an {name}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
            steps = _steps(_parser.parse(text, re.ASCII))
    except (re.error, RecursionError, OverflowError) as error:
        return str(error) or "it is too complex"
    if steps > _STEPS_LIMIT:
        return f"written out, its repetitions are {steps} steps; at most {_STEPS_LIMIT} are allowed"
    return None


def _steps(tree: Iterable[tuple[Any, Any]]) -> int:
    """About how many steps a pattern has when each repetition is written out."""
    total = 0
    for operation, argument in tree:
        match str(operation):
            case "MAX_REPEAT" | "MIN_REPEAT":
                low, high, inner = argument
                once = _steps(inner)
                more = once + 2 if high == _parser.MAXREPEAT else (high - low) * (once + 1)
                total += low * once + more
            case "BRANCH":
                total += sum(_steps(branch) + 2 for branch in argument[1])
            case "SUBPATTERN":
                total += _steps(argument[3])
            case "IN":
                total += 1 + len(argument)
            case _:
                total += 2
    return total


def broken_constraint(
    value: model.Value, type_: model.Type, constraints: tuple[model.Constraint, ...]
) -> str | None:
    """The constraint that a value of this type breaks, as written, or None. Patterns are not run."""
    number = bare(type_)
    for constraint in constraints:
        match constraint:
            case model.RangeConstraint(low, high):
                assert isinstance(value, int | float)
                held = as_held(value, number)
                above = low is None or held >= as_held(low, number)
                below = high is None or held <= as_held(high, number)
                if not (above and below):
                    return f"@range({'' if low is None else low}..{'' if high is None else high})"
            case model.LengthConstraint(least, most):
                size = _size(value)
                if size < least or (most is not None and size > most):
                    return f"@length({least}..{'' if most is None else most})"
            case model.FiniteConstraint():
                assert isinstance(value, float)
                if value != value or value in (float("inf"), float("-inf")):
                    return "@finite"
            case model.PatternConstraint():
                pass
    return None


def _size(value: model.Value) -> int:
    match value:
        case str():
            return len(value.encode())
        case bytes():
            return len(value)
        case model.ListValue(elements):
            return len(elements)
        case model.MapValue(entries):
            return len(entries)
        case _:
            return 0
