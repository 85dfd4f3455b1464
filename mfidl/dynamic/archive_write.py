"""F6. Tier archive, writing: fields in the order of their numbers, numbers packed, sets and maps ascending,
unknown fields unchanged after the known ones.
"""

from mfidl import model
from mfidl.dynamic.archive_form import (
    Form,
    Held,
    Place,
    Wire,
    held_as,
    is_zigzag,
    place_in_wrapper,
    place_of_alternative,
    place_of_field,
    wire_of,
    wire_of_number,
)
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import UNKNOWN, Value
from mfidl.model import Scalar


def write_message(to: Encoding, type_: model.Named, value: Value) -> None:
    """A struct or union; not as a graph of its own."""
    to.enter()
    if type_.kind is model.DeclKind.UNION:
        chosen, held = to.alternative(to.schema.union(type_), value)
        _write_place(to, place_of_alternative(chosen), held)
    else:
        struct = to.schema.struct(type_)
        values = to.fields(struct, value)
        for place in sorted((place_of_field(each) for each in struct.fields), key=lambda each: each.number):
            _write_place(to, place, values[place.name])
        to.data += to.blob(value.get(UNKNOWN, b""), type_)
    to.leave()


def write_tag(to: Encoding, number: int, wire: Wire) -> None:
    to.varint(number << 3 | wire.value)


def _write_place(to: Encoding, place: Place, value: Value) -> None:
    if place.name:
        to.path.steps.append(place.name)
    match place.form:
        case Form.REPEATED:
            to.enter()
            _write_repeated(to, place, value)
            to.leave()
        case Form.MAP:
            to.enter()
            _write_map(to, place, value)
            to.leave()
        case _ if place.form is Form.SINGLE or value is not None:
            write_tag(to, place.number, wire_of(to.schema, place.type))
            _write_one(to, place.type, value)
    if place.name:
        to.path.steps.pop()


def _write_repeated(to: Encoding, place: Place, value: Value) -> None:
    assert isinstance(place.type, model.ListOf | model.SetOf | model.ArrayOf)
    element = place.type.element
    if isinstance(place.type, model.SetOf):
        values = to.ascending(value, place.type)
    else:
        values = to.elements(value, place.type)
    packed = held_as(to.schema, element) in (Held.NUMBER, Held.REF)
    if not packed:
        for index, each in enumerate(values):
            to.path.steps.append(index)
            write_tag(to, place.number, wire_of(to.schema, element))
            _write_one(to, element, each)
            to.path.steps.pop()
    elif values:
        write_tag(to, place.number, Wire.BYTES)
        to.sealed(lambda: _write_all(to, element, values))


def _write_all(to: Encoding, element: model.Type, values: list[Value]) -> None:
    for index, each in enumerate(values):
        to.path.steps.append(index)
        _write_one(to, element, each)
        to.path.steps.pop()


def _write_map(to: Encoding, place: Place, value: Value) -> None:
    assert isinstance(place.type, model.MapOf)
    key_type, value_type = place.type.key, place.type.value
    for index, (key, held) in enumerate(to.entries(value, place.type)):
        to.path.steps.append(index)
        write_tag(to, place.number, Wire.BYTES)
        entry = ((Place(1, "", key_type, Form.SINGLE), key), (Place(2, "", value_type, Form.SINGLE), held))
        to.sealed(lambda entry=entry: _write_entry(to, entry))  # type: ignore[misc]
        to.path.steps.pop()


def _write_entry(to: Encoding, entry: tuple[tuple[Place, Value], ...]) -> None:
    for place, value in entry:
        _write_place(to, place, value)


def _write_one(to: Encoding, type_: model.Type, value: Value) -> None:
    match held_as(to.schema, type_):
        case Held.NUMBER:
            number = to.schema.number(type_)
            assert number is not None
            _write_number(to, number, to.number(number, value))
        case Held.REF:
            to.varint(to.of(int, value, type_))
        case Held.SCALAR:
            data = _scalar(to, type_, value)
            to.varint(len(data))
            to.data += data
        case Held.MESSAGE:
            assert isinstance(type_, model.Named)
            named = type_
            to.sealed(lambda: write_message(to, named, value))
        case Held.FOREIGN:
            assert isinstance(type_, model.Named)
            foreign = type_
            to.sealed(lambda: to.in_tier(foreign, value))
        case Held.WRAPPED:
            to.sealed(lambda: _write_place(to, place_in_wrapper(type_), value))


def _scalar(to: Encoding, type_: model.Type, value: Value) -> bytes:
    match type_:
        case model.Primitive(Scalar.STRING):
            return to.text(value, type_)
        case model.Primitive(Scalar.BYTES):
            return to.blob(value, type_)
        case _:
            return to.uuid(value, type_)


def _write_number(to: Encoding, number: Number, value: Value) -> None:
    if wire_of_number(number) is not Wire.VARINT:
        to.fixed(number, value)
    elif is_zigzag(number):
        to.varint((value << 1) ^ (value >> 63))
    else:
        to.varint(int(value) & (1 << 64) - 1)
