"""The values of streams: each a value on its own, in the tier of its stream, and held to its constraints."""

from dataclasses import dataclass
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.method import method
from mf.codec.rules import InRange
from mf.core.service import FEBIRD, MEMCPY, ElementCodec


@dataclass(slots=True)
class Nothing:
    pass


@dataclass(slots=True)
class Pair:
    small: int
    large: int


PAIR = s.Struct("demo.Pair", Pair, lambda: (s.Field("small", s.U8), s.Field("large", s.U32)), memcpy=True)
NOTE = s.Struct("demo.Note", Pair, lambda: (s.Field("small", s.U8), s.Field("large", s.U32)))


def element(shape: s.Shape, encoding: int) -> ElementCodec[Any]:
    made = method("demo.S.m", 0, Nothing, result_element=lambda: shape, result_element_encoding=encoding)
    assert made.stream
    assert made.param_element is None
    assert made.result_element is not None
    return made.result_element


@pytest.mark.parametrize(
    ("shape", "encoding", "value", "data"),
    [
        (s.U32, MEMCPY, 7, "07000000"),
        (s.U32, FEBIRD, 300, "ac02"),
        (PAIR, MEMCPY, Pair(1, 2), "0100000002000000"),
        (NOTE, FEBIRD, Pair(1, 300), "01ac02"),
        (s.STRING, FEBIRD, "abc", "03616263"),
        (s.List(s.STRING), FEBIRD, ["a", ""], "02016100"),
    ],
)
def test_values_stand_one_behind_the_other(shape: s.Shape, encoding: int, value: Any, data: str) -> None:
    codec = element(shape, encoding)

    assert codec.encoding == encoding
    assert bytes(codec.encode(value)).hex() == data
    assert bytes(codec.encode_all([value, value])).hex() == data * 2
    assert codec.decode_all(bytes.fromhex(data * 3), 3) == [value] * 3
    with pytest.raises(mf.DecodeError):
        codec.decode_all(bytes.fromhex(data * 3), 2)


def test_a_value_that_violates_a_constraint_is_neither_written_nor_read() -> None:
    codec = element(s.Checked(s.U32, (InRange(1, 5),)), MEMCPY)

    assert bytes(codec.encode(5)) == b"\x05\0\0\0"
    with pytest.raises(mf.Error) as written:
        codec.encode(6)
    with pytest.raises(mf.Error) as read:
        codec.decode_all(b"\x06\0\0\0", 1)
    assert (written.value.code, read.value.code) == (mf.Code.INVALID_ARGUMENT, mf.Code.INVALID_ARGUMENT)
