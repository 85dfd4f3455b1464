"""The bytes of examples, as the runtime's codecs write them.

A type is measured in tiers that it does not have, too: its fields are then those of another shape. Examples
become the objects that the codecs take; a reference leads to the example of its type.
"""

from typing import Any
from uuid import UUID

from mf.adapt.made import made_class
from mf.codec import shape as s
from mf.codec.archived import GraphStruct
from mf.codec.codec import Codec
from mf.codec.json import to_json
from mf.core.error import Error
from mfidl import model
from mfidl.dynamic import Schema
from mfidl.dynamic.codec import coded
from mfidl.explain.example import Examples
from mfidl.explain.febird import of_custom
from mfidl.explain.values import (
    Alternative,
    Entries,
    Example,
    Fields,
    Foreign,
    Items,
    Repeated,
    UnmeasuredError,
)
from mfidl.model import Tier

Subject = model.Struct | model.Union
_MOST = 1 << 20  # values of an example, of which numbers in lists and arrays count less
_MANY = 32  # as many of these as one of the others


class Measure:
    """Of a program's examples. Raises UnmeasuredError for a custom codec inside, and for too many values."""

    def __init__(self, program: model.Program, examples: Examples) -> None:
        self._schema = Schema(program)
        self._examples = examples
        self._in_tier: dict[tuple[str, Tier], s.Composite] = {}

    def size(self, type_: model.Type, example: Example) -> int:
        """Of a value as it is in febird, among others."""
        made = coded(self._schema, type_, Tier.FEBIRD)
        return self._written(made.codec, made.shape, example)

    def fields(self, subject: Subject, example: Example) -> int:
        """Of a struct field by field, or of an alternative with its number, whatever the tier is."""
        return self._alone(subject, Tier.FEBIRD, example)

    def archive(self, subject: Subject, example: Example) -> int:
        """Of a message or a graph. Fields without numbers count as if they were numbered by place."""
        return self._alone(subject, Tier.ARCHIVE, example)

    def json(self, type_: model.Type) -> str:
        """The example of a type as JSON."""
        made = coded(self._schema, type_, None)
        value = _Objects(self._schema, self._examples).of(made.shape, self._examples.of_type(type_))
        try:
            return to_json(value, made.json)
        except Error as error:
            raise UnmeasuredError(error.message) from None

    def _alone(self, subject: Subject, tier: Tier, example: Example) -> int:
        key = subject.full_name, tier
        if key not in self._in_tier:
            self._in_tier[key] = self._shape(subject, tier)
        shape = self._in_tier[key]
        return self._written(Codec(shape), shape, example)

    def _shape(self, subject: Subject, tier: Tier) -> s.Composite:
        own = self._schema.shape(subject.reference)
        if not isinstance(own, s.Struct | s.Union):
            raise of_custom(subject.full_name)
        archive = tier is Tier.ARCHIVE
        if own.archive and archive:
            return own
        if isinstance(own, s.Union):
            return s.Union(own.name, lambda: own.alternatives, archive=archive)
        if not archive:
            return s.Struct(own.name, own.type, lambda: own.fields)
        assert isinstance(subject, model.Struct)
        made = made_class(own.name, [each.attribute for each in own.fields], GraphStruct)
        fields = tuple(
            s.Field(each.name, each.shape, each.attribute, number=of.number or place)
            for place, (each, of) in enumerate(zip(own.fields, subject.fields, strict=True), 1)
        )
        return s.Struct(own.name, made, lambda: fields, archive=True)

    def _written(self, codec: Codec[Any, Any], shape: s.Shape, example: Example) -> int:
        value = _Objects(self._schema, self._examples).of(shape, example)
        try:
            return len(codec.encode(value))
        except Error as error:
            raise UnmeasuredError(error.message) from None


class _Objects:
    def __init__(self, schema: Schema, examples: Examples) -> None:
        self._schema = schema
        self._examples = examples
        self._referred: dict[str, Any] = {}
        self._counts: dict[int, int] = {}

    def of(self, shape: s.Shape, example: Example) -> Any:
        if self._count(example) > _MOST:
            raise UnmeasuredError("an example would have millions of values")
        if isinstance(shape, s.Struct | s.Union) and shape.tables:
            return self._object(shape, example)
        return self._value(shape, example)

    def _value(self, shape: s.Shape, example: Example) -> Any:
        match shape, example:
            case _, Foreign(name):
                raise of_custom(name)
            case s.Ref(element=element), _:
                return self._object(element)
            case _, None:
                return None
            case s.Optional(element=element), _:
                return self._value(element, example)
            case ((s.List(element=element) | s.Array(element=element)), Repeated(value, count)):
                return [self._value(element, value)] * count if count else []
            case ((s.List(element=element) | s.Array(element=element)), Items(values)):
                return [self._value(element, each) for each in values]
            case s.Set(element=element), Items(values):
                return {self._value(element, each) for each in values}
            case s.Map(key=key, value=held), Entries(entries):
                return {self._value(key, k): self._value(held, v) for k, v in entries}
            case s.Struct(), Fields(fields):
                parts = zip(shape.fields, fields, strict=True)
                return shape.make(*(self._value(each.shape, value) for each, (_, value) in parts))
            case s.Union(), Alternative(name, _, value):
                chosen = next(each for each in shape.alternatives if each.name == name)
                return chosen.type(self._value(chosen.shape, value))
            case _:
                return _scalar(shape, example)

    def _object(self, shape: Any, example: Example = None) -> Any:
        """The one of its type that references lead to; they may lead back to it."""
        if shape.name in self._referred:
            return self._referred[shape.name]
        if example is None:
            declared = self._schema.program.declaration(shape.name)
            assert isinstance(declared, model.Struct | model.Union)
            example = self._examples.of(declared)
        if isinstance(example, Alternative):
            chosen = next(each for each in shape.alternatives if each.name == example.name)
            made = self._referred[shape.name] = object.__new__(chosen.type)
            made.value = self._value(chosen.shape, example.value)
            return made
        if not isinstance(example, Fields):
            raise UnmeasuredError(f"there is no example of `{shape.name.rpartition('.')[2]}`")
        made = self._referred[shape.name] = object.__new__(shape.type)
        made.__mf_unknown__ = b""
        for each, (_, value) in zip(shape.fields, example.fields, strict=True):
            setattr(made, each.attribute, self._value(each.shape, value))
        return made

    def _count(self, example: Example) -> int:
        """How much work it is; examples are shared where they repeat, and may stand for very many values."""
        if id(example) not in self._counts:
            self._counts[id(example)] = self._counted(example)
        return self._counts[id(example)]

    def _counted(self, example: Example) -> int:
        match example:
            case Repeated(element, count):
                few = isinstance(element, int | float)
                return 1 + (count // _MANY if few else count * self._count(element))
            case Items(elements):
                return 1 + sum(map(self._count, elements))
            case Entries(entries):
                return 1 + sum(self._count(key) + self._count(value) for key, value in entries)
            case Fields(fields):
                return 1 + sum(self._count(value) for _, value in fields)
            case Alternative(_, _, value):
                return 1 + self._count(value)
            case _:
                return 1


def _scalar(shape: s.Shape, example: Example) -> Any:
    match example:
        case model.EnumValue(number=number):
            return number
        case model.FlagsValue(bits=bits):
            return bits
        case bytes() if shape is s.UUID:
            return UUID(bytes=example)
        case _:
            return example
