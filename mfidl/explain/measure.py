"""The bytes of examples, as the runtime's codecs write them.

A type is measured in tiers that it does not have, too: its fields are then those of another shape. Examples
become the objects that the codecs take; a reference leads to the example of its type.
"""

from typing import Any

from mf.adapt.made import made_class
from mf.codec import shape as s
from mf.codec.archived import GraphStruct
from mf.codec.codec import Codec
from mf.codec.failure import CodecError
from mf.codec.json import to_json
from mf.core.error import Error
from mfidl import model
from mfidl.dynamic import Schema
from mfidl.dynamic.codec import coded
from mfidl.dynamic.objects import of_root
from mfidl.dynamic.value import Repeated, opened
from mfidl.explain.example import Examples
from mfidl.explain.febird import of_custom
from mfidl.explain.values import Example, Foreign, UnmeasuredError
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
        value = self._object(made.shape, self._examples.of_type(type_))
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
        value = self._object(shape, example)
        try:
            return len(codec.encode(value))
        except Error as error:
            raise UnmeasuredError(error.message) from None

    def _object(self, shape: s.Shape, example: Example) -> Any:
        """A reference leads to the example of its type, which may lead back to it."""
        if _Work().of(example) > _MOST:
            raise UnmeasuredError("an example would have millions of values")
        try:
            return of_root(shape, example, _opened, self._referred)
        except CodecError as failure:
            raise UnmeasuredError(failure.text()) from None

    def _referred(self, full_name: str) -> list[Any]:
        declared = self._schema.program.declaration(full_name)
        assert isinstance(declared, model.Struct | model.Union)
        return [_opened(self._examples.of(declared))]


class _Work:
    """How much it is to encode examples, which are shared, and may stand for very many values."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, example: Example) -> int:
        if id(example) not in self._known:
            self._known[id(example)] = self._counted(example)
        return self._known[id(example)]

    def _counted(self, example: Example) -> int:
        match example:
            case Repeated(element, count):
                few = isinstance(element, int | float)
                return 1 + (count // _MANY if few else count * self.of(element))
            case model.ListValue(elements):
                return 1 + sum(map(self.of, elements))
            case model.MapValue(entries):
                return 1 + sum(self.of(key) + self.of(value) for key, value in entries)
            case model.StructValue(_, fields):
                return 1 + sum(self.of(value) for _, value in fields)
            case model.UnionValue(_, _, value):
                return 1 + self.of(value)
            case _:
                return 1


def _opened(example: Example) -> Any:
    if isinstance(example, Foreign):
        raise of_custom(example.type)
    return opened(example)
