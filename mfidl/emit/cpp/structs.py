"""F6. Views of constants, aliases, enums, structs and errors: the content of `types.hpp`, and codecs."""

from dataclasses import dataclass

from mfidl.emit.cpp import readable
from mfidl.emit.cpp.codecs import Codecs
from mfidl.emit.cpp.facts import existing_type
from mfidl.emit.cpp.literals import Literals, member_number
from mfidl.emit.cpp.names import Names
from mfidl.emit.cpp.text import WIDTH, comparisons, conjunction, deprecation, doc, fill, type_info
from mfidl.emit.cpp.types import CppTypes, parts
from mfidl.emit.cpp.unions import UnionMaker, graph_tables, tables_friend
from mfidl.emit.cpp.view import (
    AliasView,
    ConstraintsView,
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

    def constant(self, const: Const, module: Module) -> ConstView:
        name = self.names.of(const.full_name)
        type_ = expand(const.type)
        value = self.literals.of(const.value, type_, module.name)
        attribute = deprecation(const.deprecated)
        if type_ == Primitive(Scalar.STRING):
            return ConstView(doc(const.doc), attribute + _text_constant(name, value))
        literal = isinstance(type_, Primitive) and type_ != Primitive(Scalar.BYTES)  # bytes are a vector
        keyword = "constexpr" if literal or _is_number(type_) else "const"
        spelled = self.types.spell(const.spelled, module.name)
        return ConstView(doc(const.doc), f"{attribute}inline {keyword} {spelled} {name} = {value};")

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
                return AliasView(
                    doc(declaration.doc),
                    self.names.of(declaration.full_name),
                    target,
                    deprecation(declaration.deprecated, before=" "),
                )
            case Enum():
                return self._enum(declaration)
            case Flags():
                return self._flags(declaration)
            case Union():
                return UnionMaker(
                    self.names, self.types, self.literals, self.codecs, declaration, module
                ).view()
            case Struct():
                names = self.names.module(module.name)
                return self.struct(
                    declaration,
                    names.of(declaration.full_name),
                    names.members(declaration),
                    module,
                    _template(declaration),
                )

    def struct(
        self, struct: Struct, name: str, members: tuple[str, ...], module: Module, template: str
    ) -> StructView:
        """A declared struct, or the struct of a method's parameters or results under the name that it got."""
        qualified = f"::{self.names.module(module.name).namespace}::{name}"
        types = self.types.within(struct)
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
        constraints = self.codecs.constraints(struct, members)
        declared = struct.kind in (StructKind.STRUCT, StructKind.ERROR)
        existing = existing_type(struct)
        unknown = self.names.module(module.name).unknown_fields(struct)
        compared = (*members, unknown) if unknown else members
        tables = graph_tables(self.types, self.names, struct) if declared else None
        ordering = self.codecs.facts.ordering(struct.fields)
        printed = declared or struct.kind is StructKind.RESULTS  # what users get
        comparison = "default" if declared else "equality" if printed else "without"
        if struct.cycle:
            comparison = "no" if self.codecs.facts.holds_existing(struct.fields) else "declared"
        return StructView(
            doc=doc(struct.doc),
            name=name,
            qualified=qualified,
            full_name=struct.full_name,
            wire_name=struct.name if declared else name,  # only printed
            type_info=type_info(qualified, struct.tier.value, struct.name),
            fields=fields,
            attribute=deprecation(struct.deprecated),
            existing=f"::{existing.type.removeprefix('::')}" if existing else "",
            unknown_fields=unknown,
            constructor=self._constructor(struct, name, members, module) if struct.is_error else "",
            equality=conjunction("return ", [f"left.{each} == right.{each}" for each in compared], ";", 2),
            ordering=ordering,
            orders=tuple(_orders(compared)),
            comparisons=comparisons(comparison, name, ordering) + tables_friend(tables),
            comparison_definition_template=_if(comparison == "declared", "cpp/codec/comparison.j2"),
            print_template="cpp/codec/existing_print.j2" if existing else _if(printed, "cpp/codec/print.j2"),
            codec=self.codecs.codec(struct, qualified, members),
            readable=readable.of_struct(self.codecs.facts, struct, qualified, members),
            heap_of_new=self.codecs.heap_of_new(struct),
            constraints=constraints,
            constraints_template=_constraints_template(struct, constraints),
            template=template,
            tables=tables,
            tables_template=_if(tables is not None, "cpp/codec/graph_tables.j2"),
            inner=self.types.inner(struct.full_name, module.name),
        )

    def _enum(self, enum: Enum) -> EnumView:
        numbers = [member_number(each.number) for each in enum.members]
        traits = "cpp/codec/open_enum.j2" if enum.open else "cpp/codec/closed_enum.j2"
        printing = ("printer.member(name(value), value);",)
        return self._members_of(enum, numbers, printing, traits, "cpp/types/enum.j2")

    def _flags(self, flags: Flags) -> EnumView:
        one = "std::uint64_t{1}" if flags.base.scalar.bits == 64 else "1U"
        bits = [f"{one} << {each.bit}U" for each in flags.members]
        return self._members_of(flags, bits, (), "cpp/codec/open_enum.j2", "cpp/types/flags.j2")

    def _members_of(
        self,
        declared: Enum | Flags,
        initial: list[str],
        printing: tuple[str, ...],
        traits: str,
        template: str,
    ) -> EnumView:
        names = self.names.owner(declared.full_name)
        name, members = names.of(declared.full_name), names.members(declared)
        listed = fill(
            f"static constexpr std::array<{name}, {len(members)}> kMembers{{",
            [f"{name}::{member}" for member in members],
            "};",
            indent=2,
        )
        return EnumView(
            doc=doc(declared.doc),
            name=name,
            qualified=self.types.declared(declared.full_name),
            base=self.types.spell(declared.base),
            members=tuple(
                MemberView(doc(each.doc, indent=2), member, each.name, number, _old(each, declared))
                for each, member, number in zip(_members(declared), members, initial, strict=True)
            ),
            members_constant=listed,
            printing=printing or (listed.lstrip(), "printer.flags(value, kMembers);"),
            traits_template=traits,
            template=template,
        )

    def _field(self, field: Field, member: str, struct: Struct, module: Module, index: int) -> str:
        # The expanded type if recursion decides its form, otherwise the author's spelling.
        type_ = field.type if struct.cycle else field.spelled
        spelled = f"{self.types.within(struct).spell(type_, module.name)} {member}"
        if struct.layout is not None and _needs_alignas(struct, index):
            spelled = f"alignas({struct.layout.slots[index].align}) {spelled}"
        return f"  {deprecation(field.deprecated)}{spelled}{self._initial(field, struct, module.name)};"

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

    def _constructor(self, error: Struct, name: str, members: tuple[str, ...], module: Module) -> str:
        if not members:
            return ""
        given = _beside(members)
        parameters = [
            f"{self.types.spell(field.spelled, module.name)} {name}"
            for field, name in zip(error.fields, given, strict=True)
        ]
        moves = [
            f"{member}({name})" if self.types.is_trivial(field.type) else f"{member}(std::move({name}))"
            for field, member, name in zip(error.fields, members, given, strict=True)
        ]
        head = f"{'explicit ' if len(members) == 1 else ''}{name}("
        whole = f"  {head}{', '.join(parameters)}) : {', '.join(moves)} {{}}"
        if len(whole) <= WIDTH:
            return whole
        return fill(head, parameters, ")", indent=2) + "\n" + fill(": ", moves, " {}", indent=6)


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


def _text_constant(name: str, literal: str) -> str:
    if literal.startswith("std::string("):
        return f"inline constexpr std::string_view {name}{{{literal[len('std::string(') : -1]}}};"
    return f"inline constexpr std::string_view {name} = {literal};"


def _constraints_template(struct: Struct, constraints: ConstraintsView) -> str:
    if not constraints.statements:
        return "cpp/nothing.j2"
    params = struct.kind is StructKind.PARAMS
    return "cpp/codec/parameter_constraints.j2" if params else "cpp/codec/constraints.j2"


def _template(struct: Struct) -> str:
    if existing_type(struct) is not None:
        return "cpp/types/existing.j2"
    return "cpp/types/error.j2" if struct.is_error else "cpp/types/struct.j2"


def _orders(members: tuple[str, ...]) -> list[str]:
    """Statements of a lexicographical comparison."""
    tests = [
        f"if (const auto order = left.{each} <=> right.{each}; order != 0) return order;"
        for each in members[:-1]
    ]
    return tests + [f"return left.{each} <=> right.{each};" for each in members[-1:]]


def _if(condition: bool, template: str) -> str:
    return template if condition else "cpp/nothing.j2"


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
