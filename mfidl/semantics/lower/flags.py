"""F4. Flags: named bits of an unsigned integer. A member without a value is the bit behind the one before."""

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Place, deprecation, own_annotations, read_annotations
from mfidl.semantics.context import Context
from mfidl.semantics.lower.codings import report_codings
from mfidl.semantics.symbols import Scope, Symbol
from mfidl.semantics.target_names import TargetScope
from mfidl.syntax import ast


def lower_flags(context: Context, symbol: Symbol, targets: TargetScope) -> model.Flags | None:
    declaration = symbol.declaration
    assert isinstance(declaration, ast.EnumDecl)
    read = read_annotations(context, declaration.annotations, Place.FLAGS)
    names = targets.read(declaration.name, read)
    base = _base(context, declaration, symbol.scope)
    members = _Members(context, declaration, base, symbol.scope).made()
    if base is None:
        return None
    return model.Flags(
        symbol.name,
        symbol.full_name,
        base,
        members,
        declaration.doc,
        deprecation(context, read),
        names,
        declaration.name.span,
        own_annotations(context, read),
        symbol.within,
    )


def _base(context: Context, declaration: ast.EnumDecl, scope: Scope) -> model.Primitive | None:
    name = declaration.name
    if declaration.base is None:
        wide = f"flags {name.text}: {_width(len(declaration.members))}"
        context.diagnostics.error("E0414", name.span, help=wide, kind="flags", name=name.text)
        return model.Primitive(model.Scalar.U64)  # the rest can be checked, and every bit fits
    spelled = context.types.resolve(declaration.base, scope)
    if spelled is None:
        return None
    base = model.expand(spelled)
    report_codings(context, declaration.base, base)
    if isinstance(base, model.Primitive) and base.scalar.is_integer and not base.scalar.is_signed:
        return base
    hint = fix = None
    if isinstance(base, model.Primitive) and base.scalar.is_integer:
        fix = f"u{base.scalar.bits}"
        hint = f"write {fix}"
    context.diagnostics.error(
        "E0417", declaration.base.span, help=hint, fix=fix, type=f"`{model.spell(base)}`"
    )
    return None


def _width(members: int) -> str:
    return next((f"u{bits}" for bits in (8, 16, 32) if members <= bits), "u64")


class _Members:
    def __init__(
        self, context: Context, declaration: ast.EnumDecl, base: model.Primitive | None, scope: Scope
    ) -> None:
        self._context = context
        self._declaration = declaration
        self._base = base
        self._scope = scope
        self._bits: dict[int, ast.EnumMember] = {}
        self._next: int | None = 0  # None: it depends on a member that is not understood

    def made(self) -> tuple[model.FlagsMember, ...]:
        names: dict[str, ast.EnumMember] = {}
        targets = TargetScope(self._context)
        made = []
        for member in self._declaration.members:
            name = member.name.text
            read = read_annotations(self._context, member.annotations, Place.MEMBER)
            bit = self._bit(member, name in names)
            if name in names:
                notes = [Note("first here", names[name].name.span)]
                self._context.diagnostics.error(
                    "E0304", member.name.span, notes=notes, kind="member", name=name
                )
                continue
            names[name] = member
            prescribed = targets.read(member.name, read)
            if bit is not None:
                gone = deprecation(self._context, read)
                span = member.name.span
                own = own_annotations(self._context, read)
                made.append(model.FlagsMember(name, bit, member.doc, gone, prescribed, span, own))
        targets.check()
        return tuple(made)

    def _bit(self, member: ast.EnumMember, duplicate: bool) -> int | None:
        """The member's bit; None if it is wrong, which is then reported, or hangs on one that is."""
        if member.value is None:
            bit = None if self._declaration.broken else self._next
        else:
            bit = self._context.values.whole_number(member.value, self._scope, "a bit number")
        self._next = None if bit is None else bit + 1
        if bit is None or self._base is None or duplicate:
            return None
        span = member.name.span if member.value is None else member.value.span
        bits = self._base.scalar.bits
        if not 0 <= bit < bits:
            hint = fix = None
            if member.value is not None and bit > 0 and bit & (bit - 1) == 0:
                fix = str(bit.bit_length() - 1)
                hint = f"a value is the number of a bit: for the mask {bit} write {fix}"
            elif bits < 64:
                hint = f"a wider type has more: u{2 * bits}"
            self._context.diagnostics.error(
                "E0418", span, help=hint, fix=fix, type=self._base.scalar.value, last=bits - 1, bit=bit
            )
            self._next = None
            return None
        if bit in self._bits:
            other = self._bits[bit]
            notes = [Note("first here", other.name.span)]
            self._context.diagnostics.error("E0419", span, notes=notes, bit=bit, other=other.name.text)
            return None
        self._bits[bit] = member
        return bit
