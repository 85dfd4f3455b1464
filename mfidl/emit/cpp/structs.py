"""F6. Views of constants, aliases, enums, structs and errors."""

import re
from dataclasses import dataclass

from mfidl.emit.cpp.codecs import Codecs
from mfidl.emit.cpp.facts import existing_type
from mfidl.emit.cpp.literals import Literals, member_number
from mfidl.emit.cpp.names import Names
from mfidl.emit.cpp.text import deprecation, doc
from mfidl.emit.cpp.types import CppTypes, parts
from mfidl.emit.cpp.unions import UnionMaker, graph_tables
from mfidl.emit.cpp.view import (
    AliasView,
    ConstView,
    EnumView,
    FieldView,
    MemberView,
    StructView,
    UnionView,
)
from mfidl.model import (
    Alias,
    Const,
    Declaration,
    DeclKind,
    Enum,
    EnumMember,
    Field,
    Flags,
    FlagsMember,
    Module,
    Named,
    Primitive,
    Program,
    Scalar,
    Struct,
    StructKind,
    Type,
    Union,
    expand,
)


@dataclass(frozen=True, slots=True)
class Describer:
    """The makers of one program's views, and what they share."""

    program: Program
    names: Names
    types: CppTypes
    literals: Literals
    codecs: Codecs

    def has_types(self, descriptor: str) -> bool:
        """Whether generated code has all types of a descriptor: a method without C++ may reach others."""
        heads = re.findall(r"^type (\S+)", descriptor, re.MULTILINE)
        return bool(heads) and all(self.program.declarations.get(each) is not None for each in heads)

    def constant(self, const: Const, module: Module) -> ConstView:
        type_ = expand(const.type)
        value = self.literals.of(const.value, type_, module.name)
        if type_ == Primitive(Scalar.STRING):
            spelled = "constexpr std::string_view"
            zeros = value.startswith("std::string(")  # a literal and its size
            initial = f"{{{value[len('std::string(') : -1]}}}" if zeros else f" = {value}"
        else:
            literal = isinstance(type_, Primitive) and type_ != Primitive(Scalar.BYTES)  # bytes are a vector
            keyword = "constexpr" if literal or _is_number(type_) else "const"
            spelled = f"{keyword} {self.types.spell(const.spelled, module.name)}"
            initial = f" = {value}"
        name = self.names.of(const.full_name)
        return ConstView(doc(const.doc), deprecation(const.deprecated), spelled, name, initial)

    def declaration(
        self, declaration: Declaration, module: Module
    ) -> AliasView | EnumView | StructView | UnionView:
        match declaration:
            case Alias():
                target = (
                    self.types.view(declaration, module.name)
                    if declaration.cpp_view
                    else self.types.spell(declaration.spelled, module.name)
                )
                return self._alias(declaration, target)
            case Enum():
                numbers = [member_number(each.number) for each in declaration.members]
                return self._enum(declaration, numbers, declaration.open)
            case Flags():
                one = "std::uint64_t{1}" if declaration.base.scalar.bits == 64 else "1U"
                bits = [f"{one} << {each.bit}U" for each in declaration.members]
                return self._enum(declaration, bits, True)
            case Union():
                return UnionMaker(
                    self.names, self.types, self.literals, self.codecs, declaration, module
                ).view()
            case Struct():
                names = self.names.module(module.name)
                return self.struct(
                    declaration, names.of(declaration.full_name), names.members(declaration), module
                )

    def _alias(self, declared: Alias | Struct, target: str) -> AliasView:
        name = self.names.of(declared.full_name)
        return AliasView(doc(declared.doc), name, deprecation(declared.deprecated, before=" "), target)

    def of_existing(self, struct: StructView, declared: Struct) -> AliasView:
        """How a struct is declared whose C++ type is there already."""
        return self._alias(declared, struct.existing)

    def struct(self, struct: Struct, name: str, members: tuple[str, ...], module: Module) -> StructView:
        """A declared struct, or the struct of a method's parameters or results under the name that it got."""
        types, facts = self.types.within(struct), self.codecs.facts
        fields = tuple(
            FieldView(
                doc=doc(field.doc, indent=2),
                name=member,
                wire_name=field.name,
                type=types.spell(field.type),
                declaration=self._field(field, member, struct, module, i),
            )
            for i, (field, member) in enumerate(zip(struct.fields, members, strict=True))
        )
        declared = struct.kind in (StructKind.STRUCT, StructKind.ERROR)
        existing = existing_type(struct)
        unknown = self.names.module(module.name).unknown_fields(struct)
        comparison = "all" if declared else "equality"
        if struct.cycle:
            comparison = "none" if facts.holds_existing(struct.fields) else "declared"
        always = facts.struct_always_readable(struct)
        pairs = list(zip(struct.fields, fields, strict=True))
        taken, kept = self._constructor(struct, members, module) if struct.is_error else ("", "")
        return StructView(
            doc=doc(struct.doc),
            name=name,
            qualified=f"::{self.names.module(module.name).namespace}::{name}",
            full_name=struct.full_name,
            wire_name=struct.name if declared else name,  # only printed
            tier=struct.tier.value,
            form="error" if struct.is_error else "struct",
            fields=fields,
            existing=f"::{existing.type.removeprefix('::')}" if existing else "",
            unknown_fields=unknown,
            taken=taken,
            kept=kept,
            attribute=deprecation(struct.deprecated),
            comparison=comparison,
            ordering=facts.ordering(struct.fields),
            compared=(*members, unknown) if unknown else members,
            printed=declared or struct.kind is StructKind.RESULTS,  # what users get
            levelled=declared,
            codec=self.codecs.codec(struct, members),
            readable="" if always else "walked" if struct.layout is None else "layout",
            unsure=tuple(view for field, view in pairs if not facts.always_readable(field.type)),
            nests=tuple(view for field, view in pairs if facts.nests(field.type)),
            heap_of_new=self.codecs.heap_of_new(struct),
            constraints=self.codecs.constraints(struct, members),
            tables=graph_tables(self.types, self.names, struct) if declared else (),
            inner=self.types.inner(struct.full_name, module.name),
        )

    def _enum(self, declared: Enum | Flags, values: list[str], is_open: bool) -> EnumView:
        names = self.names.owner(declared.full_name)
        members = zip(_members(declared), names.members(declared), values, strict=True)
        return EnumView(
            doc=doc(declared.doc),
            name=names.of(declared.full_name),
            qualified=self.types.declared(declared.full_name),
            base=self.types.spell(declared.base),
            members=tuple(
                MemberView(doc(each.doc, indent=2), member, each.name, value, _old(each, declared))
                for each, member, value in members
            ),
            flags=isinstance(declared, Flags),
            open=is_open,
        )

    def _field(self, field: Field, member: str, struct: Struct, module: Module, index: int) -> str:
        # The expanded type if recursion decides its form, otherwise the author's spelling.
        type_ = field.type if struct.cycle else field.spelled
        spelled = f"{self.types.within(struct).spell(type_, module.name)} {member}"
        if struct.layout is not None and _needs_alignas(struct, index):
            spelled = f"alignas({struct.layout.slots[index].align}) {spelled}"
        return f"{deprecation(field.deprecated)}{spelled}{self._initial(field, struct, module.name)}"

    def _initial(self, field: Field, struct: Struct, home: str) -> str:
        # Containers of an incomplete type may be declared, but not initialised.
        mentioned = {each.full_name for each in parts(field.type) if isinstance(each, Named)}
        unknown = len(struct.cycle) > 1 and bool(mentioned & struct.cycle)
        if field.default is not None:
            value = self.literals.within(struct).of(field.default, field.type, home)
            return "" if unknown and value == "{}" else f" = {value}"
        if initial := self.literals.within(struct).initial(field.type, home):
            return f" = {initial}"
        return "" if unknown else "{}"

    def _constructor(self, error: Struct, members: tuple[str, ...], module: Module) -> tuple[str, str]:
        """The parameters of an error's constructor, and what becomes of them."""
        given = _beside(members)
        parameters = [
            f"{self.types.spell(field.spelled, module.name)} {name}"
            for field, name in zip(error.fields, given, strict=True)
        ]
        moves = [
            f"{member}({name})" if self.types.is_trivial(field.type) else f"{member}(std::move({name}))"
            for field, member, name in zip(error.fields, members, given, strict=True)
        ]
        return ", ".join(parameters), ", ".join(moves)


