"""F6. Tier febird: field by field, without tags (docs/protocol.md, section 8)."""

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic import blocks, memcpy, rows
from mfidl.dynamic.decoding import NOTHING, Decoding
from mfidl.dynamic.defaults import zero, zero_cost
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.number import Number
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.model import Scalar, Tier

_ENTRY = 8  # what an element costs beside itself, roughly
_NODE = 100  # the same of an element of a set or map


def read(at: Decoding, type_: model.Type) -> Value:
    number = at.schema.number(type_)
    if number is not None:
        return _read_packed(at, number) if number.is_packed else memcpy.read_number(at, number)
    match type_:
        case model.Primitive(Scalar.STRING):
            return at.text(at.length(shortest=True), type_)
        case model.Primitive(Scalar.BYTES):
            return at.blob(at.length(shortest=True), type_)
        case model.Primitive():
            return memcpy.read_uuid(at, type_)
        case model.OptionalOf(element):
            return read(at, element) if _read_presence(at) else None
        case model.ListOf(element):
            at.enter()
            found = _read_elements(at, element, _ENTRY)
            at.leave()
            return found
        case model.SetOf(element):
            return _read_set(at, element)
        case model.ArrayOf(element, length):
            return _read_array(at, element, length)
        case model.MapOf():
            return _read_map(at, type_)
        case _:
            assert isinstance(type_, model.Named)
            return _read_declared(at, type_)


def read_struct(at: Decoding, type_: model.Named) -> Value:
    """A struct of this tier. Or a union, which is its alternative's number and value."""
    if type_.kind is model.DeclKind.UNION:
        return _read_union(at, type_)
    declared = at.schema.struct(type_)
    implicit = at.schema.is_implicit(declared)
    if not implicit:
        at.enter()
    at.charge(48 + 8 * len(declared.fields))
    value = {}
    for field in declared.fields:
        at.path.steps.append(field.name)
        value[field.name] = read(at, field.type)
        at.path.steps.pop()
    if not implicit:
        at.leave()
    return value


def _read_declared(at: Decoding, type_: model.Named) -> Value:
    match at.schema.tier(type_):
        case Tier.MEMCPY:
            return memcpy.read_struct(at, type_)
        case Tier.FEBIRD:
            return read_struct(at, type_)
        case _:
            with at.window(at.length(shortest=True)):
                return at.in_tier(type_)


def _read_union(at: Decoding, type_: model.Named) -> Value:
    at.enter()
    at.charge(48)
    union, start = at.schema.union(type_), at.pos
    number = at.varint(32, shortest=True)
    chosen = next((each for each in union.alternatives if each.number == number), None)
    if chosen is None:
        reason = f"{number} is no alternative of {union.full_name}"
        raise at.fail(Fault.UNKNOWN_ALTERNATIVE, reason, start)
    at.path.steps.append(chosen.name)
    at.note(start, "alternative", None, number)
    value = {chosen.name: read(at, chosen.type)}
    at.path.steps.pop()
    at.leave()
    return value


def _read_packed(at: Decoding, number: Number) -> Value:
    start = at.pos
    value = at.varint(8 * number.size, shortest=True)
    if number.is_signed:
        value = value >> 1 ^ -(value & 1)
    at.note(start, "value", number.type, value)
    return at.checked(number, value, start)


def _read_presence(at: Decoding) -> bool:
    start = at.pos
    byte = at.take(1)[0]
    if byte > 1:
        raise at.fail(Fault.INVALID_BOOL, f"a presence byte of {byte} is neither 0 nor 1", start)
    at.note(start, "present" if byte else "absent", None, NOTHING)
    return byte == 1


def _read_count(at: Decoding, smallest: int) -> int:
    start = at.pos
    count = at.varint(32, shortest=True)
    at.note(start, "count", None, count)
    at.check_count(count, smallest, start)
    return count


def _read_elements(at: Decoding, element: model.Type, cost: int) -> list[Value]:
    """Of a list: its row, or its count and its elements."""
    number = at.schema.number(element)
    if number is not None and number.is_packed:
        return rows.read_row(at, number)
    count = _read_count(at, at.schema.smallest(element))
    at.charge(count * cost)
    if number is not None:
        return memcpy.read_run(at, element, count)
    return _each(at, element, count)


def _each(at: Decoding, element: model.Type, count: int) -> list[Value]:
    if count and at.schema.is_composite(element) and at.schema.fixed_size(element) == 0:
        return _nothings(at, element, count)
    values = []
    for index in range(count):
        at.path.steps.append(index)
        values.append(read(at, element))
        at.path.steps.pop()
    return values


def _nothings(at: Decoding, element: model.Type, count: int) -> list[Value]:
    """Structs without bytes: there is nothing to look at, however many they are."""
    at.path.steps.append(0)
    at.enter()
    at.leave()
    at.path.steps.pop()
    at.charge(count * zero_cost(at.schema, element))
    return zero(at.schema, model.ArrayOf(element, count))  # type: ignore[no-any-return]


def _read_array(at: Decoding, element: model.Type, length: int) -> list[Value]:
    at.enter()
    at.charge(_ENTRY * length)
    number = at.schema.number(element)
    if number is not None and number.is_packed:
        values = rows.read_array(at, number, length)
    elif number is not None and length * number.size <= at.end - at.pos:
        values = memcpy.read_run(at, element, length)
    else:
        values = _each(at, element, length)
    at.leave()
    return values


