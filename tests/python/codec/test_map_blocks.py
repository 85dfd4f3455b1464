"""Maps of integers to integers: their bytes, worked out by hand from docs/protocol.md, section 8, what is
wrong with them and where, and that the fast and the careful path agree.
"""

import enum
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mf
from mf.codec import shape as s
from mf.codec.flags import Flags, bit
from mf.codec.limits import Limits
from mf.codec.lookup import codec_of
from mf.codec.rules import InRange
from tests.python.codec.blocks import carefully, expect_alike, limits, mixed

SCALARS = {each.name: each for each in (s.U16, s.U32, s.U64, s.I16, s.I32, s.I64)}


class Rank(enum.IntEnum):
    low = -1
    high = 300


class Field(Flags, bits=16):
    title = bit(0)
    body = bit(1)


RANK = s.Enum("Rank", Rank, s.I16)
FIELD = s.Enum("Field", Field, s.U16, open=True)
U16_MAP, I32_MAP = s.Map(s.U16, s.U16), s.Map(s.I32, s.I32)


def _block(codes: int, *sides: bytes) -> str:
    return (bytes([codes]) + b"".join(sides)).hex()


@pytest.mark.parametrize(
    ("shape", "value", "data"),
    [
        (I32_MAP, {}, "00"),
        (I32_MAP, {3: -129, -128: 7, 127: 0}, "03 04 80037f 0700 7fff 0000"),
        (I32_MAP, {-129: 65536}, "01 09 7fff 00000100"),
        (U16_MAP, {255: 256}, "01 04 ff 0001"),
        (s.Map(s.U16, s.I64), {1: -1, 256: 1 << 31}, "02 0d 0100 0001 ffffffffffffffff 0000008000000000"),
        (s.Map(s.U64, s.U32), {1 << 63: 0}, "01 03 0000000000000080 00"),
        (s.Map(RANK, s.U32), {Rank.high: 2, Rank.low: 1}, "02 01 ffff 2c01 01 02"),
        (s.Map(s.U32, RANK), {1: Rank.low, 2: Rank.low}, "02 00 01 02 ff ff"),
        (s.Map(FIELD, s.DURATION), {Field.body: mf.Duration(-200)}, "01 04 02 38ff"),
        (s.Map(s.DURATION, FIELD), {mf.Duration(5): Field(0x8001)}, "01 04 05 0180"),
        (
            U16_MAP,
            dict.fromkeys(range(256), 7) | {256: 300},
            "8102" + _block(0, bytes(range(256)), b"\7" * 256) + "05 0001 2c01",
        ),
        (
            U16_MAP,
            {at: 300 if at == 255 else 7 for at in range(1, 257)} | {300: 1},
            "8102" + "05" + "".join(f"{at:02x}00" for at in range(1, 256)) + "0001" + "0700" * 254 + "2c01"
            "0700 01 2c01 01",
        ),
        # Numbers on one side only stay pairs.
        (s.Map(s.U8, s.U32), {1: 300}, "01 01 ac02"),
        (s.Map(s.U32, s.STRING), {300: "a"}, "01 ac02 0161"),
        (s.Map(s.U32, s.TIMESTAMP), {1: mf.Timestamp(2)}, "01 01 0200000000000000"),
    ],
)
def test_maps_of_integers_are_these_bytes(shape: s.Map, value: Any, data: str) -> None:
    raw = bytes.fromhex(data)

    assert bytes(codec_of(shape).encode(value)).hex() == raw.hex()
    for read in (codec_of(shape).decode(raw), carefully(shape, raw)):
        assert read == value
        assert list(map(type, read)) == list(map(type, sorted(value)))
        assert {type(each) for each in read.values()} == {type(each) for each in value.values()}


FULL = _block(0, bytes(range(256)), bytes(256))
WIDE = _block(4, bytes(range(256)), bytes(512))


