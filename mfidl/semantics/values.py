"""F4. Values of constants, defaults, bounds and enum members, checked against the type they stand for."""

import math
from collections.abc import Callable
from typing import TypeVar

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.diagnostics.suggest import nearest
from mfidl.semantics import moments
from mfidl.semantics.annotations import Place, read_annotations
from mfidl.semantics.constraints import broken_constraint, constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.numbers import as_float, fits_kind, is_integer, order, weight
from mfidl.semantics.symbols import Kind, Missing, Scope, Symbol, look_up
from mfidl.semantics.wording import describe, short, wanted_scalar
from mfidl.syntax import ast
from mfidl.syntax.habits import VALUES
from mfidl.syntax.tokens import DEPTH_LIMIT

_CONST = frozenset((Kind.CONST,))
_ENUM = frozenset((Kind.ENUM, Kind.FLAGS))
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
        found = look_up(scope, holder, frozenset(), self._context.scopes)
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
                return self._enum_value(expression, type_, scope)
            if expression.path.text in _WORDS and expression.path.text not in scope.symbols:
                return self._mismatch(expression, self._wanted(type_))
            return self._from_constant(expression, type_, scope)
        match type_:
            case model.Primitive(scalar):
                return self._scalar(expression, scalar)
            case model.ListOf() | model.SetOf() | model.ArrayOf():
                return self._elements(expression, type_, scope)
            case model.MapOf():
                return self._map(expression, type_, scope)
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
                return self._mismatch(expression, f"a member of `{type_.full_name}`")
            case model.DeclKind.FLAGS:
                return self._flags(expression, type_, scope)
            case model.DeclKind.UNION:
                return self._union(expression, type_, scope)
            case _:
                return self._struct(expression, type_, scope)

    def _wanted(self, type_: model.Type) -> str:
        if isinstance(type_, model.Primitive):
            return wanted_scalar(type_.scalar)
        return f"a value of type {model.spell(type_)}"

    def _is_word(self, expression: ast.NameExpr, type_: model.Type) -> bool:
        """true, false, inf and nan, where their types are wanted."""
        if not isinstance(type_, model.Primitive):
            return False
        word = expression.path.text
        if type_.scalar is model.Scalar.BOOL:
            return word in ("true", "false") and not expression.negative
        return type_.scalar.is_float and (word == "inf" or (word == "nan" and not expression.negative))

    def _mismatch(self, expression: ast.Expr, expected: str, hint: str | None = None) -> model.Value | None:
        self._context.diagnostics.error(
            "E0501", expression.span, help=hint, expected=expected, found=describe(expression)
        )
        return None

    def _from_constant(self, expression: ast.NameExpr, type_: model.Type, scope: Scope) -> model.Value | None:
        name = expression.path.text
        is_text = isinstance(type_, model.Primitive) and type_.scalar is model.Scalar.STRING
        if is_text and name not in scope.symbols and "." not in name and name not in VALUES:
            if self._context.is_first(scope, expression.path, "E0308"):
                near = nearest(
                    name, [each.name for each in scope.symbols.values() if each.kind is Kind.CONST]
                )
                hint = (
                    f"did you mean `{near}`?"
                    if near and near.lower() != name
                    else f'a text stands in quotes: "{name}"'
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
        return self._mismatch(expression, wanted_scalar(scalar))

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

    def _enum_value(self, expression: ast.NameExpr, type_: model.Named, scope: Scope) -> model.Value | None:
        """`Rank.bm25`, `text.Lang.en`, or a constant of the enum's type."""
        parts = expression.path.parts
        if len(parts) > 1 and not expression.negative:
            holder = ast.Path(parts[:-1], parts[0].span.to(parts[-2].span))
            found = look_up(scope, holder, _ENUM, self._context.scopes)
            if found is None:
                return None
            if not isinstance(found, Missing) and found.kind in (Kind.ENUM, Kind.FLAGS, Kind.ALIAS):
                return self._member(expression, found, type_)
            if self._leads_nowhere(expression.path, holder, found, scope):
                return None
        if len(parts) == 1 and expression.path.text not in scope.symbols:
            name = type_.name
            self._context.diagnostics.error(
                "E0501",
                expression.span,
                help=f"members are written with their {type_.kind.value}: `{name}.{expression.path.text}`",
                expected=f"a member of `{type_.full_name}`",
                found=describe(expression),
            )
            return None
        return self._from_constant(expression, type_, scope)

    def _leads_nowhere(self, path: ast.Path, holder: ast.Path, found: Symbol | Missing, scope: Scope) -> bool:
        """Whether what stands before the last dot is no enum, and no module either; reports it if so."""
        whole = look_up(scope, path, _CONST, self._context.scopes)
        if not isinstance(whole, Missing) or whole.code != "E0306":
            return False
        if isinstance(found, Missing) and found.code is not None:  # more is known of what stands before it
            self._context.find(holder, scope, _ENUM, "E0316")
        elif self._context.is_first(scope, holder, "E0316"):
            # Of `shapes.Rank.first` the module is known: what resembles the whole was not meant.
            near = found if isinstance(found, Missing) and (found.help or len(holder.parts) > 1) else whole
            self._context.diagnostics.error("E0316", holder.span, help=near.help, name=holder.text)
        return True

    def _member(self, expression: ast.NameExpr, holder: Symbol, wanted: model.Named) -> model.Value | None:
        if holder.kind is Kind.ALIAS:
            assert isinstance(holder.declaration, ast.AliasDecl)
            target = self._context.types.resolve(holder.declaration.type, holder.scope)
            named = None if target is None else model.expand(target)
            if named is None:
                return None
        else:
            kind = model.DeclKind.ENUM if holder.kind is Kind.ENUM else model.DeclKind.FLAGS
            named = model.Named(holder.full_name, kind)
        if named != wanted:
            self._mismatch(expression, f"a member of `{wanted.full_name}`")
            return None
        last = expression.path.parts[-1]
        if wanted.kind is model.DeclKind.ENUM:
            enum = self._context.enums.enum_named(wanted.full_name)
            if enum is None:
                return None
            for member in enum.members:
                if member.name == last.text:
                    return model.EnumValue(enum.full_name, member.name, member.number)
        else:
            flags = self._context.enums.flags_named(wanted.full_name)
            if flags is None:
                return None
            for bit in flags.members:
                if bit.name == last.text:
                    return model.FlagsValue(flags.full_name, (bit.name,), 1 << bit.bit)
        declaration = self._context.symbol(wanted.full_name).declaration
        assert isinstance(declaration, ast.EnumDecl)
        if declaration.broken or any(member.name.text == last.text for member in declaration.members):
            return None
        found = nearest(last.text, [member.name.text for member in declaration.members])
        hint = f"did you mean `{found}`?" if found else None
        self._context.diagnostics.error(
            "E0503", last.span, help=hint, kind=declaration.keyword, enum=wanted.name, name=last.text
        )
        return None

    def _as_members(self, expression: ast.Expr, type_: model.Named) -> str | None:
        """How a number is written with members, if there is one for each of its bits."""
        flags = self._context.enums.flags_named(type_.full_name)
        if flags is None or not isinstance(expression, ast.IntLiteral) or expression.value < 0:
            return None
        members = [member for member in flags.members if expression.value >> member.bit & 1]
        if sum(1 << member.bit for member in members) != expression.value:
            return None
        return f"write [{', '.join(f'{type_.name}.{member.name}' for member in members)}]"

    def _flags(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        """`[Field.title, Field.url]`; elements may be constants of several bits too."""
        if not isinstance(expression, ast.ListExpr):
            expected = f"members of `{type_.full_name}`, one or several in [ ]"
            return self._mismatch(expression, expected, self._as_members(expression, type_))
        given: list[model.Value] = []
        for each in expression.elements:
            if isinstance(each, ast.ListExpr):
                return self._mismatch(each, f"a member of `{type_.full_name}`")
            value = self.value(each, type_, scope)
            if value is None:
                return None
            given.append(value)
        if not self._distinct(expression.elements, given, "this member"):
            return None
        flags = self._context.enums.flags_named(type_.full_name)
        if flags is None:
            return None
        bits = 0
        for value in given:
            assert isinstance(value, model.FlagsValue)
            bits |= value.bits
        members = tuple(member.name for member in flags.members if bits >> member.bit & 1)
        return model.FlagsValue(flags.full_name, members, bits)

    # Containers ---------------------------------------------------------------------------------------------

    def _elements(
        self, expression: ast.Expr, type_: model.ListOf | model.SetOf | model.ArrayOf, scope: Scope
    ) -> model.Value | None:
        if not isinstance(expression, ast.ListExpr):
            return self._mismatch(expression, f"a value of type {model.spell(type_)}, in [ ]")
        made = [self._held(each, type_.element, type_.constraints, scope) for each in expression.elements]
        if isinstance(type_, model.ArrayOf) and len(made) != type_.length:
            self._context.diagnostics.error("E0508", expression.span, expected=type_.length, found=len(made))
            return None
        values = [each for each in made if each is not None]
        if len(values) < len(made):
            return None
        if isinstance(type_, model.SetOf):
            if not self._distinct(expression.elements, values, "this element"):
                return None
            values.sort(key=order)
        return model.ListValue(tuple(values))

    def _map(self, expression: ast.Expr, type_: model.MapOf, scope: Scope) -> model.Value | None:
        if not isinstance(expression, ast.BraceExpr):
            return self._mismatch(expression, f"a value of type {model.spell(type_)}, in {{ }}")
        keys = [self._held(key, type_.key, type_.key_constraints, scope) for key, _ in expression.entries]
        values = [
            self._held(held, type_.value, type_.value_constraints, scope) for _, held in expression.entries
        ]
        pairs = [(k, v) for k, v in zip(keys, values, strict=True) if k is not None and v is not None]
        if len(pairs) < len(keys):
            return None
        if not self._distinct([key for key, _ in expression.entries], [key for key, _ in pairs], "this key"):
            return None
        return model.MapValue(tuple(pairs))

    def _distinct(
        self, written: list[ast.Expr] | tuple[ast.Expr, ...], values: list[model.Value], what: str
    ) -> bool:
        seen: dict[model.Value, ast.Expr] = {}
        for expression, value in zip(written, values, strict=True):
            if value in seen:
                notes = [Note("first here", seen[value].span)]
                self._context.diagnostics.error("E0506", expression.span, notes=notes, what=what)
                return False
            seen[value] = expression
        return True

    def _held(
        self, expression: ast.Expr, type_: model.Type, constraints: tuple[model.Constraint, ...], scope: Scope
    ) -> model.Value | None:
        """A value inside of another, with the constraints of its place."""
        value = self.value(expression, type_, scope)
        if value is not None and not self.keeps(expression, value, constraints):
            return None
        return value

    def keeps(
        self, expression: ast.Expr, value: model.Value, constraints: tuple[model.Constraint, ...]
    ) -> bool:
        """Whether a value keeps the constraints of its place; reports it if not."""
        broken = broken_constraint(value, constraints)
        if broken is not None:
            text = expression.span.text()
            shown = text if len(text) <= 40 and "\n" not in text else "value"
            self._context.diagnostics.error("E0509", expression.span, value=shown, constraint=broken)
        return broken is None

    def _struct(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        if not isinstance(expression, ast.BraceExpr):
            return self._mismatch(expression, f"a value of type {type_.full_name}, in {{ }}")
        symbol = self._context.symbol(type_.full_name)
        declaration = symbol.declaration
        assert isinstance(declaration, ast.StructDecl)
        if not declaration.has_body:
            self._context.diagnostics.error("E0511", expression.span, name=declaration.name.text)
            return None
        sound = True
        given: dict[str, ast.Expr] = {}
        fields = {each.name.text: each for each in declaration.fields}
        for key, held in expression.entries:
            if not isinstance(key, ast.NameExpr) or len(key.path.parts) > 1 or key.negative:
                return self._mismatch(key, f"the name of a field of `{declaration.name.text}`")
            name = key.path.text
            if name in given:
                self._context.diagnostics.error("E0506", key.span, what=f"field `{name}`")
                sound = False
            elif name in fields:
                given[name] = held
            else:
                sound = False
                if not declaration.broken:
                    self._unknown_field(key, declaration, list(fields))
        made = []
        for name, field in fields.items():
            if name in given:
                own = self._context.types.resolve(field.type, symbol.scope)
                value = None if own is None else self._field(given[name], field, own, symbol.scope, scope)
                if value is not None:
                    made.append((name, value))
            elif sound and field.default is None and not self._may_lack(field, symbol.scope):
                struct_name = declaration.name.text
                self._context.diagnostics.error("E0505", expression.span, struct=struct_name, name=name)
                sound = False
        return model.StructValue(type_.full_name, tuple(made)) if sound and len(made) == len(given) else None

    def _union(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        """`{ number: 1.5 }`: one alternative by its name."""
        if not isinstance(expression, ast.BraceExpr):
            return self._mismatch(expression, f"an alternative of {type_.full_name}, as {{ name: value }}")
        symbol = self._context.symbol(type_.full_name)
        declaration = symbol.declaration
        assert isinstance(declaration, ast.StructDecl)
        if len(expression.entries) != 1:
            name, found = declaration.name.text, len(expression.entries)
            self._context.diagnostics.error("E0512", expression.span, name=name, found=found)
            return None
        key, held = expression.entries[0]
        if not isinstance(key, ast.NameExpr) or len(key.path.parts) > 1 or key.negative:
            return self._mismatch(key, f"the name of an alternative of `{declaration.name.text}`")
        alternatives = {each.name.text: each for each in reversed(declaration.fields)}
        alternative = alternatives.get(key.path.text)
        if alternative is None:
            if not declaration.broken:
                self._unknown_field(key, declaration, list(alternatives))
            return None
        own = self._context.types.resolve(alternative.type, symbol.scope)
        value = (
            None
            if own is None
            else self._field(held, alternative, own, symbol.scope, scope, Place.ALTERNATIVE)
        )
        return None if value is None else model.UnionValue(type_.full_name, key.path.text, value)

    def _field(
        self,
        expression: ast.Expr,
        field: ast.Field,
        type_: model.Type,
        owner: Scope,
        scope: Scope,
        place: Place = Place.FIELD,
    ) -> model.Value | None:
        """The value of one field or alternative; its constraints were read where the struct stands, or will
        be: once is enough.
        """
        read = read_annotations(self._context, field.annotations, place)
        own = constraints_from(self._context, read, type_, owner)
        return self._held(expression, type_, (*self._context.types.constraints_of(type_), *own), scope)

    def _may_lack(self, field: ast.Field, scope: Scope) -> bool:
        type_ = self._context.types.resolve(field.type, scope)
        return type_ is None or isinstance(model.expand(type_), model.OptionalOf)

    def _unknown_field(self, key: ast.NameExpr, declaration: ast.StructDecl, known: list[str]) -> None:
        name = key.path.text
        found = nearest(name, known)
        hint = f"did you mean `{found}`?" if found else None
        member = "alternative" if declaration.keyword == "union" else "field"
        self._context.diagnostics.error(
            "E0504",
            key.span,
            help=hint,
            kind=declaration.keyword,
            struct=declaration.name.text,
            member=member,
            name=name,
        )
