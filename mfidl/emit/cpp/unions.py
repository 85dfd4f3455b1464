"""F6. Views of unions: a class around a std::variant, its named functions, and its codec.

A recursive union declares all its functions and defines them in the .cpp file, where every type is complete;
an alternative that leads back to the union is in a box.
"""

from dataclasses import dataclass

from mfidl.emit.cpp import readable
from mfidl.emit.cpp.codecs import Codecs
from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import AlternativeNames, Names
from mfidl.emit.cpp.text import block, comparisons, deprecation, doc, fill, type_info
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import AlternativeView, TablesView, UnionView
from mfidl.model import Field, Module, Struct, Union


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the class with one statement."""

    specifiers: str
    result: str
    name: str
    parameters: str
    tail: str
    body: str

    def inside(self) -> str:
        return block(f"{self.specifiers}{self._head('')}", [self.body])

    def declared(self) -> str:
        return f"  {self.specifiers}{self._head('')};"

    def definition(self, owner: str) -> str:
        return f"{self._head(f'{owner}::')} {{\n  {self.body}\n}}"

    def _head(self, owner: str) -> str:
        return f"{self.result} {owner}{self.name}({self.parameters}){self.tail}"


def graph_tables(types: CppTypes, names: Names, root: Struct | Union) -> TablesView | None:
    """The tables of the graph with such a root, if it is one."""
    if not types.graphs.is_linked(root.full_name):
        return None
    name, home = names.of(root.full_name), names.owner(root.full_name).module
    entries = [
        f'{{"{table}", &mf::codec::kGraphType<{types.declared(full_name, home)}>}}'
        for table, full_name in types.graphs.tables(root)
    ]
    start = f"static constexpr std::array<mf::codec::GraphTable, {len(entries)}> kTables{{{{"
    tables = "std::span<const mf::codec::GraphTable>"
    return TablesView(f"{tables} graph_tables(const {name}*", fill(start, entries, "}};", indent=2))


def tables_friend(tables: TablesView | None) -> tuple[str, ...]:
    return (f"  friend {tables.head});",) if tables else ()


@dataclass(frozen=True, slots=True)
class UnionMaker:
    """Makes the view of one union, as its own module sees it."""

    names: Names
    types: CppTypes
    literals: Literals
    codecs: Codecs
    union: Union
    module: Module

    def view(self) -> UnionView:
        union = self.union
        named = self.names.module(self.module.name).union(union).alternatives
        pairs = list(zip(union.alternatives, named, strict=True))
        functions = [self._functions(field, names, index) for index, (field, names) in enumerate(pairs)]
        constraints = self.codecs.union_constraints(union, named)
        ordering = self.codecs.facts.ordering(union.alternatives)
        tables = graph_tables(self.types, self.names, union)
        comparison = "declared" if self._recursive else "default"
        if self._recursive and self.codecs.facts.holds_existing(union.alternatives):
            comparison = "no"
        return UnionView(
            doc=doc(union.doc),
            name=self._name,
            wire_name=union.name,
            qualified=self.types.declared(union.full_name),
            type_info=type_info(self.types.declared(union.full_name), union.tier.value, union.name),
            attribute=deprecation(union.deprecated),
            alternatives=tuple(
                AlternativeView(
                    doc=doc(field.doc, indent=2),
                    kind=names.kind,
                    kind_attribute=deprecation(field.deprecated, before=" "),
                    number=field.number or 0,
                    wire_name=field.name,
                    accessor=names.accessor,
                    test=names.test,
                    functions=tuple(each.declared() if self._recursive else each.inside() for each in those),
                )
                for (field, names), those in zip(pairs, functions, strict=True)
            ),
            storage=fill(
                "std::variant<", [self._stored(field) for field in union.alternatives], "> value_;", indent=2
            ),
            default_doc=f"  /// A new union holds `{union.alternatives[self._first()].name}`.",
            special=tuple(self._special()),
            kind=self._kind([names.kind for _, names in pairs]),
            visits=tuple(
                [f"if ({names.test}()) return visitor({names.accessor}());" for _, names in pairs[:-1]]
                + [f"return visitor({names.accessor}());" for _, names in pairs[-1:]]
            ),
            ordering=ordering,
            definitions=tuple(self._definitions(functions)),
            codec=self.codecs.union_codec(union, self.types.declared(union.full_name), named),
            readable=readable.of_union(self.codecs.facts, union, self.types.declared(union.full_name), named),
            heap_of_new=self.codecs.heap_of_new(union),
            constraints=constraints,
            constraints_template="cpp/codec/constraints.j2" if constraints.statements else "cpp/nothing.j2",
            comparisons=comparisons(comparison, self._name, ordering) + tables_friend(tables),
            tables=tables,
            tables_template="cpp/codec/graph_tables.j2" if tables else "cpp/nothing.j2",
            inner=self.types.inner(union.full_name, self.module.name),
            definition_template="cpp/codec/union_definition.j2" if self._recursive else "cpp/nothing.j2",
            comparison_definition_template=(
                "cpp/codec/union_comparison.j2" if comparison == "declared" else "cpp/nothing.j2"
            ),
        )

    @property
    def _name(self) -> str:
        return self.names.of(self.union.full_name)

    @property
    def _recursive(self) -> bool:
        return bool(self.union.cycle)

    def _stored(self, field: Field) -> str:
        spelled = self._spelled(field)
        return f"mf::Boxed<{spelled}>" if self.types.boxed_in(self.union, field) else spelled

    def _spelled(self, field: Field) -> str:
        spelled = field.type if self._recursive else field.spelled
        return self.types.within(self.union).spell(spelled, self.module.name)

    def _first(self) -> int:
        """The alternative of a new union: the first that does not hold the union itself."""
        plain = (
            i for i, each in enumerate(self.union.alternatives) if not self.types.boxed_in(self.union, each)
        )
        return next(plain, 0)

    def _functions(self, field: Field, names: AlternativeNames, index: int) -> list[_Function]:
        spelled = self._spelled(field)
        old = deprecation(field.deprecated)
        get = f"return {'*' if self.types.boxed_in(self.union, field) else ''}std::get<{index}>(value_);"
        boxed = ".emplace()" if self.types.boxed_in(self.union, field) else ""
        given = "value" if self._keeps(field) else "std::move(value)"
        made = f"return {self._name}(std::in_place_index<{index}>, {given});"
        test = f"return value_.index() == {index};"
        taken = f"{spelled} value"
        return [
            _Function(f"{old}[[nodiscard]] static ", self._name, names.make, taken, "", made),
            _Function(f"{old}[[nodiscard]] ", "bool", names.test, "", " const noexcept", test),
            _Function(f"{old}[[nodiscard]] ", f"const {spelled}&", names.accessor, "", " const", get),
            _Function(f"{old}[[nodiscard]] ", f"{spelled}&", names.accessor, "", "", get),
            _Function(old, "void", names.set, taken, "", f"value_.emplace<{index}>({given});"),
            _Function(
                old,
                f"{spelled}&",
                names.emplace,
                "",
                "",
                f"return value_.emplace<{index}>({self._initial(field)}){boxed};",
            ),
        ]

    def _initial(self, field: Field) -> str:
        return self.literals.within(self.union).initial(field.type, self.module.name)

    def _keeps(self, field: Field) -> bool:
        """A box is initialised by moving."""
        return self.types.is_trivial(field.type) and not self.types.boxed_in(self.union, field)

    def _special(self) -> list[str]:
        name = self._name
        if self._recursive:
            return [
                f"  {name}();",
                f"  {name}(const {name}& other);",
                f"  {name}({name}&& other) noexcept;",
                f"  {name}& operator=(const {name}& other);",
                f"  {name}& operator=({name}&& other) noexcept;",
                f"  ~{name}();",
            ]
        made = self._made()
        return [
            fill(f"{name}() : value_(", made, ") {}", indent=2) if len(made) > 1 else f"  {name}() = default;"
        ]

    def _made(self) -> list[str]:
        """The initial value of a new union's variant."""
        first = self._first()
        initial = self._initial(self.union.alternatives[first])
        return [f"std::in_place_index<{first}>", *([initial] if initial else [])]

    def _kind(self, kinds: list[str]) -> str:
        numbers = [each.number for each in self.union.alternatives]
        if numbers == list(range(1, len(numbers) + 1)):
            body = ["return static_cast<Kind>(value_.index() + 1);"]
        else:
            items = [f"Kind::{each}" for each in kinds]
            body = [
                fill(f"constexpr std::array<Kind, {len(kinds)}> kKinds{{", items, "};", indent=4).lstrip(),
                "return kKinds[value_.index()];",
            ]
        return block("[[nodiscard]] Kind kind() const noexcept", body)

    def _definitions(self, functions: list[list[_Function]]) -> list[str]:
        if not self._recursive:
            return []
        name = self._name
        made = fill(f"{name}::{name}() : value_(", self._made(), ") {}")
        defaulted = [
            f"{name}::{name}(const {name}& other) = default;",
            f"{name}::{name}({name}&& other) noexcept = default;",
            f"{name}& {name}::operator=(const {name}& other) = default;",
            f"{name}& {name}::operator=({name}&& other) noexcept = default;",
            f"{name}::~{name}() = default;",
        ]
        bodies = [each.definition(name) for those in functions for each in those]
        return [made, *defaulted, *bodies]