def _beside(members: tuple[str, ...]) -> list[str]:
    """Names of parameters for the members; no parameter hides a member."""
    taken, names = set(members), []
    for member in members:
        name = member.rstrip("_") + "_in"
        while name in taken:
            name += "_in"
        taken.add(name)
        names.append(name)
    return names


def _old(member: EnumMember | FlagsMember, declared: Enum | Flags) -> str:
    """Members carry the deprecation of a whole type: compilers accept no attribute on an enum that was
    declared before, and warn wherever its base type is requested.
    """
    return deprecation(declared.deprecated if member.deprecated is None else member.deprecated, before=" ")


def _members(declared: Enum | Flags) -> tuple[EnumMember | FlagsMember, ...]:
    return declared.members


def _is_number(type_: Type) -> bool:
    return isinstance(type_, Named) and type_.kind in (DeclKind.ENUM, DeclKind.FLAGS)


def _needs_alignas(struct: Struct, index: int) -> bool:
    """Whether an ABI that aligns 8-byte scalars to 4 (i386) would move the field, or align the struct
    less."""
    assert struct.layout is not None
    slots = struct.layout.slots
    if slots[index].align != 8 or slots[index].size == 0:
        return False
    before = slots[:index]
    end = before[-1].offset + before[-1].size if before else 0
    first = all(slot.align != 8 or slot.size == 0 for slot in before)
    return first or (end + 3) // 4 * 4 != slots[index].offset
