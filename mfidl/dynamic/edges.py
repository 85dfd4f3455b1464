"""F6. The values at the borders of a scalar type: of its range, of encoded lengths, of hard texts."""

import struct

from mfidl import model
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.model import Scalar

_TEXTS = ("", "a", "é", "€", "😀", "\0", '"\\\b\f\n\r\t\x1f\x7f', "x" * 127, "y" * 128, "ü" * 70)
_SECOND = 10**9


def edges(schema: Schema, type_: model.Type) -> list[Value]:
    """Of scalars, enums and flags; the plainest first."""
    scalar = schema.number(type_)
    match type_:
        case model.Named(_, model.DeclKind.ENUM) if scalar is not None:
            enum = schema.program.enum(type_)
            named = [each.number for each in enum.members]
            return named if not enum.open else _once([*named, *scalar.limits(), _unnamed(named)])
        case model.Named() if scalar is not None:
            each_bit = [1 << each.bit for each in schema.program.flags(type_).members]
            return _once([0, *each_bit, sum(each_bit), scalar.limits()[1], 1 << scalar.bits - 1])
        case model.Primitive(Scalar.STRING):
            return list(_TEXTS)
        case model.Primitive(Scalar.BYTES):
            return [b"", b"\0", b"\xff", bytes(range(16)), bytes(127), bytes(128)]
        case model.Primitive(Scalar.UUID):
            return [bytes(16), bytes(range(16)), b"\xff" * 16, bytes(15) + b"\1"]
        case model.Primitive(Scalar.BOOL):
            return [False, True]
        case model.Primitive(scalar):
            return _of_float(scalar is Scalar.F32) if scalar.is_float else _of_integer(scalar)
        case _:
            raise AssertionError(type_)


def _unnamed(named: list[int]) -> int:
    return next(each for each in range(len(named) + 1) if each not in named)


def _of_float(single: bool) -> list[float]:
    inside = struct.unpack("<f", struct.pack("<f", 0.1))[0] if single else 0.1
    largest = 3.4028234663852886e38 if single else 1.7976931348623157e308
    smallest, normal = (2.0**-149, 2.0**-126) if single else (5e-324, 2.0**-1022)
    special = [float("nan"), float("inf"), float("-inf")]
    return [0.0, -0.0, 1.0, -1.5, inside, 1e16, 16777216.0, largest, -largest, smallest, normal, *special]


def _of_integer(scalar: Scalar) -> list[int]:
    low, high = scalar.held.limits()
    wanted = [0, 1, -1]
    for power in (6, 7, 8, 14, 15, 16, 21, 28, 31, 32, 35, 42, 49, 53, 56, 63):
        wanted += [(1 << power) - 1, 1 << power, -(1 << power), -(1 << power) - 1]
    if scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
        wanted += [_SECOND, 1_500_000_000, -1_500_000_000, 1_000_001_000, -1, 1_763_686_923_000_000_001]
    return _once([each for each in (*wanted, low, high) if low <= each <= high])


def _once(values: list[int]) -> list[int]:
    return list(dict.fromkeys(values))
