"""F6. The tables of a message, read back: types and values by number.

Entries are read once, in order, each from earlier ones: damaged tables can neither loop nor recurse.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.words import MODEL_CODINGS, MODEL_DECL_KINDS, MODEL_SCALARS, from_int64

_DEEPEST = 500  # far above the nesting limit of schemas; functions that walk types recurse

_T = TypeVar("_T")


class Entries:
    """All types and values of one message."""

    def __init__(self, message: pb.Program) -> None:
        self._types: list[model.Type] = []
        self._values: list[model.Value] = []
        self._depths: list[int] = []
        self._unsigned = {
            each.enum.full_name: each.enum.base == pb.U64
            for module in message.modules
            for each in module.declarations
            if each.WhichOneof("kind") == "enum"
        }
        for type_ in message.types:
            self._depths.append(0)
            self._types.append(self._read_type(type_))
        self._depths = []
        for value in message.values:
            self._depths.append(0)
            self._values.append(self._read_value(value))

    def type(self, number: int) -> model.Type:
        return self._at(self._types, number, "type")

    def value(self, number: int) -> model.Value:
        return self._at(self._values, number, "value")

    def names(self) -> Iterable[model.Named]:
        """Every declaration that a type refers to."""
        return (each for each in self._types if isinstance(each, model.Named))

    def _at(self, table: Sequence[_T], number: int, what: str) -> _T:
        if number >= len(table):
            raise DescriptorError(f"there is no {what} {number} before the place that refers to it")
        return table[number]

    def _deepen(self, number: int) -> None:
        """The entry that is being read contains entry `number`."""
        if number < len(self._depths):
            depth = self._depths[number] + 1
            self._depths[-1] = max(self._depths[-1], depth)
            if depth > _DEEPEST:
                raise DescriptorError(f"a type or value is nested more than {_DEEPEST} levels deep")

    def _inner_type(self, number: int) -> model.Type:
        self._deepen(number)
        return self.type(number)

    def _inner_value(self, number: int) -> model.Value:
        self._deepen(number)
        return self.value(number)

    def _read_type(self, entry: pb.Type) -> model.Type:
        match entry.WhichOneof("kind"):
            case "scalar":
                return _primitive(entry)
            case "named":
                kind = known(MODEL_DECL_KINDS, entry.named.kind, "kind of declaration")
                return model.Named(entry.named.full_name, kind)
            case "list":
                return model.ListOf(self._inner_type(entry.list.element), constraints(entry.list.constraints))
            case "set":
                return model.SetOf(self._inner_type(entry.set.element), constraints(entry.set.constraints))
            case "array":
                element = self._inner_type(entry.array.element)
                return model.ArrayOf(element, entry.array.length, constraints(entry.array.constraints))
            case "map":
                return self._map(entry.map)
            case "optional":
                return model.OptionalOf(self._inner_type(entry.optional))
            case "ref":
                return self._ref(entry.ref)
            case "alias":
                return model.AliasOf(entry.alias.full_name, self._inner_type(entry.alias.target))
            case _:
                raise DescriptorError("a type is of a kind that this version does not know")

    def _map(self, entry: pb.MapOf) -> model.MapOf:
        return model.MapOf(
            self._inner_type(entry.key),
            self._inner_type(entry.value),
            constraints(entry.key_constraints),
            constraints(entry.value_constraints),
        )

    def _ref(self, number: int) -> model.RefOf:
        element = self._inner_type(number)
        if not isinstance(element, model.Named):
            raise DescriptorError(f"type {number} is the element of a ref, and no declaration")
        return model.RefOf(element)

    def _read_value(self, entry: pb.Value) -> model.Value:
        match entry.WhichOneof("kind"):
            case "boolean":
                return entry.boolean
            case "integer":
                return entry.integer
            case "large":
                return entry.large
            case "real":
                return entry.real
            case "text":
                return entry.text
            case "raw":
                return entry.raw
            case "enum":
                unsigned = self._unsigned.get(entry.enum.enum, False)
                number = from_int64(entry.enum.number, unsigned)
                return model.EnumValue(entry.enum.enum, entry.enum.member, number)
            case "flags":
                return model.FlagsValue(entry.flags.flags, tuple(entry.flags.members), entry.flags.bits)
            case _:
                return self._read_composed(entry)

    def _read_composed(self, entry: pb.Value) -> model.Value:
        inner = self._inner_value
        match entry.WhichOneof("kind"):
            case "list":
                return model.ListValue(tuple(inner(each) for each in entry.list.elements))
            case "map":
                return model.MapValue(
                    tuple((inner(each.key), inner(each.value)) for each in entry.map.entries)
                )
            case "struct":
                fields = tuple((each.name, inner(each.value)) for each in entry.struct.fields)
                return model.StructValue(entry.struct.struct, fields)
            case "union":
                union = entry.union
                return model.UnionValue(union.union, union.alternative, inner(union.value))
            case _:
                raise DescriptorError("a value is of a kind that this version does not know")


def _primitive(entry: pb.Type) -> model.Primitive:
    scalar = known(MODEL_SCALARS, entry.scalar, "scalar")
    if not entry.coding:
        return model.Primitive(scalar)
    coding = known(MODEL_CODINGS, entry.coding, "coding of an integer")
    if not scalar.is_integer or scalar.bits < 32 or (coding is model.Coding.VARINT and not scalar.is_signed):
        raise DescriptorError(f"{scalar.value} has no coding of the name {coding.value}")
    return model.Primitive(scalar, coding)


def known(table: dict[int, _T], number: int, what: str) -> _T:
    """The word of the model for a number of an enum."""
    if number not in table:
        raise DescriptorError(f"{what} {number} is unknown to this version")
    return table[number]


def constraints(given: Iterable[pb.Constraint]) -> tuple[model.Constraint, ...]:
    return tuple(_constraint(each) for each in given)


def _constraint(each: pb.Constraint) -> model.Constraint:
    match each.WhichOneof("kind"):
        case "range":
            return model.RangeConstraint(_bound(each.range, "low"), _bound(each.range, "high"))
        case "length":
            high = each.length.high if each.length.HasField("high") else None
            return model.LengthConstraint(each.length.low, high)
        case "finite":
            return model.FiniteConstraint()
        case "pattern":
            return model.PatternConstraint(each.pattern)
        case _:
            raise DescriptorError("a constraint is of a kind that this version does not know")


def _bound(bounds: pb.Range, side: str) -> int | float | None:
    if not bounds.HasField("low" if side == "low" else "high"):
        return None
    number = bounds.low if side == "low" else bounds.high
    match number.WhichOneof("kind"):
        case "integer":
            return number.integer
        case "large":
            return number.large
        case "real":
            return number.real
        case _:
            raise DescriptorError("a bound of a range has no number")
