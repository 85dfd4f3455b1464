"""F6. Tier archive, reading: proto2 messages, in any order, merged as protobuf does.

Missing fields are known only when nothing can be merged any more. So a message is read into a `Message`, each
time it occurs, and converted to a value when the surrounding one has ended.
"""

import struct
from typing import Any

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic import memcpy
from mfidl.dynamic.archive_form import (
    Form,
    Held,
    Place,
    Wire,
    held_as,
    is_zigzag,
    place_in_wrapper,
    wire_of,
    wire_of_number,
)
from mfidl.dynamic.archive_made import Message, checked_index, made_named, made_one, places_in, zero_in_entry
from mfidl.dynamic.archive_tags import read_field_tag, skip
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.model import Scalar, Tier

_NODE = 100


def read_message(at: Decoding, type_: model.Named) -> Value:
    """A struct or union, to the end of the window; not as a graph of its own."""
    message = Message()
    _read_into(at, type_, message)
    return made_named(at, type_, message)


def _read_into(at: Decoding, type_: model.Named, message: Message) -> None:
    at.enter()
    if type_.kind is model.DeclKind.UNION:
        _read_places(at, places_in(at, type_), message, is_union=True)
    else:
        places = places_in(at, type_)
        at.charge(48 + 8 * len(places))
        _read_places(at, places, message, keeps_unknown=True)
    at.leave()


def _read_places(
    at: Decoding,
    places: list[Place],
    message: Message,
    *,
    is_union: bool = False,
    keeps_unknown: bool = False,
) -> None:
    steps = len(at.path.steps)
    names = {each.number: each.name for each in places}
    by_number = {each.number: each for each in places}
    faulty = 0
    try:
        while at.pos < at.end:
            start = at.pos
            faulty = 0
            number, wire = read_field_tag(at, names)
            faulty = number
            message.any_field = True
            place = by_number.get(number)
            if place is None:
                skip(at, number, wire, start)
                if keeps_unknown:
                    message.unknown += at.data[start : at.pos]
                    at.charge(at.pos - start)
                continue
            if is_union and number not in message.found:
                _supersede(at, places, message)
            if place.name:
                at.path.steps.append(place.name)
            _read_place(at, place, wire, message, start)
            if place.name:
                at.path.steps.pop()
    except DecodeError as error:
        del at.path.steps[steps:]
        raise _leftmost(at, places, message, faulty, error) from None
    message.end = at.pos


def _supersede(at: Decoding, places: list[Place], message: Message) -> None:
    """Another alternative follows: missing fields of the previous one are irrelevant, but those of messages
    in it are not."""
    found, message.found = message.found, {}
    for place in places:
        inner = found.get(place.number)
        if not isinstance(inner, Message):
            continue
        for each in places_in(at, place.type):
            lacking = inner.found.get(each.number)
            if isinstance(lacking, Message):
                steps = [name for name in (place.name, each.name) if name]
                at.path.steps += steps
                made_one(at, each.type, lacking)
                del at.path.steps[-len(steps) :]


def _leftmost(
    at: Decoding, places: list[Place], message: Message, faulty: int, error: DecodeError
) -> DecodeError:
    """Called when nothing more is merged: missing fields of a message before the fault are reported first.
    The field with the fault is incomplete, whatever parts of it came before.
    """
    for place in places:
        found = message.found.get(place.number)
        if isinstance(found, Message) and place.number != faulty:
            steps = len(at.path.steps)
            at.path.steps += [place.name] if place.name else []
            try:
                made_one(at, place.type, found)
            except DecodeError as lack:
                error = lack if lack.offset <= error.offset else error
            del at.path.steps[steps:]
    return error


def _read_place(at: Decoding, place: Place, wire: Wire, message: Message, tag: int) -> None:
    match place.form:
        case Form.REPEATED:
            assert isinstance(place.type, model.ListOf | model.SetOf | model.ArrayOf)
            at.enter()
            _read_repeated(at, place.type.element, wire, message.found.setdefault(place.number, []), tag)
            at.leave()
        case Form.MAP:
            assert isinstance(place.type, model.MapOf)
            at.enter()
            _read_entry(at, place.type, wire, message.found.setdefault(place.number, []), tag)
            at.leave()
        case _:
            _check_wire(at, place.type, wire, tag)
            message.found[place.number] = _read_one(at, place.type, message.found.get(place.number))


def _check_wire(at: Decoding, type_: model.Type, wire: Wire, tag: int) -> None:
    wanted = wire_of(at.schema, type_)
    if wire is not wanted:
        reason = f"wire type {wire.value} where {model.spell(type_)} has {wanted.value}"
        raise at.fail(Fault.WRONG_WIRE_TYPE, reason, tag)


