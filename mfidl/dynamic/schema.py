"""F6. The codecs' queries to a program: declarations by name (also the implicit structs of methods), the
number behind a type, sizes, and the tables of a graph.
"""

from collections.abc import Iterator

from mfidl import model
from mfidl.dynamic.number import Number, number_of
from mfidl.dynamic.wording import snake
from mfidl.model import Scalar, Tier

BLOCK = 256  # values of a row that share a width
_ENDLESS = 1 << 40


class Schema:
    """Look-ups over one program; the results of walks are cached."""

    def __init__(self, program: model.Program) -> None:
        self.program = program
        self._structs = {each.full_name: each for each in program.all_structs()}
        self._numbers: dict[model.Type, Number | None] = {}
        self._smallest: dict[str, int] = {}
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
        number = self.number(type_)
        if number is not None:
            return number.size
        match type_:
            case model.Primitive(Scalar.UUID):
                return 16
            case model.ArrayOf(element, length):
                size = self.fixed_size(element)
                return None if size is None else size * length
            case model.Named(_, model.DeclKind.STRUCT | model.DeclKind.ERROR):
                layout = self.struct(type_).layout
                return None if layout is None else layout.size
            case _:
                return None

    def smallest(self, type_: model.Type) -> int:
        """The fewest bytes that a value takes in febird."""
        number = self.number(type_)
        if number is not None:
            return 1 if number.is_packed else number.size
        match type_:
            case model.Primitive(Scalar.UUID):
                return 16
            case model.ArrayOf(element, length):
                return length * self.smallest(element) + code_bytes(self.number(element), length)
            case model.Named():
                if type_.full_name not in self._smallest:
                    self._smallest[type_.full_name] = self._smallest_declared(type_)
                return self._smallest[type_.full_name]
            case _:
                return 1

    def _smallest_declared(self, type_: model.Named) -> int:
        match self.tier(type_):
            case Tier.ARCHIVE | Tier.CUSTOM:
                return 1
            case _ if type_.kind is model.DeclKind.UNION:
                return self._smallest_union(type_)
        struct = self.struct(type_)
        if struct.layout is not None:
            return struct.layout.size
        return sum(self.smallest(each.type) for each in struct.fields)

    def _smallest_union(self, type_: model.Named) -> int:
        # An alternative that leads back to the union is never the smallest one.
        self._smallest[type_.full_name] = _ENDLESS
        sizes = [
            varint_size(each.number or 0) + self.smallest(each.type)
            for each in self.union(type_).alternatives
        ]
        # Sizes that were computed on the way may be smaller, now that the union's size is known.
        self._smallest = {name: size for name, size in self._smallest.items() if size < _ENDLESS}
        return min(sizes)

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


def code_bytes(number: Number | None, count: int) -> int:
    """Bytes of the codes of an array's row: two bits a block."""
    if number is None or not number.is_packed:
        return 0
    blocks = -(-count // BLOCK)
    return -(-blocks // 4)


def varint_size(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))
