"""F4. Which numbers fit which types, the order of keys on the wire, and the size of values."""

import math
import struct

from mfidl import model


def as_float(value: int | float, scalar: model.Scalar) -> float | None:
    """The nearest number of the type, or None beyond its largest: infinity is written `inf`."""
    try:
        number = float(value)
        if scalar is model.Scalar.F32:
            struct.pack("<f", number)
    except OverflowError:
        return None
    return None if math.isinf(number) else number


def as_held(value: float, type_: model.Type) -> float:
    """What a value of the type holds of a number: an f32 the one nearest to it."""
    if isinstance(type_, model.Primitive) and type_.scalar is model.Scalar.F32:
        held: float = struct.unpack("<f", struct.pack("<f", value))[0]
        return held
    return value


def fits_kind(own: model.Type, wanted: model.Type) -> bool:
    """Whether a constant's number may stand for another type, if its value fits."""
    if not (isinstance(own, model.Primitive) and isinstance(wanted, model.Primitive)):
        return False
    if own == wanted or (own.scalar.is_integer and wanted.scalar.is_integer):
        return True
    return wanted.scalar.is_float and (own.scalar.is_integer or own.scalar.is_float)


def is_integer(type_: model.Type) -> bool:
    expanded = model.expand(type_)
    return isinstance(expanded, model.Primitive) and expanded.scalar.is_integer


def order(value: model.Value) -> tuple[int, bytes]:
    """Ascending order of keys as on the wire: numbers by value, text by its bytes."""
    match value:
        case str():
            return 0, value.encode()
        case bytes():
            return 0, value
        case bool() | int():
            return int(value), b""
        case model.EnumValue():
            return value.number, b""
        case _:
            return 0, b""


def weight(value: model.Value) -> int:
    """How much there is to write of a value beside one scalar: elements, and bytes of text."""
    total = 0
    stack = [value]
    while stack:
        match stack.pop():
            case str() | bytes() as text:
                total += len(text)
            case model.ListValue(elements):
                total += len(elements)
                stack += elements
            case model.MapValue(entries):
                total += len(entries)
                for key, held in entries:
                    stack += [key, held]
            case model.StructValue(_, fields):
                total += len(fields)
                stack += [held for _, held in fields]
            case model.UnionValue(_, _, held):
                total += 1
                stack.append(held)
            case _:
                pass
    return total
