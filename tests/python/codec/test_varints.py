"""Many varints at once are the same as one after the other, and refuse the same."""

import random

import pytest

import mf
from mf.codec import packed, varint, varints
from mf.codec import shape as s
from mf.codec.careful_reader import CarefulReader
from mf.codec.careful_writer import CarefulWriter
from mf.codec.limits import DEFAULT_LIMITS
from mf.codec.lookup import codec_of
from mf.codec.malformed import GIVE_UP, MalformedError

LIMITS = {
    "u16": (0, (1 << 16) - 1),
    "u32": (0, (1 << 32) - 1),
    "u64": (0, (1 << 64) - 1),
    "i16": (-1 << 15, (1 << 15) - 1),
    "i32": (-1 << 31, (1 << 31) - 1),
    "i64": (-1 << 63, (1 << 63) - 1),
}
BORDERS = [0, 1, 127, 128, (1 << 55) - 1, 1 << 55, (1 << 56) - 1, 1 << 56, (1 << 64) - 1]


def numbers(integer: str, count: int, draw: random.Random, bits: int) -> list[int]:
    low, high = LIMITS[integer]
    drawn = [draw.randrange(1 << draw.randrange(1, bits + 1)) for _ in range(count)]
    drawn = [draw.choice(BORDERS) if draw.random() < 0.01 else each for each in drawn]
    return [max(low, min(high, -each if low < 0 and draw.random() < 0.5 else each)) for each in drawn]


def one_by_one(kinds: tuple[str, ...], values: list[int]) -> bytes:
    out = bytearray()
    for at, value in enumerate(values):
        getattr(varint, f"write_{kinds[at % len(kinds)]}")(out, value)
    return bytes(out)


@pytest.mark.parametrize("bits", [7, 14, 35, 50, 64])
@pytest.mark.parametrize("key", LIMITS)
@pytest.mark.parametrize("value", LIMITS)
def test_keys_and_values_are_those_of_single_calls(key: str, value: str, bits: int) -> None:
    draw = random.Random(f"{key} {value} {bits}")
    for count in (1, 3, 255, 256, 257, 700):
        keys, values = numbers(key, count, draw, bits), numbers(value, count, draw, bits)
        both = [each for pair in zip(keys, values, strict=True) for each in pair]
        data = one_by_one((key, value), both)
        out = bytearray()

        varints.write_numbers(out, keys, values, (key, value))

        assert out == data
        read, end = varints.read_numbers(data + b"\x80\x05\x00", 0, 2 * count, (key, value))
        assert (read, end) == (both, len(data))


@pytest.mark.parametrize("integer", LIMITS)
@pytest.mark.parametrize("bits", [6, 14, 35, 64])
def test_packed_numbers_are_those_of_single_calls(integer: str, bits: int) -> None:
    draw = random.Random(f"{integer} {bits}")
    code = {"16": "h", "32": "i", "64": "q"}[integer[1:]]
    for count in (1, 63, 64, 129, 600, 1_100):
        values = numbers(integer, count, draw, bits)
        data = one_by_one((integer,), values)
        highest = (1 << int(integer[1:])) - 1
        if integer[0] == "i":
            assert packed.pack_signed(values, code) == data
            assert packed.unpack_signed(data, highest) == values
        else:
            assert packed.pack_unsigned(values, code.upper()) == data
            assert packed.unpack_unsigned(data, highest) == values


@pytest.mark.parametrize(
    "wrong", ["8000", "80808000", "ffffffff1f", "ffffffffffffffffff7f", "8080808080808080808001"]
)
@pytest.mark.parametrize("bits", [7, 30])
def test_what_single_calls_refuse_is_refused(wrong: str, bits: int) -> None:
    values = numbers("u32", 200, random.Random(bits), bits)
    for at in (0, 70, 199):
        data = (
            one_by_one(("u32",), values[:at]) + bytes.fromhex(wrong) + one_by_one(("u32",), values[at + 1 :])
        )
        with pytest.raises(MalformedError):
            varints.read_numbers(data, 0, 200, ("u32", "u32"))


@pytest.mark.parametrize("wrong", [1 << 32, -1, 1 << 64, 1.5, "1", None])
def test_what_is_no_such_number_is_not_written(wrong: object) -> None:
    keys = list(range(100))
    values: list[object] = [70_000, *[1 << 30] * 98, wrong]
    with pytest.raises(GIVE_UP):
        varints.write_numbers(bytearray(), keys, values, ("u32", "u32"))  # type: ignore[arg-type]
    with pytest.raises(GIVE_UP):
        packed.pack_unsigned(values, "I")  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [49, 50, 51, 1_000])
@pytest.mark.parametrize("spread", [1, 1_000_003])
def test_maps_of_numbers_are_what_the_careful_writer_makes(count: int, spread: int) -> None:
    kind = s.Map(s.I32, s.U64)
    codec = codec_of(kind)
    value = {(at - 20) * (spread % 40_000): at * spread for at in range(count)}
    careful = CarefulWriter()
    careful.write(codec.shape, value)

    data = bytes(codec.encode(value))

    assert data == bytes(careful.out)
    assert codec.decode(data) == value == CarefulReader(data, DEFAULT_LIMITS).read(codec.shape)
    for cut in (1, 7, len(data) - 1):
        with pytest.raises(mf.DecodeError):
            codec.decode(data[:-cut])


def test_a_map_of_many_numbers_out_of_order_is_refused() -> None:
    codec = codec_of(s.Map(s.U32, s.U32))
    swapped = {**dict.fromkeys(range(100, 160), 1), 99: 1}
    data = b"\x3d" + one_by_one(("u32", "u32"), [each for pair in swapped.items() for each in pair])
    with pytest.raises(mf.DecodeError) as caught:
        codec.decode(data)
    assert caught.value.fault is mf.Fault.KEYS_NOT_ASCENDING
    twice = b"\x3c" + one_by_one(("u32", "u32"), [*range(2, 120), 116, 1])
    with pytest.raises(mf.DecodeError):
        codec.decode(twice)
