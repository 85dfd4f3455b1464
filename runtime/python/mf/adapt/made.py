"""R1. Shapes (mf.codec.shape) and classes for the types of a schema that was read at run time.

Nothing of the peer's choice becomes Python text: attributes are called f0, f1, ... in the order of the
fields. Enums and flags are plain integers here, open ones even where the schema says closed: whether a number
may be is the conversion's affair (values.py), or that of the codec at the end.

`like`: types that another schema has as well; they get the shapes that were made for that one, so that values
of them need no conversion.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from mf.codec import shape as s
from mf.codec.archived import GraphAlternative, GraphStruct
from mf.codec.codec import Codec
from mf.codec.flags import Flags
from mf.codec.sizes import has_layout
from mf.core.archive_struct import ArchiveStruct
from mf.core.error import Error
from mf.core.plain_struct import PlainStruct
from mf.evolution.reading import graphs
from mf.evolution.rules import Absent
from mf.evolution.schema import Declared, Field, Fields, Schema
from mf.evolution.types import (
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    RefTo,
    Scalar,
    SchemaError,
    SetOf,
    Type,
)

SCALARS = {
    each.name: each
    for each in (s.BOOL, s.I8, s.I16, s.I32, s.I64, s.U8, s.U16, s.U32, s.U64, s.F32, s.F64, s.STRING)
} | {each.name: each for each in (s.BYTES, s.TIMESTAMP, s.DURATION, s.UUID)}
CODED = {
    (each.name, each.coding): each
    for each in (s.I32_VARINT, s.I64_VARINT, s.I32_FIXED, s.I64_FIXED, s.U32_FIXED, s.U64_FIXED)
}


_BITS = {f"{sign}{bits}": bits for sign in "iu" for bits in (8, 16, 32, 64)}
_WORDS = {"true": True, "false": False}
_TEXT = re.compile(r'"[ !#-\[\]-~]*"\Z')
_FRACTION = re.compile(r"-?(0|[1-9][0-9]{0,15})\.[0-9]{1,17}\Z")
_NUMBER = re.compile(r"(-?[1-9][0-9]{0,19}|0)\Z")


class _Numbers:
    """Replaces the class of an enum: its values are numbers, which have names in JSON."""

    def __init__(self, members: Mapping[str, int]) -> None:
        self.__members__ = dict(members)

    def __call__(self, number: int) -> int:
        return number


class OpaqueCustom(s.Custom):
    """A custom type whose bytes are its value."""

    def __init__(self, name: str) -> None:  # not in the list of those that programs have
        self.name = name
        self.module = "mf.adapt.opaque"
        self.codec = "Opaque"


class Made:
    """The shapes of one schema, made when they are asked for. Raises SchemaError for a default that is no
    value of its type."""

    def __init__(self, schema: Schema, like: "Mapping[str, s.Shape] | None" = None) -> None:
        self.schema = schema
        self._graphs = graphs(schema)
        self._named: dict[str, s.Shape] = dict(like or {})

    def shape(self, type_: Type) -> s.Shape:
        match type_:
            case Scalar(name, coding):
                return CODED[name, coding] if coding else SCALARS[name]
            case Named(name):
                return self._declared(name)
            case ListOf(element):
                return s.List(self.shape(element))
            case SetOf(element):
                return s.Set(self.shape(element))
            case MapOf(key, value):
                return s.Map(self.shape(key), self.shape(value))
            case ArrayOf(element, length):
                return s.Array(self.shape(element), length)
            case OptionalOf(element):
                return s.Optional(self.shape(element))
            case RefTo(element):
                return s.Ref(self.shape(element))

    def fields(self, name: str, fields: Fields) -> s.Struct:
        """The parameters or results of a method, as one value."""
        return self._struct(name, fields.fields, memcpy=fields.tier == "memcpy", implicit=True)

    def alone(self, name: str, type_: Type) -> s.Composite:
        """A value on its own, and an element of a stream: a struct or union as it is, all else as the only
        field of a struct."""
        shape = self.shape(type_)
        if isinstance(shape, s.Composite):
            return shape
        return self.element(name, type_)

    def element(self, name: str, type_: Type) -> s.Struct:
        """The only field of a struct, of tier memcpy where that can be."""
        field = Field("value", type_)
        return self._struct(name, (field,), memcpy=has_layout(self.shape(type_)), implicit=True)

    def absent(self, absent: Absent) -> Callable[[], Any]:
        """The value of a field that is not given, a new one each time."""
        type_, text = absent.type, absent.default
        if text is not None:
            return self._default(self.shape(type_), text)
        if isinstance(type_, OptionalOf):
            return _none
        return {ListOf: list, SetOf: set, MapOf: dict}[type(type_)]

    def _default(self, shape: s.Shape, text: str) -> Callable[[], Any]:
        bare = shape.element if isinstance(shape, s.Optional) else shape

        def make() -> Any:
            plain = _plain(bare, text)
            if plain is not None:
                return plain
            # Rare, and slow to import.
            from mf.codec.json import value_of

            try:
                return value_of(bare, text)
            except Error as wrong:
                raise SchemaError(
                    f"a default of {self.schema.name} is {text[:80]}: {wrong.message}"
                ) from None

        made = make()
        return (lambda: made) if isinstance(made, (int, float, str, bytes)) else make

    # Declared types

    def _declared(self, name: str) -> s.Shape:
        found = self._named.get(name)
        if found is None:
            declared = self.schema.types[name]
            if declared.base:
                found = self._named[name] = numbers(declared, closed=False)
            elif declared.tier == "custom":
                found = self._named[name] = OpaqueCustom(name)
            elif declared.kind == "union":
                found = self._union(declared)
            else:
                base = base_of(declared.tier == "archive", name in self._graphs)
                found = self._struct(
                    name,
                    declared.fields,
                    memcpy=declared.tier == "memcpy",
                    archive=declared.tier == "archive",
                    base=base,
                )
        return found

    def _struct(
        self,
        name: str,
        fields: tuple[Field, ...],
        *,
        base: type = PlainStruct,
        memcpy: bool = False,
        archive: bool = False,
        implicit: bool = False,
    ) -> s.Struct:
        def listed() -> tuple[s.Field, ...]:
            return tuple(self._field(at, field, archive) for at, field in enumerate(fields))

        made = made_class(name, [f"f{at}" for at in range(len(fields))], base)
        shape = s.Struct(name, made, listed, memcpy=memcpy, archive=archive, implicit=implicit)
        if not implicit:
            self._named[name] = shape
        return shape

    def _field(self, at: int, field: Field, archive: bool) -> s.Field:
        shape = self.shape(field.type)
        default = None
        if field.default is not None:
            default = _Late(self._default, shape, field.default)
        return s.Field(field.name, shape, f"f{at}", number=field.number if archive else 0, default=default)

    def _union(self, declared: Declared) -> s.Union:
        archive = declared.tier == "archive"
        base = GraphAlternative if declared.name in self._graphs else PlainStruct
        classes = [made_class(f"{declared.name}.{each.name}", ["value"], base) for each in declared.fields]

        def listed() -> tuple[s.Alternative, ...]:
            return tuple(
                s.Alternative(each.number, each.name, made, self.shape(each.type))
                for each, made in zip(declared.fields, classes, strict=True)
            )

        shape = self._named[declared.name] = s.Union(declared.name, listed, archive=archive)
        return shape


class _Late:
    """A default that is read when it is first needed: its shape may not be complete before."""

    __slots__ = ("_arguments", "_make", "_of")

    def __init__(self, of: Callable[..., Callable[[], Any]], *arguments: Any) -> None:
        self._of = of
        self._arguments = arguments
        self._make: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        if self._make is None:
            self._make = self._of(*self._arguments)
        return self._make()


def _none() -> None:
    return None


def base_of(archive: bool, refers: bool) -> type:
    """What a struct's class derives from; `refers`: its values lead to references."""
    if not archive:
        return PlainStruct
    return GraphStruct if refers else ArchiveStruct


