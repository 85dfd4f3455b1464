"""F6. The tables of types and values: each entry once, after those that it refers to.

Types that compare equal may differ in the constraints of their elements; entries are compared by their
encoded bytes. A shared object is visited once: constants may consist of constants, so that the tree of their
values can be far larger than the schema.
"""

from collections.abc import Iterable

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.words import to_int64

_INT64_MAX = (1 << 63) - 1


class TypeTable:
    """Fills `Program.types`."""

    def __init__(self, program: pb.Program) -> None:
        self._entries = program.types
        self._known: dict[bytes, int] = {}
        self._seen: dict[int, int] = {}  # by id: the program outlives the table

    def add(self, type_: model.Type) -> int:
        """The number of a type."""
        number = self._seen.get(id(type_))
        if number is None:
            entry = self._entry(type_)
            number = self._known.setdefault(entry.SerializeToString(deterministic=True), len(self._entries))
            if number == len(self._entries):
                self._entries.append(entry)
            self._seen[id(type_)] = number
        return number

    def _entry(self, type_: model.Type) -> pb.Type:
        match type_:
            case model.Primitive(scalar, coding):
                return pb.Type(scalar=scalar.name, coding=coding.name if coding is not None else None)
            case model.Named():
                return pb.Type(named=pb.Named(full_name=type_.full_name, kind=type_.kind.name))
            case model.ListOf():
                return pb.Type(list=self._elements(type_))
            case model.SetOf():
                return pb.Type(set=self._elements(type_))
            case model.ArrayOf():
                element = self.add(type_.element)
                checks = constraints(type_.constraints)
                return pb.Type(array=pb.ArrayOf(element=element, length=type_.length, constraints=checks))
            case model.MapOf():
                return pb.Type(map=self._map(type_))
            case model.OptionalOf():
                return pb.Type(optional=self.add(type_.element))
            case model.RefOf():
                return pb.Type(ref=self.add(type_.element))
            case model.AliasOf():
                target = self.add(type_.target)
                return pb.Type(alias=pb.AliasOf(full_name=type_.full_name, target=target))

    def _elements(self, type_: model.ListOf | model.SetOf) -> pb.Elements:
        element = self.add(type_.element)
        return pb.Elements(element=element, constraints=constraints(type_.constraints))

    def _map(self, type_: model.MapOf) -> pb.MapOf:
        return pb.MapOf(
            key=self.add(type_.key),
            value=self.add(type_.value),
            key_constraints=constraints(type_.key_constraints),
            value_constraints=constraints(type_.value_constraints),
        )


class ValueTable:
    """Fills `Program.values`."""

    def __init__(self, program: pb.Program) -> None:
        self._entries = program.values
        self._known: dict[bytes, int] = {}
        self._seen: dict[int, int] = {}  # by id: the program outlives the table

    def add(self, value: model.Value) -> int:
        """The number of a value."""
        number = self._seen.get(id(value))
        if number is None:
            entry = self._entry(value)
            number = self._known.setdefault(entry.SerializeToString(deterministic=True), len(self._entries))
            if number == len(self._entries):
                self._entries.append(entry)
            self._seen[id(value)] = number
        return number

    def _entry(self, value: model.Value) -> pb.Value:
        match value:
            case bool():
                return pb.Value(boolean=value)
            case int():
                return pb.Value(large=value) if value > _INT64_MAX else pb.Value(integer=value)
            case float():
                return pb.Value(real=value)
            case str():
                return pb.Value(text=value)
            case bytes():
                return pb.Value(raw=value)
            case _:
                return self._composed(value)

    def _composed(
        self,
        value: model.EnumValue
        | model.FlagsValue
        | model.ListValue
        | model.MapValue
        | model.StructValue
        | model.UnionValue,
    ) -> pb.Value:
        match value:
            case model.EnumValue():
                number = to_int64(value.number)
                return pb.Value(enum=pb.EnumValue(enum=value.enum, member=value.member, number=number))
            case model.FlagsValue():
                bits = pb.FlagsValue(flags=value.flags, members=value.members, bits=value.bits)
                return pb.Value(flags=bits)
            case model.ListValue():
                return pb.Value(list=pb.ListValue(elements=[self.add(each) for each in value.elements]))
            case model.MapValue():
                entries = [
                    pb.MapEntry(key=self.add(key), value=self.add(each)) for key, each in value.entries
                ]
                return pb.Value(map=pb.MapValue(entries=entries))
            case model.StructValue():
                fields = [pb.FieldValue(name=name, value=self.add(each)) for name, each in value.fields]
                return pb.Value(struct=pb.StructValue(struct=value.struct, fields=fields))
            case model.UnionValue():
                chosen = self.add(value.value)
                named = {"union": value.union, "alternative": value.alternative}
                return pb.Value(union=pb.UnionValue(value=chosen, **named))


def constraints(given: Iterable[model.Constraint]) -> list[pb.Constraint]:
    return [_constraint(each) for each in given]


def _constraint(each: model.Constraint) -> pb.Constraint:
    match each:
        case model.RangeConstraint():
            return pb.Constraint(range=pb.Range(low=_number(each.low), high=_number(each.high)))
        case model.LengthConstraint():
            return pb.Constraint(length=pb.Length(low=each.low, high=each.high))
        case model.FiniteConstraint():
            return pb.Constraint(finite=True)
        case model.PatternConstraint():
            return pb.Constraint(pattern=each.pattern)


def _number(bound: int | float | None) -> pb.Number | None:
    if bound is None:
        return None
    if isinstance(bound, float):
        return pb.Number(real=bound)
    return pb.Number(large=bound) if bound > _INT64_MAX else pb.Number(integer=bound)
