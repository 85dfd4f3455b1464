"""Large `bytes` that are alone in a message: the same bytes as by the ordinary way, from any buffer."""

from array import array
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.calls import Parts, Value
from mf.codec.codec import Codec
from mf.protocol.frame import pack_into

SIZES = (0, 1, 127, 128, 16_383, 16_384, 70_000, 1 << 21, (1 << 21) + 5)


def _fields() -> tuple[s.Field, ...]:
    return (s.Field("data", s.BYTES),)


def _shape(*, bare: bool) -> s.Struct:
    if bare:
        return s.Struct("blob", s.bare_made, _fields, memcpy=False, implicit=True, parts=s.bare_parts)
    return s.Struct("blob", s.parts_made, _fields, memcpy=False, implicit=True)


class _Request:
    def __init__(self, data: Any) -> None:
        self.data = data


VALUE: Value[Any] = Value(_shape(bare=True), where="blob")
PLAIN: Codec[Any, Any] = Codec(_shape(bare=True), where="blob")
PARTS: Parts[Any, Any] = Parts(_shape(bare=False), _Request, where="blob")


@pytest.mark.parametrize("size", SIZES)
def test_bytes_are_those_of_the_ordinary_way(size: int) -> None:
    data = bytes(i * 7 & 255 for i in range(min(size, 4096))) + bytes(max(0, size - 4096))
    message = bytes(PLAIN.encode(data))
    assert bytes(VALUE.encode(data)) == message
    assert bytes(PARTS.encode_parts(data)) == message
    for given in (message, bytearray(message), memoryview(message)):
        for value in (VALUE.decode(given), PARTS.decode(given)[0], PLAIN.decode(given)):
            assert type(value) is bytes
            assert value == data


def test_a_large_value_stays_where_it_is_until_it_is_written() -> None:
    data = bytes(40_000)
    message = PARTS.encode_parts(data)
    out: list[Any] = []
    size = pack_into(out, 5, 2, 3, 4, 0, 1, b"meta" + message)
    assert [part for part in out if part is data] == [data]
    assert size == sum(map(len, out))
    assert b"".join(out)[16:].rstrip(b"\0") == (b"meta" + bytes(message)).rstrip(b"\0")
    assert len(message) == len(bytes(message)) == 40_003


@pytest.mark.parametrize("size", [200, 40_000])
def test_any_buffer_may_be_given(size: int) -> None:
    data = bytes(range(100)) * (size // 100)
    message = bytes(PLAIN.encode(data))
    for given in (bytearray(data), memoryview(data), memoryview(bytearray(data)).cast("I")):
        assert bytes(VALUE.encode(given)) == message
        assert bytes(PARTS.encode_parts(given)) == message
    assert bytes(VALUE.encode(array("B", data))) == message
    assert bytes(PARTS.encode_parts(array("d", data))) == message


def test_what_is_no_buffer_and_what_is_not_in_one_piece_is_said_as_ever() -> None:
    for wrong in ([1] * 20_000, "text" * 10_000, 20_000, None):
        with pytest.raises(mf.Error) as caught:
            VALUE.encode(wrong)
        with pytest.raises(mf.Error) as usual:
            PLAIN.encode(wrong)
        assert str(caught.value) == str(usual.value)
    strided = memoryview(bytes(40_000))[::2]
    assert bytes(VALUE.encode(strided)) == bytes(PLAIN.encode(bytes(20_000)))


@pytest.mark.parametrize("change", ["cut", "more", "long", "huge", "padded"])
def test_hostile_messages_are_refused_in_the_same_words(change: str) -> None:
    message = bytearray(PLAIN.encode(bytes(40_000)))
    if change == "cut":
        del message[-1:]
    elif change == "more":
        message += b"\0"
    elif change == "long":
        message[0:3] = b"\xff\xff\xff\xff\x1f"
    elif change == "huge":
        message[0:3] = b"\xff\xff\xff\xff\x0f"
    else:
        message[0:3] = b"\xc0\xb8\x82\x00"
    with pytest.raises(mf.Error) as usual:
        PLAIN.decode(message)
    for decode in (VALUE.decode, PARTS.decode):
        with pytest.raises(mf.Error) as caught:
            decode(message)
        assert str(caught.value) == str(usual.value)
