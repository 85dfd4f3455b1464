"""How many bytes an example takes in archive: the message of docs/proto.md, or the graph.

Fields without numbers count as if they were numbered by place. A reference leads to the first object of its
table, which is the example of its type; so each referenced table has one object.
"""

from mfidl import model
from mfidl.explain.example import Examples
from mfidl.explain.febird import Febird
from mfidl.explain.values import Alternative, Entries, Example, Fields, Items, Repeated, UnmeasuredError
from mfidl.model import Scalar, Tier


class Archive:
    """Measures a program's examples. Results are kept, so that shared values are counted once."""

    def __init__(self, program: model.Program, febird: Febird, examples: Examples) -> None:
        self._program = program
        self._febird = febird
        self._examples = examples
        self._kept: dict[int, tuple[Example, int]] = {}

    def size(self, subject: model.Struct | model.Union, value: Example) -> int:
        """The size of a separate value. Raises UnmeasuredError for a custom codec inside, or without an
        example."""
        tables = self._tables(subject)
        if not tables:
            return self._of(subject, value)
        total = _tag(1) + _delimited(self._of(subject, value))
        for number, name in enumerate(tables, 1):
            if number > 1 and name in self._referred(subject):
                other = self._declared(name)
                total += _tag(number) + _delimited(self._of(other, self._examples.of(other)))
        return total

    def _of(self, subject: model.Struct | model.Union, value: Example) -> int:
        """The size of a message."""
        kept = self._kept.get(id(value))
        if kept is None:
            kept = (value, self._message(subject, value))  # keeps the value, and so its id
            self._kept[id(value)] = kept
        return kept[1]

    def _message(self, subject: model.Struct | model.Union, value: Example) -> int:
        match subject, value:
            case model.Union(), Alternative(name, number, held):
                chosen = next(each for each in subject.alternatives if each.name == name)
                return self._single(chosen.type, held, number)
            case model.Struct(), Fields(fields):
                numbered = enumerate(zip(subject.fields, fields, strict=True), 1)
                return sum(self._field(f.type, held, f.number or place) for place, (f, (_, held)) in numbered)
            case _:
                raise UnmeasuredError(f"there is no example of `{subject.name}`")

    def _field(self, type_: model.Type, value: Example, number: int) -> int:
        """The size of a field, or of the content of a message around a container."""
        match type_, value:
            case model.OptionalOf(), None:
                return 0
            case model.OptionalOf(element), _:
                return self._single(element, value, number)
            case ((model.ListOf() | model.SetOf() | model.ArrayOf()), (Repeated() | Items())):
                return self._repeated(type_.element, value, number)
            case model.MapOf(key, held), Entries(entries):
                inside = [self._single(key, k, 1) + self._single(held, v, 2) for k, v in entries]
                return sum(_tag(number) + _delimited(each) for each in inside)
            case _:
                return self._single(type_, value, number)

    def _single(self, type_: model.Type, value: Example, number: int) -> int:
        return _tag(number) + self._value(type_, value)

    def _repeated(self, element: model.Type, value: Repeated | Items, number: int) -> int:
        if isinstance(value, Repeated):
            count, first = value.count, value.element
            total = count * self._value(element, first) if count else 0
        else:
            count = len(value.elements)
            total = sum(self._value(element, each) for each in value.elements)
        if count == 0:
            return 0
        packed = self._is_packed(element)
        return _tag(number) + _delimited(total) if packed else count * _tag(number) + total

    def _is_packed(self, element: model.Type) -> bool:
        match element:
            case model.Primitive(Scalar.STRING | Scalar.BYTES | Scalar.UUID):
                return False
            case model.Primitive() | model.RefOf():
                return True
            case model.Named(_, kind):
                return kind in (model.DeclKind.ENUM, model.DeclKind.FLAGS)
            case _:
                return False

    def _value(self, type_: model.Type, value: Example) -> int:
        """The size without a tag, but with a length if there is one."""
        match type_, value:
            case model.RefOf(), _:
                return 1
            case model.Primitive(scalar, model.Coding.FIXED), _:
                return scalar.bits // 8
            case model.Primitive(_, model.Coding.VARINT), int():
                return _varint(value % (1 << 64))
            case model.Primitive(scalar), _:
                return _scalar(scalar, value)
            case model.Named(), model.EnumValue(number=number):
                return _varint(number % (1 << 64))
            case model.Named(), model.FlagsValue(bits=bits):
                return _varint(bits)
            case model.Named(full_name, _), _:
                held = self._declared(full_name)
                if held.tier is Tier.ARCHIVE:
                    return _delimited(self._of(held, value))
                return _delimited(self._febird.size(type_, value))
            case _, _:
                return _delimited(self._field(type_, value, 1))  # a message around it

    # Graphs

    def _declared(self, full_name: str) -> model.Struct | model.Union:
        found = self._program.declaration(full_name)
        assert isinstance(found, model.Struct | model.Union)
        return found

    def _tables(self, subject: model.Struct | model.Union) -> list[str]:
        """Full names of the types in its graph, its own first; none if its values refer to nothing."""
        referred: set[str] = set()
        seen: set[str] = set()
        pending = [subject]
        while pending:
            at = pending.pop()
            if at.full_name in seen or (at is not subject and at.tier is not Tier.ARCHIVE):
                continue
            seen.add(at.full_name)
            for each in model.members(at):
                referred |= {ref.element.full_name for ref in _refs(each.type)}
                pending += [
                    declared
                    for name in model.names_in([each.type])
                    if isinstance(declared := self._program.declaration(name), model.Struct | model.Union)
                ]
        others = sorted(referred - {subject.full_name})
        return [subject.full_name, *others] if referred else []

    def _referred(self, subject: model.Struct | model.Union) -> set[str]:
        """Full names of the types that the references in examples lead to, from the subject's on."""
        met: set[str] = set()
        held: set[str] = set()
        pending: list[tuple[model.Struct | model.Union, Example]] = [(subject, self._examples.of(subject))]
        while pending:
            at, value = pending.pop()
            held.add(at.full_name)
            for type_, part in _parts(at, value):
                for name, is_ref, inner in self._inside(type_, part):
                    other = self._declared(name)
                    if is_ref and name not in met:
                        met.add(name)
                        pending.append((other, self._examples.of(other)))
                    elif not is_ref and other.tier is Tier.ARCHIVE and name not in held:
                        pending.append((other, inner))
        return met

    def _inside(self, type_: model.Type, value: Example) -> list[tuple[str, bool, Example]]:
        """Structs and unions in a value: names, whether they are referred to, and their values."""
        match type_, value:
            case model.RefOf(element), _:
                return [(element.full_name, True, None)]
            case model.OptionalOf(element), _:
                return [] if value is None else self._inside(element, value)
            case ((model.ListOf(element) | model.ArrayOf(element, _)), Repeated(held, count)):
                return self._inside(element, held) if count else []
            case ((model.ListOf(element) | model.ArrayOf(element, _)), Items(elements)):
                return [found for each in elements for found in self._inside(element, each)]
            case model.MapOf(_, element), Entries(entries):
                return [found for _, each in entries for found in self._inside(element, each)]
            case model.Named(full_name, model.DeclKind.STRUCT | model.DeclKind.UNION), _:
                return [(full_name, False, value)]
            case _:
                return []