@pytest.mark.parametrize(
    ("shape", "data", "fault", "offset", "path"),
    [
        (U16_MAP, "01", "COUNT_TOO_LARGE", 0, ""),
        (U16_MAP, "02 00 0102", "COUNT_TOO_LARGE", 0, ""),
        (U16_MAP, "8000", "MALFORMED_NUMBER", 0, ""),
        (U16_MAP, "8102" + FULL, "COUNT_TOO_LARGE", 0, ""),
        (U16_MAP, "8102" + WIDE, "TRUNCATED", 771, ""),
        (U16_MAP, "8102" + FULL + "00", "TRUNCATED", 516, ""),
        (U16_MAP, "01 10 01 02", "MALFORMED_NUMBER", 1, ""),
        (U16_MAP, "01 92 01 02", "MALFORMED_NUMBER", 1, ""),
        (U16_MAP, "01 02 01 02", "NUMBER_OUT_OF_RANGE", 1, ""),
        (U16_MAP, "01 08 01 02", "NUMBER_OUT_OF_RANGE", 1, ""),
        (s.Map(s.U64, s.U32), "01 0f 01 02", "NUMBER_OUT_OF_RANGE", 1, ""),
        (s.Map(s.U64, s.U32), "01 0b 01 02", "TRUNCATED", 2, ""),
        (U16_MAP, "03 05 0100 0100 02", "TRUNCATED", 2, ""),
        (U16_MAP, "03 05 0100 0200 0300 0000", "TRUNCATED", 8, ""),
        (U16_MAP, "03 05 0100 0100 0300 0000", "KEYS_NOT_ASCENDING", 4, "[1]"),
        (U16_MAP, "03 00 01 03 02 00 00 00", "KEYS_NOT_ASCENDING", 4, "[2]"),
        (I32_MAP, "02 00 01 ff 00 00", "KEYS_NOT_ASCENDING", 3, "[1]"),
        (U16_MAP, "8102" + FULL + "00 ff 00", "KEYS_NOT_ASCENDING", 516, "[256]"),
        (U16_MAP, "8202" + FULL + "01 ff00 0000 00 00", "KEYS_NOT_ASCENDING", 516, "[256]"),
        (s.Map(RANK, s.U16), "02 00 ff 05 00 00", "UNKNOWN_ENUM_VALUE", 3, "[1]"),
        (s.Map(RANK, s.U16), "02 00 ff ff 00 00", "KEYS_NOT_ASCENDING", 3, "[1]"),
        (s.Map(s.U16, RANK), "02 00 01 02 ff 05", "UNKNOWN_ENUM_VALUE", 5, "[1]"),
        (s.Map(s.U16, RANK), "02 00 02 01 05 05", "KEYS_NOT_ASCENDING", 3, "[1]"),
        (U16_MAP, "01 00 01 02 00", "TRAILING_BYTES", 4, ""),
    ],
)
def test_what_is_wrong_has_its_place(shape: s.Map, data: str, fault: str, offset: int, path: str) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        codec_of(shape).decode(bytes.fromhex(data))
    error = caught.value
    assert (error.fault.name, error.offset, error.path) == (fault, offset, path)


@pytest.mark.parametrize(
    ("data", "value"), [("01 05 0100 0200", {1: 2}), ("02 04 01 02 0300 0400", {1: 3, 2: 4})]
)
def test_a_wider_code_than_needed_is_read(data: str, value: Any) -> None:
    assert codec_of(U16_MAP).decode(bytes.fromhex(data)) == value


def test_memory_is_counted_before_the_blocks_are_read() -> None:
    value = {at: at for at in range(1000)}
    codec = codec_of(I32_MAP)
    data = bytes(codec.encode(value))
    assert codec.within(Limits(decoded=200_000)).decode(data) == value
    with pytest.raises(mf.DecodeError) as caught:
        codec.within(Limits(decoded=100_000)).decode(data)
    assert (caught.value.fault, caught.value.offset) == (mf.Fault.BUDGET_EXCEEDED, 2)


def test_a_constraint_on_keys_and_values_names_the_entry() -> None:
    shape = s.Map(s.Checked(s.U16, (InRange(1, 9),)), s.Checked(s.U16, (InRange(1, 9),)))
    codec = codec_of(shape)
    for data, offset in (("02 00 01 0a 01 01", 3), ("02 00 01 02 01 00", 5), ("02 00 01 0a 00 00", 3)):
        with pytest.raises(mf.Error) as caught:
            codec.decode(bytes.fromhex(data))
        assert f"[1], at byte {offset}: " in caught.value.message
        assert caught.value.code is mf.Code.INVALID_ARGUMENT
    with pytest.raises(mf.Error, match=r": \[3\]: "):
        codec.encode({1: 2, 3: 0})