def _read_one(at: Decoding, type_: model.Type, before: Any = None) -> Any:
    """One value, or a message that may continue later; `before` is its earlier part."""
    match held_as(at.schema, type_):
        case Held.NUMBER:
            number = at.schema.number(type_)
            assert number is not None
            return _read_number(at, number)
        case Held.REF:
            assert isinstance(type_, model.RefOf)
            return _read_reference(at, type_)
        case Held.SCALAR:
            return _read_scalar(at, type_)
        case Held.FOREIGN:
            assert isinstance(type_, model.Named)
            return _read_foreign(at, type_)
        case Held.MESSAGE:
            assert isinstance(type_, model.Named)
            message = before if isinstance(before, Message) else Message()
            with at.window(at.length(shortest=False)):
                _read_into(at, type_, message)
            return message
        case Held.WRAPPED:
            message = before if isinstance(before, Message) else Message()
            with at.window(at.length(shortest=False)):
                _read_places(at, [place_in_wrapper(type_)], message)
            return message


def _read_repeated(at: Decoding, element: model.Type, wire: Wire, values: list[Any], tag: int) -> None:
    number = at.schema.number(element)
    packs = number is not None or isinstance(element, model.RefOf)
    if packs and wire is Wire.BYTES:
        with at.window(at.length(shortest=False)):
            _read_packed(at, element, number, values)
        return
    at.path.steps.append(len(values))
    _check_wire(at, element, wire, tag)
    at.charge(8)
    values.append(made_one(at, element, _read_one(at, element)))
    at.path.steps.pop()


def _read_packed(at: Decoding, element: model.Type, number: Number | None, values: list[Any]) -> None:
    if number is not None and wire_of_number(number) is not Wire.VARINT and at.listener is None:
        whole = (at.end - at.pos) // number.size
        at.charge(8 * whole)
        values += memcpy.read_run(at, number.type, whole)
    while at.pos < at.end:
        at.charge(8)
        at.path.steps.append(len(values))
        values.append(_read_one(at, element))
        at.path.steps.pop()


def _read_entry(at: Decoding, type_: model.MapOf, wire: Wire, entries: list[Any], tag: int) -> None:
    """An entry as a message of two fields; missing ones are zero."""
    at.path.steps.append(len(entries))
    if wire is not Wire.BYTES:
        raise at.fail(Fault.WRONG_WIRE_TYPE, f"wire type {wire.value} where an entry of a map has 2", tag)
    start = at.pos
    at.charge(_NODE)
    places = [Place(1, "", type_.key, Form.SINGLE), Place(2, "", type_.value, Form.SINGLE)]
    message = Message()
    with at.window(at.length(shortest=False)):
        _read_places(at, places, message)
    key, value = (
        made_one(at, place.type, message.found[place.number])
        if place.number in message.found
        else zero_in_entry(at, place.type, message, start)
        for place in places
    )
    entries.append((key, value))
    at.path.steps.pop()


# Values of one field ----------------------------------------------------------------------------------------


def _read_number(at: Decoding, number: Number) -> Value:
    if wire_of_number(number) is not Wire.VARINT:
        start = at.pos
        (value,) = struct.unpack(f"<{number.letter}", at.take(number.size))
        at.note(start, "value", number.type, value)
        return value
    start = at.pos
    wide = at.varint(64, shortest=False)
    if is_zigzag(number):
        wide = wide >> 1 ^ -(wide & 1)
    elif number.is_signed and wide >> 63:
        wide -= 1 << 64
    at.note(start, "value", number.type, wide)
    if number.is_bool:
        return at.checked(number, wide, start)
    low, high = number.limits
    if not low <= wide <= high:
        reason = f"{wide} does not fit in {model.spell(number.type)}"
        raise at.fail(Fault.NUMBER_OUT_OF_RANGE, reason, start)
    return at.checked(number, wide, start)


def _read_reference(at: Decoding, type_: model.RefOf) -> int:
    start = at.pos
    index = at.varint(64, shortest=False)
    at.note(start, "index in the table", type_, index)
    if index >> 32:
        raise at.fail(Fault.NUMBER_OUT_OF_RANGE, f"an index of {index} does not fit in u32", start)
    return checked_index(at, type_, index, start)


def _read_scalar(at: Decoding, type_: model.Type) -> Value:
    start = at.pos
    size = at.length(shortest=False)
    match type_:
        case model.Primitive(Scalar.STRING):
            return at.text(size, type_)
        case model.Primitive(Scalar.BYTES):
            return at.blob(size, type_)
        case _:
            if size != 16:
                raise at.fail(Fault.WRONG_LENGTH, f"a uuid has 16 bytes, not {size}", start)
            return memcpy.read_uuid(at, type_)


def _read_foreign(at: Decoding, type_: model.Named) -> Value:
    start = at.pos
    outer, at.tables = at.tables, {}
    with at.window(at.length(shortest=False)):
        if at.schema.tier(type_) is Tier.MEMCPY:
            value = memcpy.read_field_of_archive(at, type_, start)
        else:
            value = at.in_tier(type_)
    at.tables = outer
    return value
