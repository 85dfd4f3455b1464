"""What is written is read back, with the same bytes from both paths; and no damage gets through."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mf
from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.codec import Codec
from mf.codec.failure import CodecError
from tests.python.codec.directly import read
from tests.python.codec.generated import codecs_of, writable
from tests.python.codec.strategies import values

SCHEMAS = ("shapes.mfidl", "alternatives.mfidl")
CODECS = {each.shape.name: each for schema in SCHEMAS for each in codecs_of(schema)}
FILLED = sorted(name for name, codec in CODECS.items() if sizes.smallest(codec.shape))


@pytest.mark.parametrize("name", sorted(CODECS))
@given(data=st.data())
def test_a_batch_comes_back_and_is_its_values_together(name: str, data: st.DataObject) -> None:
    codec = CODECS[name]
    batch = data.draw(st.lists(values(codec.shape), max_size=4))
    given_ = [writable(codec, each) for each in batch]

    together = codec.encode_all(given_)

    assert together == b"".join(codec.encode(each) for each in given_)
    assert codec.decode_at(b"?" + bytes(together), 1, len(batch)) == (batch, 1 + len(together))
    assert codec.decode_all(memoryview(together), len(batch)) == batch


@pytest.mark.parametrize("name", FILLED)
@given(data=st.data())
def test_every_prefix_is_a_decode_error(name: str, data: st.DataObject) -> None:
    codec = CODECS[name]
    whole = bytes(codec.encode(writable(codec, data.draw(values(codec.shape)))))
    for end in range(len(whole)):
        with pytest.raises(mf.Error) as caught:
            codec.decode(whole[:end])
        assert caught.value.code is mf.Code.DECODE_ERROR
    with pytest.raises(mf.Error, match="1 byte after the end"):
        codec.decode(whole + b"\0")


@pytest.mark.parametrize("name", FILLED)
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_damage_is_a_clean_error_or_what_a_second_reader_makes_of_it(
    name: str, data: st.DataObject, seed: int
) -> None:
    codec = CODECS[name]
    damaged = bytearray(codec.encode(writable(codec, data.draw(values(codec.shape)))))
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        _damage(damaged, chance)
    assert _outcome(lambda: codec.decode(damaged)) == _outcome(lambda: _carefully(codec, bytes(damaged)))


def _outcome(function: Callable[[], Any]) -> str:
    """The value in words, or that it was refused; anything else that is raised fails the test."""
    try:
        return repr(function())
    except mf.Error as error:
        return "refused" if error.code in (mf.Code.DECODE_ERROR, mf.Code.INVALID_ARGUMENT) else repr(error)
    except CodecError:
        return "refused"


def _damage(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    match chance.randrange(4):
        case 0 if at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        case 1 if at < len(data):
            data[at] = chance.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
        case 2:
            data[at:at] = chance.randbytes(chance.randint(1, 4))
        case _:
            del data[at : at + chance.randint(1, 4)]


def _carefully(codec: Codec[Any, Any], data: bytes) -> Any:
    return read(codec.shape, data)


def test_the_damaged_bytes_were_worth_testing() -> None:
    assert len(FILLED) > 12
    assert any(isinstance(each, s.Map) for each in CODECS["vectors.shapes.Maps"].shape.shapes)
