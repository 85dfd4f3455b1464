"""What tests of integers in blocks share: numbers of all widths, and damaged bytes, which are the same value
to a codec and to a reader of its own, or the same fault at the same place."""

import random
from typing import Any

import mf
from mf.codec import shape as s
from mf.codec.failure import CodecError
from mf.codec.lookup import codec_of
from tests.python.codec.directly import read


def limits(scalar: s.Scalar) -> tuple[int, int]:
    bits = scalar.bits
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if scalar.name[0] == "i" else (0, (1 << bits) - 1)


def mixed(scalar: s.Scalar, chance: random.Random, count: int) -> list[int]:
    """Blocks of different widths."""
    low, high = limits(scalar)
    values: list[int] = []
    while len(values) < count:
        bits = chance.choice([0, 7, 8, 15, 16, 31, 32, 63, 64])
        top, bottom = min(high, (1 << bits) - 1), max(low, -(1 << bits))
        values += [chance.randint(bottom, top) for _ in range(chance.choice([1, 200, 256, 300]))]
    return values[:count]


def carefully(shape: s.Shape, data: bytes) -> Any:
    return read(shape, data)


def expect_alike(shape: s.Shape, data: bytearray, at: int, chance: random.Random) -> None:
    """Damages `data`, at `at` or at its end."""
    match chance.randrange(3):
        case 0:
            data[at] = chance.randrange(256)
        case 1:
            del data[-chance.randint(1, 3) :]
        case _:
            data[at:at] = chance.randbytes(1)
    outcomes = []
    for attempt in (codec_of(shape).decode, lambda data: carefully(shape, data)):
        try:
            outcomes.append(attempt(bytes(data)))
        except (mf.DecodeError, CodecError) as error:
            path = error.path() if isinstance(error, CodecError) else error.path
            outcomes.append((error.fault, error.offset, path))
    assert outcomes[0] == outcomes[1]
