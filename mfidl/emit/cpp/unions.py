"""F6. Views of unions: a class around a std::variant. An alternative that leads back to the union itself is
in a box, and a recursive union has its functions in the source file, where every type is complete.
"""

from dataclasses import dataclass

from mfidl.emit.cpp.codecs import Codecs
from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import AlternativeNames, Names
from mfidl.emit.cpp.text import deprecation, doc
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import AlternativeView, Table, UnionView
from mfidl.model import Field, Module, Struct, Union
from mfidl.plan.sizes import varint_size


def graph_tables(types: CppTypes, names: Names, root: Struct | Union) -> tuple[Table, ...]:
    """The tables of the graph with such a root, if it is one."""
    if not types.graphs.is_linked(root.full_name):
        return ()
    home = names.owner(root.full_name).module
    return tuple(Table(name, types.declared(each, home)) for name, each in types.graphs.tables(root))


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
        union, facts = self.union, self.codecs.facts
        named = self.names.module(self.module.name).union(union).alternatives
        views = tuple(map(self._alternative, union.alternatives, named))
        pairs = list(zip(union.alternatives, views, strict=True))
        recursive = bool(union.cycle)
        comparison = "declared" if recursive else "all"
        if recursive and facts.holds_existing(union.alternatives):
            comparison = "none"
        first = next((i for i, each in enumerate(views) if not each.boxed), 0)
        made = [f"std::in_place_index<{first}>", *filter(None, [views[first].initial])]
        return UnionView(
            doc=doc(union.doc),
            name=self.names.of(union.full_name),
            qualified=self.types.declared(union.full_name),
            wire_name=union.name,
            tier=union.tier.value,
            attribute=deprecation(union.deprecated),
            alternatives=views,
            first=views[first],
            made=", ".join(made),
            stored=", ".join(f"mf::Boxed<{each.type}>" if each.boxed else each.type for each in views),
            in_sequence=[each.number for each in views] == list(range(1, len(views) + 1)),
            recursive=recursive,
            comparison=comparison,
            ordering=facts.ordering(union.alternatives),
            codec=self.codecs.union_codec(union, named),
            readable="" if facts.union_always_readable(union) else "walked",
            unsure=tuple(view for field, view in pairs if not facts.always_readable(field.type)),
            nests=tuple(view for field, view in pairs if facts.nests(field.type)),
            heap_of_new=self.codecs.heap_of_new(union),
            constraints=self.codecs.union_constraints(union, named),
            tables=graph_tables(self.types, self.names, union),
            inner=self.types.inner(union.full_name, self.module.name),
        )

    def _alternative(self, field: Field, names: AlternativeNames) -> AlternativeView:
        types, boxed = self.types.within(self.union), self.types.boxed_in(self.union, field)
        kept = self.types.is_trivial(field.type) and not boxed  # a box is initialised by moving
        return AlternativeView(
            doc=doc(field.doc, indent=2),
            old=deprecation(field.deprecated),
            kind=names.kind,
            kind_attribute=deprecation(field.deprecated, before=" "),
            number=field.number or 0,
            number_size=varint_size(field.number or 0),
            wire_name=field.name,
            accessor=names.accessor,
            make=names.make,
            test=names.test,
            set=names.set,
            emplace=names.emplace,
            # The expanded type if recursion decides its form, otherwise the author's spelling.
            type=types.spell(field.type if self.union.cycle else field.spelled, self.module.name),
            qualified=types.spell(field.type),
            boxed=boxed,
            given="value" if kept else "std::move(value)",
            initial=self.literals.within(self.union).initial(field.type, self.module.name),
        )
