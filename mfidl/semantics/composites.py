"""F4. Values that hold others: lists, sets, arrays, maps, structs and unions."""

from collections.abc import Iterable

from mfidl import model
from mfidl.semantics.annotations import Place, read_annotations
from mfidl.semantics.constraints import broken_constraint, constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.numbers import order
from mfidl.semantics.symbols import Scope
from mfidl.semantics.wording import distinct, mismatch
from mfidl.syntax import ast


class Composites:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._members: dict[ast.StructDecl, dict[str, ast.Field]] = {}

    def _members_of(self, declaration: ast.StructDecl) -> dict[str, ast.Field]:
        """Fields or alternatives by name; of two with one name, the first."""
        known = self._members.get(declaration)
        if known is None:
            known = {each.name.text: each for each in reversed(declaration.fields)}
            known = {each.name.text: known[each.name.text] for each in declaration.fields}
            self._members[declaration] = known
        return known

    def elements(
        self, expression: ast.Expr, type_: model.ListOf | model.SetOf | model.ArrayOf, scope: Scope
    ) -> model.Value | None:
        if not isinstance(expression, ast.ListExpr):
            return mismatch(self._context, expression, f"a value of type {model.spell(type_)}, in [ ]")
        made = [self._held(each, type_.element, type_.constraints, scope) for each in expression.elements]
        if isinstance(type_, model.ArrayOf) and len(made) != type_.length:
            self._context.diagnostics.error("E0508", expression.span, expected=type_.length, found=len(made))
            return None
        values = [each for each in made if each is not None]
        if len(values) < len(made):
            return None
        if isinstance(type_, model.SetOf):
            if not distinct(self._context, expression.elements, values, "this element"):
                return None
            values.sort(key=order)
        return model.ListValue(tuple(values))

    def map(self, expression: ast.Expr, type_: model.MapOf, scope: Scope) -> model.Value | None:
        if not isinstance(expression, ast.BraceExpr):
            return mismatch(self._context, expression, f"a value of type {model.spell(type_)}, in {{ }}")
        keys = [self._held(key, type_.key, type_.key_constraints, scope) for key, _ in expression.entries]
        values = [
            self._held(held, type_.value, type_.value_constraints, scope) for _, held in expression.entries
        ]
        pairs = [(k, v) for k, v in zip(keys, values, strict=True) if k is not None and v is not None]
        if len(pairs) < len(keys):
            return None
        if not distinct(
            self._context, [key for key, _ in expression.entries], [key for key, _ in pairs], "this key"
        ):
            return None
        return model.MapValue(tuple(pairs))

    def _held(
        self, expression: ast.Expr, type_: model.Type, constraints: tuple[model.Constraint, ...], scope: Scope
    ) -> model.Value | None:
        """A value inside of another, with the constraints of its place."""
        value = self._context.values.value(expression, type_, scope)
        if value is not None and not self._keeps(expression, value, type_, constraints):
            return None
        return value

    def _keeps(
        self,
        expression: ast.Expr,
        value: model.Value,
        type_: model.Type,
        constraints: tuple[model.Constraint, ...],
    ) -> bool:
        """Whether a value keeps the constraints of its place; reports it if not."""
        broken = broken_constraint(value, type_, constraints)
        if broken is not None:
            text = expression.span.text()
            shown = text if len(text) <= 40 and "\n" not in text else "value"
            self._context.diagnostics.error("E0509", expression.span, value=shown, constraint=broken)
        return broken is None

    def struct(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        if not isinstance(expression, ast.BraceExpr):
            return mismatch(self._context, expression, f"a value of type {type_.full_name}, in {{ }}")
        symbol = self._context.symbol(type_.full_name)
        declaration = symbol.declaration
        assert isinstance(declaration, ast.StructDecl)
        if not declaration.has_body:
            self._context.diagnostics.error("E0511", expression.span, name=declaration.name.text)
            return None
        sound = True
        given: dict[str, ast.Expr] = {}
        fields = self._members_of(declaration)
        for key, held in expression.entries:
            if not isinstance(key, ast.NameExpr) or len(key.path.parts) > 1 or key.negative:
                return mismatch(self._context, key, f"the name of a field of `{declaration.name.text}`")
            name = key.path.text
            if name in given:
                self._context.diagnostics.error("E0506", key.span, what=f"field `{name}`")
                sound = False
            elif name in fields:
                self._context.members.append((key.path.parts[0], symbol))
                given[name] = held
            else:
                sound = False
                if not declaration.broken:
                    self._unknown_field(key, declaration, fields)
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

    def union(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        """`{ number: 1.5 }`: one alternative by its name."""
        if not isinstance(expression, ast.BraceExpr):
            return mismatch(
                self._context, expression, f"an alternative of {type_.full_name}, as {{ name: value }}"
            )
        symbol = self._context.symbol(type_.full_name)
        declaration = symbol.declaration
        assert isinstance(declaration, ast.StructDecl)
        if len(expression.entries) != 1:
            name, found = declaration.name.text, len(expression.entries)
            self._context.diagnostics.error("E0512", expression.span, name=name, found=found)
            return None
        key, held = expression.entries[0]
        if not isinstance(key, ast.NameExpr) or len(key.path.parts) > 1 or key.negative:
            return mismatch(self._context, key, f"the name of an alternative of `{declaration.name.text}`")
        alternatives = self._members_of(declaration)
        alternative = alternatives.get(key.path.text)
        if alternative is None:
            if not declaration.broken:
                self._unknown_field(key, declaration, alternatives)
            return None
        self._context.members.append((key.path.parts[0], symbol))
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
        """The value of one field or alternative; its constraints were read where the struct is declared,
        or will be: once is enough.
        """
        read = read_annotations(self._context, field.annotations, place)
        own = constraints_from(self._context, read, type_, owner)
        return self._held(expression, type_, (*self._context.types.constraints_of(type_), *own), scope)

    def _may_lack(self, field: ast.Field, scope: Scope) -> bool:
        type_ = self._context.types.resolve(field.type, scope)
        return type_ is None or isinstance(model.expand(type_), model.OptionalOf)

    def _unknown_field(self, key: ast.NameExpr, declaration: ast.StructDecl, known: Iterable[str]) -> None:
        name = key.path.text
        found = self._context.suggester.nearest(name, known)
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
