"""F6. Tier archive: makes the values of complete messages; what a message lacks is known when nothing more
can be merged into it.
"""

from dataclasses import dataclass, field
from typing import Any

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.archive_form import (
    Form,
    Held,
    Place,
    held_as,
    place_in_wrapper,
    place_of_alternative,
    place_of_field,
)
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.defaults import cost, plain, zero, zero_cost
from mfidl.dynamic.value import UNKNOWN, Value


@dataclass(slots=True, eq=False)
class Message:
    """The received part of a message: by field number a value, a list, a dict, or a message."""

    found: dict[int, Any] = field(default_factory=dict)
    unknown: bytearray = field(default_factory=bytearray)
    any_field: bool = False
    end: int = 0


def places_in(at: Decoding, type_: model.Type) -> list[Place]:
    """The places in the message of a value of this type."""
    if not isinstance(type_, model.Named):
        return [place_in_wrapper(type_)]
    if type_.kind is model.DeclKind.UNION:
        return [place_of_alternative(each) for each in at.schema.union(type_).alternatives]
    return [place_of_field(each) for each in at.schema.struct(type_).fields]


def made_one(at: Decoding, type_: model.Type, read: Any) -> Value:
    """The value of what was read: a message, or already a value."""
    if not isinstance(read, Message):
        return read
    if isinstance(type_, model.Named):
        return made_named(at, type_, read)
    place = place_in_wrapper(type_)
    return _made_place(at, place, read)


def made_named(at: Decoding, type_: model.Named, message: Message) -> Value:
    if type_.kind is model.DeclKind.UNION:
        return _made_union(at, at.schema.union(type_), message)
    struct = at.schema.struct(type_)
    value = {}
    made = {}
    for place in sorted(places_in(at, type_), key=lambda each: each.number):
        at.path.steps.append(place.name)
        made[place.name] = _made_place(at, place, message)
        at.path.steps.pop()
    for each in struct.fields:
        value[each.name] = made[each.name]
    if message.unknown:
        value[UNKNOWN] = bytes(message.unknown)
    return value


def _made_union(at: Decoding, union: model.Union, message: Message) -> Value:
    for each in union.alternatives:
        if each.number in message.found:
            at.path.steps.append(each.name)
            value = made_one(at, each.type, message.found[each.number])
            at.path.steps.pop()
            return {each.name: value}
    fault = Fault.UNKNOWN_ALTERNATIVE if message.any_field else Fault.MISSING_FIELD
    raise at.fail(fault, f"no alternative of {union.full_name} is there", message.end)


def _made_place(at: Decoding, place: Place, message: Message) -> Value:
    found = message.found.get(place.number)
    match place.form:
        case Form.REPEATED:
            return _made_elements(at, place, found, message.end)
        case Form.MAP:
            return _sorted_map(found or [])
        case Form.OPTIONAL:
            return None if found is None else made_one(at, place.type, found)
        case _ if found is not None:
            return made_one(at, place.type, found)
    return _default(at, place, message.end)


def _default(at: Decoding, place: Place, end: int) -> Any:
    """The value of a place for which nothing was sent."""
    if place.field is not None and place.field.default is not None:
        value = plain(at.schema, place.field.type, place.field.default)
        at.charge(cost(value))  # one more than may be is no harm: a schema's defaults stand in it in full
        return value
    raise at.fail(Fault.MISSING_FIELD, f"{_called(place)} is missing", end)


def _called(place: Place) -> str:
    return f"`{place.name}`" if place.name else model.spell(place.type)


def _made_elements(at: Decoding, place: Place, found: list[Any] | None, end: int) -> list[Value]:
    type_ = place.type
    if isinstance(type_, model.ArrayOf) and len(found or []) != type_.length:
        if not found:
            return _default(at, place, end)  # type: ignore[no-any-return]
        reason = f"{model.spell(type_)} has {type_.length} elements, not {len(found)}"
        raise at.fail(Fault.WRONG_LENGTH, reason, end)
    if isinstance(type_, model.SetOf):
        return [key for key, _ in _sorted_map([(each, None) for each in found or []]).items()]
    return found or []


def _sorted_map(entries: list[tuple[Value, Value]]) -> dict[Value, Value]:
    """Of equal keys the last. Python compares strings by code point, which is the order of their UTF-8."""
    return dict(sorted(dict(entries).items(), key=lambda entry: entry[0]))


def _knows_zero(at: Decoding, type_: model.Type) -> bool:
    number = at.schema.number(type_)
    return number is None or number.members is None or number.is_bool or 0 in number.members


def zero_in_entry(at: Decoding, type_: model.Type, message: Message, start: int) -> Value:
    """The key or value that an entry lacks: an empty message, or a new value of another tier. `start`: where
    the entry begins, which an error for lack of memory names.
    """
    match held_as(at.schema, type_):
        case Held.NUMBER if not _knows_zero(at, type_):
            raise at.fail(Fault.UNKNOWN_ENUM_VALUE, f"0 is no member of {model.spell(type_)}", message.end)
        case Held.NUMBER:  # of an enum 0 itself, which need not be what a new value begins with
            number = at.schema.number(type_)
            assert number is not None
            return False if number.is_bool else 0.0 if number.is_float else 0
        case Held.SCALAR:
            return zero(at.schema, type_)
        case Held.MESSAGE | Held.WRAPPED:
            at.charge(48 + 8 * len(places_in(at, type_)), start)
            return made_one(at, type_, Message(end=message.end))
        case Held.REF:
            assert isinstance(type_, model.RefOf)
            return checked_index(at, type_, 0, message.end)
        case Held.FOREIGN:
            if isinstance(type_, model.Named) and at.schema.tier(type_) is model.Tier.CUSTOM:
                raise at.fail(Fault.MISSING_FIELD, f"{model.spell(type_)} is missing", message.end)
            at.charge(zero_cost(at.schema, type_), start)
            return zero(at.schema, type_)


def checked_index(at: Decoding, type_: model.RefOf, index: int, start: int) -> int:
    objects = at.tables.get(type_.element.full_name, 0)
    if index >= objects:
        reason = f"{index} is behind the end of the table of {type_.element.full_name}, which has {objects}"
        raise at.fail(Fault.INVALID_REFERENCE, reason, start)
    return index
