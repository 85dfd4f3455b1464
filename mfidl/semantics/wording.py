"""F4. How messages speak of values: what was written, what was wanted instead, what is there twice."""

from collections.abc import Sequence

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.context import Context
from mfidl.syntax import ast

_WANTED = {
    model.Scalar.BOOL: "true or false",
    model.Scalar.STRING: "a string",
    model.Scalar.BYTES: "bytes in quotes",
    model.Scalar.UUID: 'a uuid in quotes, as "123e4567-e89b-12d3-a456-426614174000"',
    model.Scalar.DURATION: "a duration with a unit, as 200ms",
    model.Scalar.TIMESTAMP: 'nanoseconds since 1970, or a time in quotes, as "2024-02-29T12:30:45Z"',
}


def wanted_scalar(scalar: model.Scalar) -> str:
    kind = "whole number" if scalar.is_integer else "number"
    return _WANTED.get(scalar, f"a {kind} of type {scalar.value}")


def wanted_type(type_: model.Type) -> str:
    if isinstance(type_, model.Primitive):
        return wanted_scalar(type_.scalar)
    if isinstance(type_, model.Named) and type_.kind is model.DeclKind.ENUM:
        return f"a member of `{type_.full_name}`"
    return f"a value of type {model.spell(type_)}"


def describe(expression: ast.Expr) -> str:
    match expression:
        case ast.IntLiteral() | ast.FloatLiteral():
            return f"the number {short(expression)}"
        case ast.DurationLiteral():
            return f"the duration {short(expression)}"
        case ast.StringLiteral():
            return "a string"
        case ast.ListExpr():
            return "a list"
        case ast.BraceExpr():
            return "a value in { }"
        case _:
            return f"`{short(expression)}`"


def short(expression: ast.Expr) -> str:
    text = expression.span.text()
    return text if len(text) <= 40 else text[:37] + "..."


def mismatch(
    context: Context, expression: ast.Expr, expected: str, hint: str | None = None
) -> model.Value | None:
    """Report a value of the wrong kind. Always None: what the caller has for a value then."""
    context.diagnostics.error(
        "E0501", expression.span, help=hint, expected=expected, found=describe(expression)
    )
    return None


def distinct(context: Context, written: Sequence[ast.Expr], values: Sequence[model.Value], what: str) -> bool:
    """Whether values are pairwise different; reports the first that is not."""
    seen: dict[model.Value, ast.Expr] = {}
    for expression, value in zip(written, values, strict=True):
        if value in seen:
            notes = [Note("first here", seen[value].span)]
            context.diagnostics.error("E0506", expression.span, notes=notes, what=what)
            return False
        seen[value] = expression
    return True
