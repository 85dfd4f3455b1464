"""The careful reader beside the fast one: bytes that were damaged are the same value to both, or the same
fault at the same place."""

import random
from typing import Any

import mf
from mf.codec import shape as s
from mf.codec.careful_error import CarefulError
from mf.codec.careful_reader import CarefulReader
from mf.codec.limits import DEFAULT_LIMITS
from mf.codec.lookup import codec_of


def carefully(shape: s.Shape, data: bytes) -> Any:
    reader = CarefulReader(data, DEFAULT_LIMITS)
    value = reader.read(shape)
    reader.finish()
    return value


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
    for read in (codec_of(shape).decode, lambda data: carefully(shape, data)):
        try:
            outcomes.append(read(bytes(data)))
        except (mf.DecodeError, CarefulError) as error:
            outcomes.append((error.fault, error.offset, error.path))
    assert outcomes[0] == outcomes[1]
