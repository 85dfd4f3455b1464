"""About how many bytes a value takes in archive: protobuf's rules, counted on the example.

An estimate, and printed as one ("about"): signed integers as zigzag varints, numbers in lists packed, values
of other tiers as bytes fields, an object graph as a single object. Fields without numbers count as if they
were numbered by their places.
"""

from mfidl import model
from mfidl.explain.febird import Febird
from mfidl.explain.values import Alternative, Entries, Example, Fields, Items, Repeated, UnmeasuredError
from mfidl.model import Scalar


class Archive:
    """Measures a program's examples. Results are kept, so that shared values are counted once."""

    def __init__(self, program: model.Program, febird: Febird) -> None:
        self._program = program
        self._febird = febird
        self._kept: dict[int, tuple[Example, int]] = {}

    def about(self, subject: model.Struct | model.Union, value: Example) -> int:
        """Raises UnmeasuredError where a custom codec is inside, or there is no example."""
        kept = self._kept.get(id(value))
        if kept is None:
            kept = (value, self._message(subject, value))  # keeps the value, and so its id
            self._kept[id(value)] = kept
        return kept[1]

    def _message(self, subject: model.Struct | model.Union, value: Example) -> int:
        match subject, value:
            case model.Union(), Alternative(name, number, held):
                chosen = next(each for each in subject.alternatives if each.name == name)
                return self._field(chosen.type, held, number)
            case model.Struct(), Fields(fields):
                numbered = enumerate(zip(subject.fields, fields, strict=True), 1)
                return sum(self._field(f.type, held, f.number or place) for place, (f, (_, held)) in numbered)
            case _:
                raise UnmeasuredError(f"there is no example of `{subject.name}`")

    def _field(self, type_: model.Type, value: Example, number: int) -> int:
        tag = _varint(number << 3)
        match type_, value:
            case model.RefOf(), None:
                return tag + 1  # an index into the table of objects
            case _, None:
                return 0
            case model.OptionalOf(element), _:
                return self._field(element, value, number)
            case ((model.ListOf() | model.SetOf() | model.ArrayOf()), (Repeated() | Items())):
                return self._repeated(type_.element, value, number)
            case model.MapOf(key, held), Entries(entries):
                inside = [self._field(key, k, 1) + self._field(held, v, 2) for k, v in entries]
                return sum(tag + _delimited(each) for each in inside)
            case _:
                return tag + self._value(type_, value)

    def _repeated(self, element: model.Type, value: Repeated | Items, number: int) -> int:
        if isinstance(value, Repeated):
            count, first = value.count, value.element
            total = count * self._value(element, first) if count else 0
        else:
            count = len(value.elements)
            total = sum(self._value(element, each) for each in value.elements)
        if count == 0:
            return 0
        tag = _varint(number << 3)
        return tag + _delimited(total) if self._is_packed(element) else count * tag + total

    def _is_packed(self, element: model.Type) -> bool:
        match element:
            case model.Primitive(Scalar.STRING | Scalar.BYTES | Scalar.UUID):
                return False
            case model.Primitive():
                return True
            case model.Named(_, kind):
                return kind in (model.DeclKind.ENUM, model.DeclKind.FLAGS)
            case _:
                return False

    def _value(self, type_: model.Type, value: Example) -> int:
        """Without a tag; what has a length says it first."""
        match type_, value:
            case model.Primitive(scalar), _:
                return _scalar(scalar, value)
            case model.Named(), model.EnumValue(number=number):
                return _varint(number % (1 << 64))
            case model.Named(), model.FlagsValue(bits=bits):
                return _varint(bits)
            case model.Named(full_name, _), _:
                held = self._program.declaration(full_name)
                assert isinstance(held, model.Struct | model.Union)
                if held.tier is model.Tier.ARCHIVE:
                    return _delimited(self.about(held, value))
                return _delimited(self._febird.size(type_, value))
            case _, None:
                return _delimited(0)
            case _, _:
                return _delimited(self._field(type_, value, 1))  # a container in a container: a message


def _scalar(scalar: Scalar, value: Example) -> int:
    match value:
        case bool():
            return 1
        case str():
            return _delimited(len(value.encode("utf-8", "replace")))
        case bytes():
            return _delimited(len(value))
        case int() if not scalar.is_float:
            signed = scalar.is_signed or scalar in (Scalar.TIMESTAMP, Scalar.DURATION)
            return _varint((value << 1) ^ (value >> 63) if signed else value)
        case _:
            return scalar.bits // 8


def _varint(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


def _delimited(size: int) -> int:
    return _varint(size) + size
