"""F4. Values of constants, defaults, bounds and enum members, checked against the type they stand for."""

import math
from collections.abc import Callable
from typing import TypeVar

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics import moments
from mfidl.semantics.composites import Composites
from mfidl.semantics.context import Context
from mfidl.semantics.members import Members
from mfidl.semantics.numbers import as_float, fits_kind, is_integer, weight
from mfidl.semantics.symbols import Kind, Scope, Symbol
from mfidl.semantics.wording import mismatch, short, wanted_scalar, wanted_type
from mfidl.syntax import ast
from mfidl.syntax.habits import VALUES
from mfidl.syntax.tokens import DEPTH_LIMIT

_CONST = frozenset((Kind.CONST,))
_WITH_MEMBERS = (model.DeclKind.ENUM, model.DeclKind.FLAGS)
_WORDS = frozenset(("true", "false", "inf", "nan"))
_T = TypeVar("_T")
# What constants may come to where they are used, in elements and bytes of text: generators write it out.
WRITTEN_OUT_LIMIT = 1 << 20
_I64 = (-(1 << 63), (1 << 63) - 1)


class Evaluator:
    """Implements `ValueSource`. Constants are evaluated where they are first used, and once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._constants: dict[str, tuple[model.Type, model.Value] | None] = {}
        self._open: list[Symbol] = []
        self._members = Members(context, self._from_constant)
        self._composites = Composites(context)
        self._weights: dict[str, int] = {}
        self._written_out = 0  # all uses of constants, by what they stand for

    # Constants ----------------------------------------------------------------------------------------------

    def constant(self, symbol: Symbol) -> tuple[model.Type, model.Value] | None:
        """Spelled type and value of a constant; None if it is wrong, which is then reported once."""
        if symbol.full_name in self._constants:
            return self._constants[symbol.full_name]
        declaration = symbol.declaration
        assert isinstance(declaration, ast.ConstDecl)
        if symbol in self._open:
            loop = self._open[self._open.index(symbol) :]
            notes = [Note(f"through `{each.name}`", each.span) for each in loop[1:]]
            self._context.diagnostics.error("E0507", symbol.span, notes=notes, name=symbol.name)
            for each in loop:
                self._constants[each.full_name] = None
            return None
        if len(self._open) >= DEPTH_LIMIT:
            self._context.diagnostics.error("E0108", declaration.value.span, limit=DEPTH_LIMIT)
            return None
        self._open.append(symbol)
        type_ = self._context.types.resolve(declaration.type, symbol.scope)
        value = None if type_ is None else self.value(declaration.value, type_, symbol.scope)
        self._open.pop()
        made = None if type_ is None or value is None else (type_, value)
        self._weights[symbol.full_name] = 0 if value is None else weight(value)
        return self._constants.setdefault(symbol.full_name, made)

    def whole_number(self, expression: ast.Expr, scope: Scope, what: str) -> int | None:
        if isinstance(expression, ast.IntLiteral):
            return expression.value
        if isinstance(expression, ast.BrokenExpr):
            return None
        if isinstance(expression, ast.NameExpr):
            found = self._named_constant(expression, scope)
            if found is None:
                return None
            type_, value = found
            if isinstance(value, int) and not isinstance(value, bool) and is_integer(type_):
                return -value if expression.negative else value
        self._context.diagnostics.error("E0613", expression.span, what=what)
        return None

    def _named_constant(
        self, expression: ast.NameExpr, scope: Scope
    ) -> tuple[model.Type, model.Value] | None:
        holder = self._enum_before(expression.path, scope)
        if holder is not None:
            notes, kind = holder.notes(), f"a member of {holder.kind.value}"
            name = expression.path.text
            self._context.diagnostics.error("E0309", expression.span, notes=notes, name=name, kind=kind)
            return None
        symbol = self._context.find(expression.path, scope, _CONST, "E0308")
        if symbol is None:
            return None
        if symbol.kind is not Kind.CONST:
            notes, kind = symbol.notes(), symbol.kind.value
            self._context.diagnostics.error(
                "E0309", expression.span, notes=notes, name=symbol.name, kind=kind
            )
            return None
        made = self.constant(symbol)
        return made if made is None or self._has_room(symbol, expression) else None

    def _has_room(self, symbol: Symbol, expression: ast.NameExpr) -> bool:
        """Whether all constants that are used still fit when they are written out; reported once if not."""
        before = self._written_out
        self._written_out += self._weights[symbol.full_name]
        if before <= WRITTEN_OUT_LIMIT < self._written_out:
            self._context.diagnostics.error(
                "E0515", expression.span, name=symbol.name, limit=WRITTEN_OUT_LIMIT
            )
        return self._written_out <= WRITTEN_OUT_LIMIT

    def _enum_before(self, path: ast.Path, scope: Scope) -> Symbol | None:
        """The enum or flags of `Rank.bm25`, where neither is wanted."""
        if len(path.parts) < 2 or path.text.rpartition(".")[0] in scope.modules:
            return None
        holder = ast.Path(path.parts[:-1], path.parts[0].span.to(path.parts[-2].span))
        found = self._context.look_up(holder, scope, frozenset())
        is_enum = isinstance(found, Symbol) and found.kind in (Kind.ENUM, Kind.FLAGS)
        return found if is_enum and isinstance(found, Symbol) else None

    # Values by type -----------------------------------------------------------------------------------------

    def value(self, expression: ast.Expr, wanted: model.Type, scope: Scope) -> model.Value | None:
        if isinstance(expression, ast.BrokenExpr):
            return None
        type_ = model.expand(wanted)
        if isinstance(type_, model.OptionalOf):
            type_ = type_.element
        if isinstance(expression, ast.NameExpr) and not self._is_word(expression, type_):
            if isinstance(type_, model.Named) and type_.kind in _WITH_MEMBERS:
                return self._members.named(expression, type_, scope)
            if expression.path.text in _WORDS and scope.seen(expression.path.text) is None:
                return mismatch(self._context, expression, wanted_type(type_))
            return self._from_constant(expression, type_, scope)
        match type_:
            case model.Primitive(scalar):
                return self._scalar(expression, scalar)
            case model.ListOf() | model.SetOf() | model.ArrayOf():
                return self._composites.elements(expression, type_, scope)
            case model.MapOf():
                return self._composites.map(expression, type_, scope)
            case model.Named():
                return self._declared(expression, type_, scope)
            case model.RefOf():
                self._context.diagnostics.error("E0513", expression.span)
                return None
            case _:
                return None

    def _declared(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        match type_.kind:
            case model.DeclKind.ENUM:
                return mismatch(self._context, expression, wanted_type(type_))
            case model.DeclKind.FLAGS:
                return self._members.flags(expression, type_, scope)
            case model.DeclKind.UNION:
                return self._composites.union(expression, type_, scope)
            case _:
                return self._composites.struct(expression, type_, scope)

    def _is_word(self, expression: ast.NameExpr, type_: model.Type) -> bool:
        """true, false, inf and nan, where their types are wanted."""
        if not isinstance(type_, model.Primitive):
            return False
        word = expression.path.text
        if type_.scalar is model.Scalar.BOOL:
            return word in ("true", "false") and not expression.negative
        return type_.scalar.is_float and (word == "inf" or (word == "nan" and not expression.negative))

    def _from_constant(self, expression: ast.NameExpr, type_: model.Type, scope: Scope) -> model.Value | None:
        name = expression.path.text
        is_text = isinstance(type_, model.Primitive) and type_.scalar is model.Scalar.STRING
        if is_text and scope.seen(name) is None and "." not in name and name not in VALUES:
            if self._context.is_first(scope, expression.path, "E0308"):
                constants = (each.name for each in scope.symbols.values() if each.kind is Kind.CONST)
                near = self._context.suggester.nearest(name, constants)
                hint = (
                    f"did you mean `{near}`?"
                    if near and near.lower() != name
                    else f'a text is written in quotes: "{name}"'
                )
                self._context.diagnostics.error("E0308", expression.span, help=hint, name=name)
            return None
        found = self._named_constant(expression, scope)
        if found is None:
            return None
        own, value = model.expand(found[0]), found[1]
        if isinstance(own, model.OptionalOf):
            own = own.element
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = -value if expression.negative else value
            if isinstance(value, float) and math.isinf(value) and type_ == own:
                return number
            if fits_kind(own, type_) and isinstance(type_, model.Primitive):
                return self._number(expression, number, type_.scalar)
        if own != type_ or expression.negative:
            found_words = f"constant `{expression.path.text}` of type {model.spell(own)}"
            self._context.diagnostics.error(
                "E0501", expression.span, expected=f"a value of type {model.spell(type_)}", found=found_words
            )
            return None
        return value

    # Scalars ------------------------------------------------------------------------------------------------

    def _scalar(self, expression: ast.Expr, scalar: model.Scalar) -> model.Value | None:
        match scalar, expression:
            case model.Scalar.BOOL, ast.NameExpr(path):
                return path.text == "true"
            case _, ast.NameExpr(path, negative):  # only inf and nan come here
                return float(path.text) * (-1 if negative else 1)
            case model.Scalar.STRING, ast.StringLiteral(data):
                return self._text(expression, data)
            case model.Scalar.BYTES, ast.StringLiteral(data):
                return data
            case model.Scalar.UUID, ast.StringLiteral():
                return self._moment(expression, moments.uuid, "uuid")
            case model.Scalar.TIMESTAMP, ast.StringLiteral():
                nanoseconds = self._moment(expression, moments.timestamp, "timestamp")
                return None if nanoseconds is None else self._number(expression, nanoseconds, scalar)
            case model.Scalar.DURATION, ast.DurationLiteral(nanoseconds):
                return self._number(expression, nanoseconds, scalar)
            case model.Scalar.TIMESTAMP, ast.IntLiteral(value):
                return self._number(expression, value, scalar)
            case _, ast.IntLiteral(value) if scalar.is_integer or scalar.is_float:
                return self._number(expression, value, scalar)
            case _, ast.FloatLiteral(number) if scalar.is_float:
                return self._number(expression, number, scalar)
        return mismatch(self._context, expression, wanted_scalar(scalar))

    def _moment(self, literal: ast.StringLiteral, read: Callable[[str], _T], what: str) -> _T | None:
        """What a text literal says, if it is one of its kind."""
        text = literal.data.decode("utf-8", "replace")
        try:
            return read(text)
        except moments.MalformedError as fault:
            self._context.diagnostics.error(
                "E0514", literal.span, help=fault.help, text=short(literal), what=what, reason=fault.reason
            )
            return None

    def _text(self, expression: ast.Expr, data: bytes) -> str | None:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self._context.diagnostics.error("E0510", expression.span)
            return None

    def _number(self, expression: ast.Expr, value: int | float, scalar: model.Scalar) -> int | float | None:
        """The number, if the type holds it."""
        if scalar.is_float:
            number = as_float(value, scalar)
            if number is not None:
                return number
        elif isinstance(value, int):
            low, high = scalar.limits() if scalar.is_integer else _I64
            if low <= value <= high:
                return value
        hint = None
        if scalar.is_integer:
            low, high = scalar.limits()
            hint = f"{scalar.value} holds {low} to {high}"
        elif not scalar.is_float:
            hint = "nanoseconds in 64 bits: about 292 years"
        value_text = short(expression)
        self._context.diagnostics.error(
            "E0502", expression.span, help=hint, value=value_text, type=scalar.value
        )
        return None