def made_class(name: str, attributes: list[str], base: type) -> type:
    """A class like those that the compiler generates. Its constructor takes all fields in their order."""
    slots = tuple(attributes)
    kept = [("__mf_unknown__", b"")] if issubclass(base, ArchiveStruct) else []

    def constructor(self: Any, *values: Any) -> None:
        for attribute, value in zip(slots, values, strict=True):
            setattr(self, attribute, value)
        for attribute, value in kept:
            setattr(self, attribute, value)

    body = {"__module__": __name__, "__slots__": slots, "__match_args__": slots, "__init__": constructor}
    return type(name.rpartition(".")[2], (base,), body)


def numbers(declared: Declared, *, closed: bool) -> s.Enum:
    """Of an enum or flags; `closed`: an enum has no other numbers than its members, unless it is open."""
    base = SCALARS[declared.base]
    if declared.kind == "enum":
        is_open = declared.open or not closed
        return s.Enum(declared.name, _Numbers(declared.numbers), base, open=is_open)

    class Bits(Flags, bits=base.bits):
        __slots__ = ()

    Bits.__members__ = {name: Bits(1 << bit) for name, bit in declared.numbers.items()}
    return s.Enum(declared.name, Bits, base, open=True)


def codec(shape: s.Composite, where: str) -> Codec[Any, Any]:
    return Codec(shape, where=where)


def _plain(shape: s.Shape, text: str) -> Any:
    """The value of a plain number, word or text; None for all else, and for what is none."""
    name = shape.name if isinstance(shape, s.Scalar) and not shape.coding else ""
    if name == "bool":
        return _WORDS.get(text)
    if name == "string":
        return text[1:-1] if _TEXT.match(text) else None
    if name == "f64":
        return float(text) if _FRACTION.match(text) else None
    bits = _BITS.get(name)
    if bits is None:
        return None
    if bits == 64:
        if len(text) < 3 or text[0] != '"' or text[-1] != '"':
            return None
        text = text[1:-1]
    if not _NUMBER.match(text):
        return None
    number, lowest = int(text), -(1 << bits - 1) if name[0] == "i" else 0
    return number if lowest <= number < lowest + (1 << bits) else None
