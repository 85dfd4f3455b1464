"""F4. Values named by members: of enums, and of flags, singly or in a list."""

from collections.abc import Callable

from mfidl import model
from mfidl.semantics.context import Context
from mfidl.semantics.symbols import Kind, Missing, Scope, Symbol
from mfidl.semantics.wording import describe, distinct, mismatch
from mfidl.syntax import ast

_CONST = frozenset((Kind.CONST,))
_ENUM = frozenset((Kind.ENUM, Kind.FLAGS))

# A constant as a value of a type.
ConstantOf = Callable[[ast.NameExpr, model.Type, Scope], model.Value | None]


class Members:
    def __init__(self, context: Context, constant_of: ConstantOf) -> None:
        self._context = context
        self._constant_of = constant_of
        self._values: dict[str, dict[str, model.Value]] = {}
        self._names: dict[str, dict[str, None]] = {}  # of members, whether they have a value or not

    def named(self, expression: ast.NameExpr, type_: model.Named, scope: Scope) -> model.Value | None:
        """`Rank.bm25`, `text.Lang.en`, or a constant of the enum's type."""
        parts = expression.path.parts
        if len(parts) > 1 and not expression.negative:
            holder = ast.Path(parts[:-1], parts[0].span.to(parts[-2].span))
            found = self._context.look_up(holder, scope, _ENUM)
            if found is None:
                return None
            if not isinstance(found, Missing) and found.kind in (Kind.ENUM, Kind.FLAGS, Kind.ALIAS):
                return self._member(expression, found, type_)
            if self._leads_nowhere(expression.path, holder, found, scope):
                return None
        if len(parts) == 1 and scope.seen(expression.path.text) is None:
            name = type_.name
            self._context.diagnostics.error(
                "E0501",
                expression.span,
                help=f"members are written with their {type_.kind.value}: `{name}.{expression.path.text}`",
                expected=f"a member of `{type_.full_name}`",
                found=describe(expression),
            )
            return None
        return self._constant_of(expression, type_, scope)

    def _leads_nowhere(self, path: ast.Path, holder: ast.Path, found: Symbol | Missing, scope: Scope) -> bool:
        """Whether the text before the last dot is neither an enum nor a module; reports it if so."""
        whole = self._context.look_up(path, scope, _CONST)
        if not isinstance(whole, Missing) or whole.code != "E0306":
            return False
        if isinstance(found, Missing) and found.code is not None:  # more is known of what comes before it
            self._context.find(holder, scope, _ENUM, "E0316")
        elif self._context.is_first(scope, holder, "E0316"):
            # The module of `shapes.Rank.first` is known: a name that resembles the whole was not meant.
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
            mismatch(self._context, expression, f"a member of `{wanted.full_name}`")
            return None
        last = expression.path.parts[-1]
        self._context.members.append((last, self._context.symbol(wanted.full_name)))
        values = self._values_of(wanted)
        if values is None or last.text in values:
            return None if values is None else values[last.text]
        declaration = self._context.symbol(wanted.full_name).declaration
        assert isinstance(declaration, ast.EnumDecl)
        names = self._names.get(wanted.full_name)
        if names is None:
            names = dict.fromkeys(member.name.text for member in declaration.members)
            self._names[wanted.full_name] = names
        if declaration.broken or last.text in names:
            return None
        found = self._context.suggester.nearest(last.text, names)
        hint = f"did you mean `{found}`?" if found else None
        self._context.diagnostics.error(
            "E0503", last.span, help=hint, kind=declaration.keyword, enum=wanted.name, name=last.text
        )
        return None

    def _values_of(self, type_: model.Named) -> dict[str, model.Value] | None:
        """All members of an enum or of flags by name, as values; None if the type is wrong."""
        known = self._values.get(type_.full_name)
        if known is not None:
            return known
        made: dict[str, model.Value]
        if type_.kind is model.DeclKind.ENUM:
            enum = self._context.enums.enum_named(type_.full_name)
            if enum is None:
                return None
            name = enum.full_name
            made = {each.name: model.EnumValue(name, each.name, each.number) for each in enum.members}
        else:
            flags = self._context.enums.flags_named(type_.full_name)
            if flags is None:
                return None
            name = flags.full_name
            made = {each.name: model.FlagsValue(name, (each.name,), 1 << each.bit) for each in flags.members}
        return self._values.setdefault(type_.full_name, made)

    def _as_members(self, expression: ast.Expr, type_: model.Named) -> str | None:
        """How a number is written with members, if there is one for each of its bits."""
        flags = self._context.enums.flags_named(type_.full_name)
        if flags is None or not isinstance(expression, ast.IntLiteral) or expression.value < 0:
            return None
        members = [member for member in flags.members if expression.value >> member.bit & 1]
        if sum(1 << member.bit for member in members) != expression.value:
            return None
        return f"write [{', '.join(f'{type_.name}.{member.name}' for member in members)}]"

    def flags(self, expression: ast.Expr, type_: model.Named, scope: Scope) -> model.Value | None:
        """`[Field.title, Field.url]`; elements may be constants of several bits too."""
        if not isinstance(expression, ast.ListExpr):
            expected = f"members of `{type_.full_name}`, one or several in [ ]"
            return mismatch(self._context, expression, expected, self._as_members(expression, type_))
        given: list[model.Value] = []
        for each in expression.elements:
            if isinstance(each, ast.ListExpr):
                return mismatch(self._context, each, f"a member of `{type_.full_name}`")
            value = self._context.values.value(each, type_, scope)
            if value is None:
                return None
            given.append(value)
        if not distinct(self._context, expression.elements, given, "this member"):
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
