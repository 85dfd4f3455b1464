"""F6. The values at the borders of a scalar type: of its range, of encoded lengths, of hard texts."""

import struct

from mfidl import model
from mfidl.dynamic.number import Number
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.model import Scalar

_TEXTS = ("", "a", "é", "€", "😀", "\0", '"\\\b\f\n\r\t\x1f\x7f', "x" * 127, "y" * 128, "ü" * 70)
_SECOND = 10**9


def edges(schema: Schema, type_: model.Type) -> list[Value]:
    """Of scalars, enums and flags; the plainest first."""
    number = schema.number(type_)
    if number is not None:
        return _of_number(schema, number)
    assert isinstance(type_, model.Primitive)
    match type_.scalar:
        case Scalar.STRING:
            return list(_TEXTS)
        case Scalar.BYTES:
            return [b"", b"\0", b"\xff", bytes(range(16)), bytes(127), bytes(128)]
        case _:
            return [bytes(16), bytes(range(16)), b"\xff" * 16, bytes(15) + b"\1"]


def _of_number(schema: Schema, number: Number) -> list[Value]:
    match number.type:
        case model.Named(_, model.DeclKind.ENUM):
            enum = schema.program.enum(number.type)
            low, high = number.limits
            named = [each.number for each in enum.members]
            return named if not enum.open else _once([*named, low, high, _unnamed(named)])
        case model.Named():
            return _of_flags(schema.program.flags(number.type), number)
        case _ if number.is_bool:
            return [False, True]
        case _ if number.is_float:
            return _of_float(number.scalar is Scalar.F32)
        case _:
            return _of_integer(number)


def _unnamed(named: list[int]) -> int:
    return next(each for each in range(len(named) + 1) if each not in named)


def _of_flags(flags: model.Flags, number: Number) -> list[int]:
    each_bit = [1 << each.bit for each in flags.members]
    return _once([0, *each_bit, sum(each_bit), number.limits[1], 1 << 8 * number.size - 1])


def _of_float(single: bool) -> list[float]:
    inside = struct.unpack("<f", struct.pack("<f", 0.1))[0] if single else 0.1
    largest = 3.4028234663852886e38 if single else 1.7976931348623157e308
    smallest, normal = (2.0**-149, 2.0**-126) if single else (5e-324, 2.0**-1022)
    special = [float("nan"), float("inf"), float("-inf")]
    return [0.0, -0.0, 1.0, -1.5, inside, 1e16, 16777216.0, largest, -largest, smallest, normal, *special]


def _of_integer(number: Number) -> list[int]:
    low, high = number.limits
    wanted = [0, 1, -1]
    for power in (6, 7, 8, 14, 15, 16, 21, 28, 31, 32, 35, 42, 49, 53, 56, 63):
        wanted += [(1 << power) - 1, 1 << power, -(1 << power), -(1 << power) - 1]
    if number.scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
        wanted += [_SECOND, 1_500_000_000, -1_500_000_000, 1_000_001_000, -1, 1_763_686_923_000_000_001]
    return _once([each for each in (*wanted, low, high) if low <= each <= high])


def _once(values: list[int]) -> list[int]:
    return list(dict.fromkeys(values))