def _read_set(at: Decoding, element: model.Type) -> list[Value]:
    at.enter()
    number = at.schema.number(element)
    if number is not None and number.is_packed:
        values = rows.read_row(at, number, ascending=True)
        at.charge(_NODE * len(values))
    else:
        count = _read_count(at, at.schema.smallest(element))
        at.charge(_NODE * count)
        values = []
        for index in range(count):
            at.path.steps.append(index)
            start = at.pos
            values.append(read(at, element))
            rows.check_order(at, values[-2:], start)
            at.path.steps.pop()
    at.leave()
    return values


def _read_map(at: Decoding, type_: model.MapOf) -> dict[Value, Value]:
    at.enter()
    count = _read_count(at, at.schema.smallest(type_.key) + at.schema.smallest(type_.value))
    at.charge(_NODE * count)
    numbers = _numbers_in_blocks(at.schema, type_)
    found = _read_pairs(at, type_, count) if numbers is None else blocks.read(at, *numbers, count)
    at.leave()
    return found


def _read_pairs(at: Decoding, type_: model.MapOf, count: int) -> dict[Value, Value]:
    found: dict[Value, Value] = {}
    last: list[Value] = []
    for index in range(count):
        at.path.steps.append(index)
        start = at.pos
        key = read(at, type_.key)
        rows.check_order(at, [*last, key], start)
        last = [key]
        found[key] = read(at, type_.value)
        at.path.steps.pop()
    return found


def _numbers_in_blocks(schema: Schema, type_: model.MapOf) -> tuple[Number, Number] | None:
    """Of keys and values, if both are of the types that are written in rows; None: in pairs."""
    key, value = schema.number(type_.key), schema.number(type_.value)
    if key is None or value is None or not (key.is_packed and value.is_packed):
        return None
    return key, value


# Writing ----------------------------------------------------------------------------------------------------


def write(to: Encoding, type_: model.Type, value: Value) -> None:
    number = to.schema.number(type_)
    if number is not None:
        _write_number(to, number, to.number(number, value))
        return
    match type_:
        case model.Primitive(Scalar.STRING):
            _write_behind_length(to, to.text(value, type_))
        case model.Primitive(Scalar.BYTES):
            _write_behind_length(to, to.blob(value, type_))
        case model.Primitive():
            to.data += to.uuid(value, type_)
        case model.OptionalOf(element):
            to.data.append(value is not None)
            if value is not None:
                write(to, element, value)
        case model.ListOf(element) | model.ArrayOf(element, _):
            _write_elements(to, element, to.elements(value, type_), isinstance(type_, model.ListOf))
        case model.SetOf(element):
            _write_elements(to, element, to.ascending(value, type_), True)
        case model.MapOf():
            _write_map(to, type_, value)
        case model.Named():
            _write_declared(to, type_, value)
        case _:
            raise to.fail(f"{model.spell(type_)} has no place outside of an archive")


def write_struct(to: Encoding, type_: model.Named, value: Value) -> None:
    if type_.kind is model.DeclKind.UNION:
        _write_union(to, type_, value)
        return
    declared = to.schema.struct(type_)
    implicit = to.schema.is_implicit(declared)
    if not implicit:
        to.enter()
    values = to.fields(declared, value)
    for field in declared.fields:
        to.path.steps.append(field.name)
        write(to, field.type, values[field.name])
        to.path.steps.pop()
    if not implicit:
        to.leave()


def _write_declared(to: Encoding, type_: model.Named, value: Value) -> None:
    match to.schema.tier(type_):
        case Tier.MEMCPY:
            memcpy.write_struct(to, type_, value)
        case Tier.FEBIRD:
            write_struct(to, type_, value)
        case _:
            to.sealed(lambda: to.in_tier(type_, value))


def _write_union(to: Encoding, type_: model.Named, value: Value) -> None:
    to.enter()
    chosen, held = to.alternative(to.schema.union(type_), value)
    to.varint(chosen.number or 0)
    to.path.steps.append(chosen.name)
    write(to, chosen.type, held)
    to.path.steps.pop()
    to.leave()


def _write_number(to: Encoding, number: Number, value: Value) -> None:
    if not number.is_packed:
        to.fixed(number, value)
    elif number.is_signed:
        to.varint((value << 1) ^ (value >> 63))
    else:
        to.varint(value)


def _write_behind_length(to: Encoding, data: bytes) -> None:
    to.varint(len(data))
    to.data += data


def _write_elements(to: Encoding, element: model.Type, values: list[Value], counted: bool) -> None:
    to.enter()
    number = to.schema.number(element)
    if number is not None and number.is_packed:
        for index, each in enumerate(values):
            to.path.steps.append(index)
            to.number(number, each)
            to.path.steps.pop()
        (rows.write_row if counted else rows.write_array)(to, number, values)
    else:
        if counted:
            to.varint(len(values))
        for index, each in enumerate(values):
            to.path.steps.append(index)
            write(to, element, each)
            to.path.steps.pop()
    to.leave()


def _write_map(to: Encoding, type_: model.MapOf, value: Value) -> None:
    to.enter()
    entries = to.entries(value, type_)
    to.varint(len(entries))
    numbers = _numbers_in_blocks(to.schema, type_)
    for index, (key, held) in enumerate(entries):
        to.path.steps.append(index)
        if numbers is None:
            write(to, type_.key, key)
            write(to, type_.value, held)
        else:
            to.number(numbers[0], key)
            to.number(numbers[1], held)
        to.path.steps.pop()
    if numbers is not None:
        blocks.write(to, *numbers, entries)
    to.leave()