def _parts(subject: model.Struct | model.Union, value: Example) -> list[tuple[model.Type, Example]]:
    match subject, value:
        case model.Union(), Alternative(name, _, held):
            chosen = next(each for each in subject.alternatives if each.name == name)
            return [(chosen.type, held)]
        case model.Struct(), Fields(fields):
            return [(f.type, held) for f, (_, held) in zip(subject.fields, fields, strict=True)]
        case _:
            return []


def _refs(type_: model.Type) -> list[model.RefOf]:
    match type_:
        case model.RefOf():
            return [type_]
        case model.ListOf(element) | model.ArrayOf(element, _) | model.OptionalOf(element):
            return _refs(element)
        case model.MapOf(_, element):
            return _refs(element)
        case _:
            return []


def _scalar(scalar: Scalar, value: Example) -> int:
    match value:
        case bool():
            return 1
        case str():
            return _delimited(len(value.encode("utf-8", "replace")))
        case bytes():
            return _delimited(len(value))
        case int() if scalar is Scalar.TIMESTAMP:
            return 8
        case int() if not scalar.is_float:
            signed = scalar.is_signed or scalar is Scalar.DURATION
            return _varint((value << 1) ^ (value >> 63) if signed else value)
        case _:
            return scalar.bits // 8


def _tag(number: int) -> int:
    return _varint(number << 3)


def _varint(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


def _delimited(size: int) -> int:
    return _varint(size) + size