@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("name", SCALARS)
def test_wrong_values_are_named(name: str, count: int) -> None:
    scalar = SCALARS[name]
    low, high = limits(scalar)
    value: dict[Any, Any] = dict.fromkeys(range(count), 1)
    for wrong in (low - 1, high + 1):
        reason = rf": \[{count - 1}\]: {wrong} does not fit in {name} \({low} to {high}\)"
        with pytest.raises(mf.Error, match=reason):
            codec_of(s.Map(s.U16, scalar)).encode(value | {count - 1: wrong})
        with pytest.raises(mf.Error, match=rf": \[{wrong}\]: {wrong} does not fit in {name} "):
            codec_of(s.Map(scalar, s.U16)).encode(value | {wrong: 1})
    for nothing in (1.0, "1", None, b"1", [1]):
        with pytest.raises(mf.Error, match=rf": \[{count - 1}\]: expected {name}, got "):
            codec_of(s.Map(s.U16, scalar)).encode(value | {count - 1: nothing})
    with pytest.raises(mf.Error, match=rf": \[0.5\]: expected {name}, got 0.5"):
        codec_of(s.Map(scalar, s.U16)).encode(value | {0.5: 1})
    with pytest.raises(mf.Error, match="its keys are not all of one type"):
        codec_of(s.Map(scalar, s.U16)).encode(value | {"1": 1})
    assert codec_of(s.Map(scalar, scalar)).encode({True: False}) == b"\1\0\1\0"


def test_what_stands_for_numbers_is_asked_for_by_its_name() -> None:
    with pytest.raises(mf.Error, match=r": \[1\]: 5 is not a member of Rank"):
        codec_of(s.Map(s.U16, RANK)).encode({0: Rank.low, 1: 5})
    with pytest.raises(mf.Error, match=r": \[5\]: 5 is not a member of Rank"):
        codec_of(s.Map(RANK, s.U16)).encode({5: 1})
    with pytest.raises(mf.Error, match=r": \[1\]: expected duration, got '1'"):
        codec_of(s.Map(s.U16, s.DURATION)).encode({1: "1"})
    for nothing in (None, 7, {1, 2}, [(1, 2)]):
        with pytest.raises(mf.Error):
            codec_of(U16_MAP).encode(nothing)


def _map(key: s.Scalar, value: s.Scalar, chance: random.Random, count: int) -> dict[int, int]:
    keys = set(mixed(key, chance, count)) | set(range(count))
    return dict(zip(chance.sample(sorted(keys), count), mixed(value, chance, count), strict=True))


@pytest.mark.parametrize("value", SCALARS)
@pytest.mark.parametrize("key", SCALARS)
def test_both_paths_write_and_read_the_same(key: str, value: str) -> None:
    chance = random.Random(f"{key} {value}")
    shape = s.Map(SCALARS[key], SCALARS[value])
    codec = codec_of(shape)
    for count in (0, 1, 3, 255, 256, 257, 511, 513, 1025):
        whole = _map(SCALARS[key], SCALARS[value], chance, count)
        data = bytes(codec.encode(whole))
        assert codec.decode(data) == whole == carefully(shape, data)
        assert list(codec.decode(data)) == sorted(whole)


@given(
    key=st.sampled_from(sorted(SCALARS)),
    value=st.sampled_from(sorted(SCALARS)),
    count=st.sampled_from([0, 1, 2, 5, 256, 257, 600]),
    seed=st.integers(0, 1 << 32),
)
def test_damaged_maps_are_refused_or_read_alike(key: str, value: str, count: int, seed: int) -> None:
    chance = random.Random(seed)
    shape = s.Map(SCALARS[key], SCALARS[value])
    codec = codec_of(shape)
    data = bytearray(codec.encode(_map(SCALARS[key], SCALARS[value], chance, count)))
    at = chance.randrange(len(data)) if chance.random() < 0.5 else chance.randrange(min(len(data), 6))
    expect_alike(shape, data, at, chance)
