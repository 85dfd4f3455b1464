"""Many varints at once are the same as one after the other, and refuse the same."""

import random

import pytest

from mf.codec import packed, varint
from mf.codec.failure import MalformedError
from mf.codec.layout import BULK_ERRORS

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


def one_by_one(integer: str, values: list[int]) -> bytes:
    out = bytearray()
    for value in values:
        folded = (value << 1) ^ (value >> 63) if integer[0] == "i" else value
        varint.write_unsigned(out, folded, (1 << 64) - 1)
    return bytes(out)


@pytest.mark.parametrize("integer", LIMITS)
@pytest.mark.parametrize("bits", [6, 14, 35, 64])
def test_packed_numbers_are_those_of_single_calls(integer: str, bits: int) -> None:
    draw = random.Random(f"{integer} {bits}")
    code = {"16": "h", "32": "i", "64": "q"}[integer[1:]]
    for count in (*range(1, 20), 63, 64, 65, 129, 600, 1_100):
        values = numbers(integer, count, draw, bits)
        data = one_by_one(integer, values)
        highest = (1 << int(integer[1:])) - 1
        if integer[0] == "i":
            assert packed.pack_signed(values, code) == data
            assert packed.unpack_signed(data, highest) == values
        else:
            assert packed.pack_unsigned(values, code.upper()) == data
            assert packed.unpack_unsigned(data, highest) == values


@pytest.mark.parametrize("wrong", ["ffffffff1f", "ffffffffffffffffff7f", "8080808080808080808001"])
@pytest.mark.parametrize("bits", [7, 30])
def test_what_single_calls_refuse_is_refused(wrong: str, bits: int) -> None:
    values = numbers("u32", 200, random.Random(bits), bits)
    for at in (0, 70, 199):
        data = one_by_one("u32", values[:at]) + bytes.fromhex(wrong) + one_by_one("u32", values[at + 1 :])
        with pytest.raises(MalformedError):
            packed.unpack_unsigned(data, (1 << 32) - 1)


@pytest.mark.parametrize("wrong", [1 << 32, -1, 1 << 64, 1.5, "1", None])
def test_what_is_no_such_number_is_not_written(wrong: object) -> None:
    values: list[object] = [70_000, *[1 << 30] * 98, wrong]
    with pytest.raises(BULK_ERRORS):
        packed.pack_unsigned(values, "I")  # type: ignore[arg-type]
