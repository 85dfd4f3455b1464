"""F4. Enums; and flags, by name. Both are lowered when first needed, since values name their members."""

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Place, deprecation, own_annotations, read_annotations
from mfidl.semantics.context import Context
from mfidl.semantics.lower.codings import report_codings
from mfidl.semantics.lower.flags import lower_flags
from mfidl.semantics.symbols import Scope, Symbol
from mfidl.semantics.target_names import Targets, TargetScope
from mfidl.syntax import ast


class EnumLowering:
    """Implements `EnumSource`."""

    def __init__(self, context: Context, targets: Targets) -> None:
        self._context = context
        self._targets = targets
        self._symbols = {
            symbol.full_name: symbol
            for scope in context.scopes
            for symbol in (*scope.symbols.values(), *scope.duplicates)
            if isinstance(symbol.declaration, ast.EnumDecl)
        }
        self._known: dict[str, model.Enum | None] = {}
        self._flags: dict[str, model.Flags | None] = {}
        self._open: list[str] = []

    def enum_named(self, full_name: str) -> model.Enum | None:
        if full_name not in self._known and not self._is_open(full_name):
            self._open.append(full_name)
            self._known[full_name] = self._lower(self._symbols[full_name])
            self._open.pop()
        return self._known.get(full_name)

    def flags_named(self, full_name: str) -> model.Flags | None:
        if full_name not in self._flags and not self._is_open(full_name):
            self._open.append(full_name)
            self._flags[full_name] = self._lower_flags(self._symbols[full_name])
            self._open.pop()
        return self._flags.get(full_name)

    def _is_open(self, full_name: str) -> bool:
        """Whether a number of its members asks for one of its members; reports it if so."""
        if full_name not in self._open:
            return False
        symbol = self._symbols[full_name]
        assert isinstance(symbol.declaration, ast.EnumDecl)
        what = f"{symbol.declaration.keyword} `{symbol.name}`"
        self._context.diagnostics.error("E0441", symbol.span, what=what)
        return True

    def _lower_flags(self, symbol: Symbol) -> model.Flags | None:
        return lower_flags(self._context, symbol, self._targets.of(symbol))

    def _lower(self, symbol: Symbol) -> model.Enum | None:
        declaration = symbol.declaration
        assert isinstance(declaration, ast.EnumDecl)
        read = read_annotations(self._context, declaration.annotations, Place.ENUM)
        names = self._targets.of(symbol).read(declaration.name, read)
        base = self._base(declaration, symbol.scope)
        members = self._members(declaration, base, symbol.scope)
        if not declaration.open and not declaration.members and not declaration.broken:
            self._context.diagnostics.error("E0411", declaration.name.span, name=symbol.name)
        if base is None:
            return None
        return model.Enum(
            symbol.name,
            symbol.full_name,
            base,
            declaration.open,
            members,
            declaration.doc,
            deprecation(self._context, read),
            names,
            declaration.name.span,
            own_annotations(self._context, read),
            symbol.within,
        )

    def _base(self, declaration: ast.EnumDecl, scope: Scope) -> model.Primitive | None:
        if declaration.base is None:
            name = declaration.name
            hint = f"enum {name.text}: u8"
            self._context.diagnostics.error("E0414", name.span, help=hint, kind="enum", name=name.text)
            return _assumed(declaration)
        spelled = self._context.types.resolve(declaration.base, scope)
        if spelled is None:
            return None
        base = model.expand(spelled)
        report_codings(self._context, declaration.base, base)
        if isinstance(base, model.Primitive) and base.scalar.is_integer:
            return base
        self._context.diagnostics.error("E0408", declaration.base.span, type=f"`{model.spell(base)}`")
        return None

    def _members(
        self, declaration: ast.EnumDecl, base: model.Primitive | None, scope: Scope
    ) -> tuple[model.EnumMember, ...]:
        names: dict[str, ast.EnumMember] = {}
        numbers: dict[int, ast.EnumMember] = {}
        targets = TargetScope(self._context)
        made = []
        if not declaration.broken and self._none_is_numbered(declaration):
            return ()
        for member in declaration.members:
            name = member.name.text
            read = read_annotations(self._context, member.annotations, Place.MEMBER)
            if name in names:
                notes = [Note("first here", names[name].name.span)]
                self._context.diagnostics.error(
                    "E0304", member.name.span, notes=notes, kind="member", name=name
                )
                if member.value is not None and base is not None:
                    self._context.values.value(member.value, base, scope)
                continue
            names[name] = member
            prescribed = targets.read(member.name, read)
            if member.value is None and declaration.broken:
                continue  # its number is among what did not parse
            number = self._number(member, base, scope, numbers)
            if number is not None:
                numbers[number] = member
                gone = deprecation(self._context, read)
                span = member.name.span
                own = own_annotations(self._context, read)
                made.append(model.EnumMember(name, number, member.doc, gone, prescribed, span, own))
        targets.check()
        return tuple(made)

    def _none_is_numbered(self, declaration: ast.EnumDecl) -> bool:
        """Several members, and no number anywhere: that is one mistake."""
        names = [member.name.text for member in declaration.members]
        if len(names) < 2 or any(member.value is not None for member in declaration.members):
            return False
        shown = ", ".join(f"{name} = {number}" for number, name in enumerate(names[:3]))
        hint = f"write `{shown}`" + (" and so on" if len(names) > 3 else "")
        self._context.diagnostics.error("E0409", declaration.members[0].name.span, help=hint, name=names[0])
        return True

    def _number(
        self,
        member: ast.EnumMember,
        base: model.Primitive | None,
        scope: Scope,
        taken: dict[int, ast.EnumMember],
    ) -> int | None:
        name = member.name.text
        if member.value is None:
            following = max(taken, default=-1) + 1
            hint = f"write `{name} = {following}`"
            self._context.diagnostics.error("E0409", member.name.span, help=hint, name=name)
            return None
        if base is None:
            return None
        number = self._context.values.value(member.value, base, scope)
        if not isinstance(number, int):
            return None
        if number in taken:
            other = taken[number]
            notes = [Note("first here", other.name.span)]
            span = member.value.span
            self._context.diagnostics.error("E0410", span, notes=notes, number=number, other=other.name.text)
            return None
        return number


def _assumed(declaration: ast.EnumDecl) -> model.Primitive:
    """The type of an enum that names none, so that the rest can be checked: its numbers fit."""
    numbers = [each.value.value for each in declaration.members if isinstance(each.value, ast.IntLiteral)]
    least, most = min(numbers, default=0), max(numbers, default=0)
    if least < 0:
        small = least >= -(1 << 31) and most < 1 << 31
        return model.Primitive(model.Scalar.I32 if small else model.Scalar.I64)
    return model.Primitive(model.Scalar.U32 if most < 1 << 32 else model.Scalar.U64)
