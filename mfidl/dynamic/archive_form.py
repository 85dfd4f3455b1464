"""F6. The form of fields in archive messages, for reader and writer (docs/proto.md).

A place is the meaning of one field number of a message. A message is that of a struct, of a union, of an
entry of a map (key 1, value 2), or the wrapper of a container or optional inside another one (value 1).
"""

from dataclasses import dataclass
from enum import Enum

from mfidl import model
from mfidl.dynamic.number import Number
from mfidl.dynamic.schema import Schema
from mfidl.model import Scalar, Tier


class Form(Enum):
    SINGLE = "single"
    OPTIONAL = "optional"
    REPEATED = "repeated"
    MAP = "map"


class Wire(Enum):
    """protobuf's wire types."""

    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    OPEN = 3
    CLOSE = 4
    FIXED32 = 5


class Held(Enum):
    """The wire form of one value."""

    NUMBER = "number"
    REF = "ref"
    SCALAR = "scalar"  # string, bytes, uuid
    FOREIGN = "foreign"  # of another tier, as bytes
    MESSAGE = "message"  # of an archive struct or union
    WRAPPED = "wrapped"  # a container or optional, in a message of its own


@dataclass(frozen=True, slots=True)
class Place:
    """`type` is that of the field without `?`; `field` is there in structs and unions."""

    number: int
    name: str
    type: model.Type
    form: Form
    field: model.Field | None = None


def place_of_field(field: model.Field) -> Place:
    type_ = field.type.element if isinstance(field.type, model.OptionalOf) else field.type
    form = Form.OPTIONAL if type_ is not field.type else form_of(type_)
    return Place(field.number or 0, field.name, type_, form, field)


def place_of_alternative(field: model.Field) -> Place:
    return Place(field.number or 0, field.name, field.type, Form.SINGLE, field)


def place_in_wrapper(type_: model.Type) -> Place:
    """The only field of the message around a container or optional."""
    if isinstance(type_, model.OptionalOf):
        return Place(1, "", type_.element, Form.OPTIONAL)
    return Place(1, "", type_, form_of(type_))


def form_of(type_: model.Type) -> Form:
    match type_:
        case model.ListOf() | model.SetOf() | model.ArrayOf():
            return Form.REPEATED
        case model.MapOf():
            return Form.MAP
        case _:
            return Form.SINGLE


def held_as(schema: Schema, type_: model.Type) -> Held:
    match type_:
        case model.RefOf():
            return Held.REF
        case model.ListOf() | model.SetOf() | model.ArrayOf() | model.MapOf() | model.OptionalOf():
            return Held.WRAPPED
        case _ if schema.number(type_) is not None:
            return Held.NUMBER
        case model.Named():
            return Held.MESSAGE if schema.tier(type_) is Tier.ARCHIVE else Held.FOREIGN
        case _:
            return Held.SCALAR


def wire_of(schema: Schema, type_: model.Type) -> Wire:
    """Of one value."""
    match held_as(schema, type_):
        case Held.REF:
            return Wire.VARINT
        case Held.NUMBER:
            number = schema.number(type_)
            assert number is not None
            return wire_of_number(number)
        case _:
            return Wire.BYTES


def wire_of_number(number: Number) -> Wire:
    if _coding(number) is model.Coding.FIXED:
        return Wire.FIXED32 if number.size == 4 else Wire.FIXED64
    match number.scalar:
        case Scalar.F32:
            return Wire.FIXED32
        case Scalar.F64 | Scalar.TIMESTAMP:
            return Wire.FIXED64
        case _:
            return Wire.VARINT


def is_zigzag(number: Number) -> bool:
    """Signed scalars without a coding use zigzag; enums are int64 or protobuf enums, in two's complement."""
    return number.is_signed and not number.is_declared and _coding(number) is None


def _coding(number: Number) -> model.Coding | None:
    return number.type.coding if isinstance(number.type, model.Primitive) else None
