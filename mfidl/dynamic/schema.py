"""F6. The codecs' queries to a program: declarations by name (also the implicit structs of methods), the
number behind a type, shapes, and the tables of a graph.
"""

from typing import Any

from mf.codec import shape as s
from mf.codec.sizes import has_layout
from mfidl import model
from mfidl.dynamic.shapes import Shapes, is_implicit
from mfidl.model import Scalar, Tier


class Schema:
    """Look-ups over one program; the results of walks are cached."""

    def __init__(self, program: model.Program) -> None:
        self.program = program
        self._structs = {each.full_name: each for each in program.all_structs()}
        self._names: dict[str, model.Type] = {}
        self._asked: dict[str, tuple[model.Constraint, ...]] = {}
        self._shapes = {checked: Shapes(program, checked=checked) for checked in (False, True)}
        self.codecs: dict[Any, Any] = {}  # what mfidl.dynamic.codec has made

    def shape(
        self, type_: model.Type, constraints: tuple[model.Constraint, ...] = (), *, checked: bool = False
    ) -> s.Shape:
        """`checked`: codecs of it refuse what violates a constraint."""
        return self._shapes[checked].shape(type_, constraints)

    def struct(self, type_: model.Named) -> model.Struct:
        return self._structs[type_.full_name]

    def union(self, type_: model.Named) -> model.Union:
        return self.program.union(type_)

    def implicit(self, full_name: str) -> model.Struct | None:
        """The parameters or results of a method that have this name."""
        struct = self._structs.get(full_name)
        return struct if struct is not None and is_implicit(struct) else None

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

    def tier(self, type_: model.Named) -> Tier:
        """Of a struct, error or union."""
        return (self.union(type_) if type_.kind is model.DeclKind.UNION else self.struct(type_)).tier

    def number(self, type_: model.Type) -> Scalar | None:
        """The scalar of a type whose values are numbers, of enums and flags the base; None for others."""
        match type_:
            case model.Primitive(Scalar.STRING | Scalar.BYTES | Scalar.UUID):
                return None
            case model.Primitive(scalar):
                return scalar
            case model.Named(_, model.DeclKind.FLAGS):
                return self.program.flags(type_).base.scalar
            case model.Named(_, model.DeclKind.ENUM):
                return self.program.enum(type_).base.scalar
            case _:
                return None

    def is_closed(self, type_: model.Type) -> bool:
        """Whether only some of the numbers are values."""
        match type_:
            case model.Named(_, model.DeclKind.ENUM):
                return not self.program.enum(type_).open
            case _:
                return type_ == model.Primitive(Scalar.BOOL)

    def has_layout(self, type_: model.Type) -> bool:
        """Whether it can be memcpy."""
        return has_layout(self.shape(type_))

    def tables(self, root: str) -> dict[str, str]:
        """For an archive type whose values have references: the full names of types with tables, the root
        first, and the tables' names. Empty for other types.
        """
        shape = self.shape(self.names()[root])
        tables = shape.tables if isinstance(shape, s.Composite) else {}
        return {each.name: name for name, each in tables.items()}
