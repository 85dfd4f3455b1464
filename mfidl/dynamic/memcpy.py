"""F6. Tier memcpy: the little-endian layout that the descriptor gives, taken whole. Padding is zero in what
is written, and may be anything in what is read. Also the runs of such values that febird holds as they are.
"""

import struct

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.defaults import zero, zero_cost
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.dynamic.wording import counted
from mfidl.model import Scalar


def read_struct(at: Decoding, type_: model.Named) -> Value:
    """A struct, whole; inside of other tiers and alone."""
    declared = at.schema.struct(type_)
    assert declared.layout is not None
    implicit = at.schema.is_implicit(declared)
    if not implicit:
        at.enter()
    at.need(declared.layout.size)
    at.charge(max(48 + 8 * declared.layout.size, zero_cost(at.schema, type_)))
    value = _fields(at, declared)
    if not implicit:
        at.leave()
    return value


def read_field_of_archive(at: Decoding, type_: model.Named, start: int) -> Value:
    """In a `bytes` field, which is as long as the layout or wrong; `start` is where its length is."""
    size = at.schema.fixed_size(type_)
    if at.end - at.pos != size:
        reason = f"{type_.full_name} has {counted(size or 0, 'byte')}, not {at.end - at.pos}"
        raise at.fail(Fault.WRONG_LENGTH, reason, start)
    return read_struct(at, type_)


def read_alone(at: Decoding, type_: model.Type) -> Value:
    """A value that is no struct, on its own."""
    at.need(at.schema.fixed_size(type_) or 0)
    if not isinstance(type_, model.ArrayOf):
        return read(at, type_)
    at.enter()
    value = read(at, type_)
    at.leave()
    return value


def read(at: Decoding, type_: model.Type) -> Value:
    """Any type with a layout, of which all bytes are there. A struct in it is no further level."""
    number = at.schema.number(type_)
    if number is not None:
        return read_number(at, number)
    match type_:
        case model.Primitive():
            return read_uuid(at, type_)
        case model.ArrayOf(element, length):
            return read_run(at, element, length)
        case _:
            assert isinstance(type_, model.Named)
            return _fields(at, at.schema.struct(type_))


def read_run(at: Decoding, element: model.Type, count: int) -> list[Value]:
    """Elements one behind the other, of which all bytes are there."""
    number = at.schema.number(element)
    if number is not None and number.members is None and at.listener is None:
        values = list(struct.unpack_from(f"<{count}{number.letter}", at.data, at.pos))
        at.pos += count * number.size
        return values
    if not at.schema.fixed_size(element):
        return zero(at.schema, model.ArrayOf(element, count))  # type: ignore[no-any-return]
    values = []
    for index in range(count):
        at.path.steps.append(index)
        values.append(read(at, element))
        at.path.steps.pop()
    return values


def read_number(at: Decoding, number: Number) -> Value:
    start = at.pos
    (value,) = struct.unpack(f"<{number.letter}", at.take(number.size))
    if not number.is_bool:
        at.note(start, "value", number.type, value)
        return at.checked(number, value, start)
    value = at.checked(number, value, start)
    at.note(start, "value", number.type, value)
    return value


def read_uuid(at: Decoding, type_: model.Type) -> bytes:
    start = at.pos
    value = at.take(16)
    at.note(start, "value", type_, value)
    return value


def _fields(at: Decoding, declared: model.Struct) -> Value:
    assert declared.layout is not None
    start, value = at.pos, {}
    for field, slot in zip(declared.fields, declared.layout.slots, strict=True):
        _padding(at, start + slot.offset)
        at.path.steps.append(field.name)
        value[field.name] = read(at, field.type)
        at.path.steps.pop()
    _padding(at, start + declared.layout.size)
    return value


def _padding(at: Decoding, to: int) -> None:
    if to > at.pos:
        start, at.pos = at.pos, to
        at.note(start, "padding")


# Writing ----------------------------------------------------------------------------------------------------


def write_struct(to: Encoding, type_: model.Named, value: Value) -> None:
    declared = to.schema.struct(type_)
    implicit = to.schema.is_implicit(declared)
    if not implicit:
        to.enter()
    _write_fields(to, declared, value)
    if not implicit:
        to.leave()


def write(to: Encoding, type_: model.Type, value: Value) -> None:
    number = to.schema.number(type_)
    if number is not None:
        to.fixed(number, to.number(number, value))
        return
    match type_:
        case model.Primitive(Scalar.UUID):
            to.data += to.uuid(value, type_)
        case model.ArrayOf(element, _):
            for index, each in enumerate(to.elements(value, type_)):
                to.path.steps.append(index)
                write(to, element, each)
                to.path.steps.pop()
        case model.Named():
            _write_fields(to, to.schema.struct(type_), value)
        case _:
            raise to.fail(f"{model.spell(type_)} has no fixed layout, so it cannot be memcpy")


def _write_fields(to: Encoding, declared: model.Struct, value: Value) -> None:
    if declared.layout is None:
        raise to.fail(f"{declared.full_name} is {declared.tier.value}, so it cannot be memcpy")
    start = len(to.data)
    values = to.fields(declared, value)
    for field, slot in zip(declared.fields, declared.layout.slots, strict=True):
        to.data += bytes(start + slot.offset - len(to.data))
        to.path.steps.append(field.name)
        write(to, field.type, values[field.name])
        to.path.steps.pop()
    to.data += bytes(start + declared.layout.size - len(to.data))
