"""F6. The codecs' queries to a program: declarations by name (also the implicit structs of methods), the
number behind a type, sizes, and the tables of a graph.
"""

from collections.abc import Iterator

from mfidl import model
from mfidl.dynamic.number import Number, number_of
from mfidl.dynamic.wording import snake
from mfidl.model import Scalar, Tier
from mfidl.plan.layout import size_and_align
from mfidl.plan.sizes import Sizes


class Schema:
    """Look-ups over one program; the results of walks are cached."""

    def __init__(self, program: model.Program) -> None:
        self.program = program
        self._structs = {each.full_name: each for each in program.all_structs()}
        self._numbers: dict[model.Type, Number | None] = {}
        self._declared: dict[str, model.Declaration] = {**program.declarations, **self._structs}
        self._sizes: Sizes | None = None
        self._tables: dict[str, dict[str, str]] = {}
        self._names: dict[str, model.Type] = {}
        self._asked: dict[str, tuple[model.Constraint, ...]] = {}
        self.zero_costs: dict[model.Type, int] = {}  # what mfidl.dynamic.defaults has reckoned

    def struct(self, type_: model.Named) -> model.Struct:
        return self._structs[type_.full_name]

    def union(self, type_: model.Named) -> model.Union:
        return self.program.union(type_)

    def implicit(self, full_name: str) -> model.Struct | None:
        """The parameters or results of a method that have this name."""
        struct = self._structs.get(full_name)
        return struct if struct is not None and self.is_implicit(struct) else None

    def names(self) -> dict[str, model.Type]:
        """The type behind each full name: declarations, aliases, parameters and results, topics."""
        if not self._names:
            for struct in self._structs.values():
                self._names[struct.full_name] = struct.reference
            for module in self.program.modules:
                self._names.update((each.full_name, each.type) for each in module.topics)
                for each in module.declarations:
                    if isinstance(each, model.Alias):
                        self._names[each.full_name] = each.type
                        self._asked[each.full_name] = each.constraints
                    else:
                        self._names[each.full_name] = each.reference
        return self._names

    def asked_by_alias(self, full_name: str) -> tuple[model.Constraint, ...]:
        """Of values that are called by this one of `names`."""
        return self._asked.get(full_name, ())

    def is_implicit(self, struct: model.Struct) -> bool:
        """Parameters or results: no level of nesting, and no name in paths."""
        return struct.kind in (model.StructKind.PARAMS, model.StructKind.RESULTS)

    def tier(self, type_: model.Named) -> Tier:
        """Of a struct, error or union."""
        return (self.union(type_) if type_.kind is model.DeclKind.UNION else self.struct(type_)).tier

    def is_composite(self, type_: model.Type) -> bool:
        """Whether values are structs, errors or unions."""
        return isinstance(type_, model.Named) and self.number(type_) is None

    def number(self, type_: model.Type) -> Number | None:
        """The number that values of a type are; None for all other types."""
        if type_ not in self._numbers:
            self._numbers[type_] = self._number(type_)
        return self._numbers[type_]

    def _number(self, type_: model.Type) -> Number | None:
        match type_:
            case model.Primitive(Scalar.STRING | Scalar.BYTES | Scalar.UUID):
                return None
            case model.Primitive(scalar):
                return number_of(type_, scalar)
            case model.Named(_, model.DeclKind.FLAGS):
                return Number(type_, self.program.flags(type_).base.scalar, None, True)
            case model.Named(_, model.DeclKind.ENUM):
                enum = self.program.enum(type_)
                members = None if enum.open else frozenset(each.number for each in enum.members)
                return Number(type_, enum.base.scalar, members, True)
            case _:
                return None

    # Sizes --------------------------------------------------------------------------------------------------

    def fixed_size(self, type_: model.Type) -> int | None:
        """Bytes of a type's memcpy layout; None where it has none."""
        found = size_and_align(type_, self._declared)
        return None if found is None else found[0]

    def smallest(self, type_: model.Type) -> int:
        """The fewest bytes that a value takes in febird."""
        if self._sizes is None:
            self._sizes = Sizes(self._declared)
        return self._sizes.smallest(type_)

    # Graphs -------------------------------------------------------------------------------------------------

    def tables(self, root: str) -> dict[str, str]:
        """For an archive type whose values have references: the full names of types with tables, the root
        first, and the tables' names. Empty for other types.
        """
        if root not in self._tables:
            others = sorted(self._referred(root))
            names = [root, *(each for each in others if each != root)] if others else []
            taken: dict[str, str] = {}
            for full_name in names:
                name = snake(full_name.rpartition(".")[2])
                while name in taken.values():
                    name += "_"
                taken[full_name] = name
            self._tables[root] = taken
        return self._tables[root]

    def _referred(self, root: str) -> set[str]:
        """Full names behind a `ref` in archive types, from `root` on through what they hold and refer to."""
        found: set[str] = set()
        seen: set[str] = set()
        pending = [root]
        while pending:
            name = pending.pop()
            declaration = self.program.declaration(name)
            if name in seen or not isinstance(declaration, model.Struct | model.Union):
                continue
            seen.add(name)
            if declaration.tier is Tier.ARCHIVE:
                for field in model.members(declaration):
                    pending += model.names_in([field.type])
                    found |= set(refs_in(field.type))
        return found


def refs_in(type_: model.Type) -> Iterator[str]:
    match type_:
        case model.RefOf(element):
            yield element.full_name
        case model.MapOf(_, value):
            yield from refs_in(value)
        case model.ListOf(element) | model.ArrayOf(element, _) | model.OptionalOf(element):
            yield from refs_in(element)
        case _:
            return
