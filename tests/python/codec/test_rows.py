"""Integers in lists, sets and arrays: their bytes, from anything that holds numbers, fast and careful."""

import random
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mf
from mf.codec import shape as s
from mf.codec.lookup import codec_of
from tests.python.codec.blocks import expect_alike, limits, mixed
from tests.python.codec.directly import read

SCALARS = [s.I16, s.I32, s.I64, s.U16, s.U32, s.U64]
BY_NAME = {each.name: each for each in SCALARS}


@pytest.mark.parametrize(
    ("shape", "values", "data"),
    [
        (s.List(s.U32), [], "00"),
        (s.List(s.U32), [0], "04 00"),
        (s.List(s.U32), [255], "04 ff"),
        (s.List(s.U32), [256], "05 0001"),
        (s.List(s.U32), [1, 65536], "0a 01000000 00000100"),
        (s.List(s.I32), [-128, 127], "08 80 7f"),
        (s.List(s.I32), [-129, 0], "09 7fff 0000"),
        (s.List(s.I64), [1 << 31], "07 0000008000000000"),
        (s.List(s.I64), [-(1 << 31)], "06 00000080"),
        (s.List(s.DURATION), [mf.Duration(-1)], "04 ff"),
        (s.List(s.TIMESTAMP), [mf.Timestamp(-1)], "01 ffffffffffffffff"),
        (s.Set(s.U16), {300, 1}, "09 0100 2c01"),
        (s.List(s.U16), [7] * 31, "7c" + "07" * 31),
        (s.List(s.U16), [7] * 32, "8001" + "07" * 32),
        (s.List(s.U16), [7] * 256, "8008" + "07" * 256),
        (s.List(s.U16), [7] * 257, "8408 00" + "07" * 257),
        (s.List(s.U32), [7] * 256 + [300], "8408 01" + "07" * 256 + "2c01"),
        (s.List(s.U32), [300] + [7] * 256, "8508 00" + "2c01" + "0700" * 255 + "07"),
        (s.List(s.U64), [1] * 1280 + [1 << 40], "8428 0003" + "01" * 1280 + "0000000000010000"),
        (s.List(s.Array(s.U16, 0)), [[], []], "02"),
        (s.List(s.Array(s.U16, 2)), [[1, 2]], "01 00 01 02"),
        (s.List(s.Array(s.I16, 257)), [[-1] * 256 + [200]], "01 04" + "ff" * 256 + "c800"),
    ],
)
def test_rows_are_these_bytes(shape: s.Shape, values: Any, data: str) -> None:
    codec = codec_of(shape)
    assert codec.encode(values).hex() == data.replace(" ", "")
    assert codec.decode(bytes.fromhex(data)) == values


class Bits(mf.Flags, bits=8):
    """`~` of it is the other bits of a byte."""


@pytest.mark.parametrize("number", [Bits(0), Bits(127), np.uint8(0), np.uint8(127), True])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda n: (s.List(s.I16), [n]),
        lambda n: (s.Set(s.I64), {n}),
        lambda n: (s.Map(s.I32, s.I32), {n: 1}),
        lambda n: (s.Map(s.I32, s.I32), {1: n}),
    ],
)
def test_a_number_that_inverts_in_another_way_is_no_wider_for_it(number: Any, wrap: Any) -> None:
    shape, values = wrap(number)
    _, plain = wrap(int(number))

    assert codec_of(shape).encode(values) == codec_of(shape).encode(plain)


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda each: each.name)
def test_both_paths_write_and_read_the_same(scalar: s.Scalar, counted: bool) -> None:
    chance = random.Random(4)
    for count in (0, 1, 3, 255, 256, 257, 511, 513, 1024, 1025, 1281, 5000):
        values = mixed(scalar, chance, count)
        # The array is in a list, because alone it would be memcpy.
        shape = s.List(scalar) if counted else s.List(s.Array(scalar, count))
        whole: Any = values if counted else [values]
        codec = codec_of(shape)
        data = bytes(codec.encode(whole))
        assert codec.decode(data) == whole
        assert read(shape, data) == whole


@pytest.mark.parametrize("count", [5, 256, 1000])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda each: each.name)
@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        range,
        "b",
        "B",
        "h",
        "H",
        "i",
        "I",
        "l",
        "L",
        "q",
        "Q",
        "int8",
        "uint16",
        "int64",
        "uint64",
    ],
)
def test_numbers_may_come_in_anything(kind: Any, scalar: s.Scalar, count: int) -> None:
    codec = codec_of(s.List(scalar))
    numbers = [index % 100 for index in range(count)]
    given_: Any
    if kind is range:
        given_, numbers = range(count), list(range(count))
    elif kind is tuple:
        given_ = tuple(numbers)
    elif len(kind) == 1:
        given_ = array(kind, numbers)
    else:
        given_ = np.array(numbers, dtype=kind)
    assert codec.encode(given_) == codec.encode(numbers)
    if kind not in (range, tuple):
        assert codec.encode(memoryview(given_)) == codec.encode(numbers)
        assert codec.encode(memoryview(given_)[::2]) == codec.encode(numbers[::2])


def test_numbers_in_another_byte_order_are_turned() -> None:
    swapped: Any = np.array([1, -2], dtype=">i4")
    assert codec_of(s.List(s.I32)).encode(swapped) == codec_of(s.List(s.I32)).encode([1, -2])
    with pytest.raises(mf.Error, match="expected a list"):
        codec_of(s.List(s.I32)).encode(memoryview(swapped))  # which memoryview itself cannot read


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda each: each.name)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("count", [1, 300])
def test_buffers_are_held_to_the_range_of_the_type(scalar: s.Scalar, dtype: str, count: int) -> None:
    codec, (low, high) = codec_of(s.List(scalar)), limits(scalar)
    edges = np.iinfo(dtype)
    for edge in (int(edges.min), int(edges.max), -1, low, high, low - 1, high + 1):
        if not edges.min <= edge <= edges.max:
            continue
        numbers = [0] * (count - 1) + [edge]
        buffer: Any = np.array(numbers, dtype=dtype)
        if low <= edge <= high:
            assert codec.encode(buffer) == codec.encode(numbers)
        else:
            with pytest.raises(mf.Error, match=f"{edge} does not fit in {scalar.name}") as caught:
                codec.encode(buffer)
            assert caught.value.message.startswith(f"[{count - 1}]: ")


@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda each: each.name)
def test_wrong_elements_are_named(scalar: s.Scalar, count: int) -> None:
    codec, (low, high) = codec_of(s.List(scalar)), limits(scalar)
    for wrong in (low - 1, high + 1, 1.0, "1", None, b"1"):
        values: list[Any] = [low] * (count - 1) + [wrong]
        with pytest.raises(mf.Error) as caught:
            codec.encode(values)
        assert caught.value.message.startswith(f"[{count - 1}]: ")
    for whole in ("abc", b"abc", bytearray(4), 7, None, np.array([[1, 2]]), np.array([1.0])):
        with pytest.raises(mf.Error):
            codec.encode(whole)


@given(
    name=st.sampled_from(sorted(BY_NAME)),
    counted=st.booleans(),
    count=st.sampled_from([0, 1, 2, 5, 256, 257, 1025, 1281]),
    seed=st.integers(0, 1 << 32),
)
def test_damaged_rows_are_refused_or_read_alike(name: str, counted: bool, count: int, seed: int) -> None:
    chance, scalar = random.Random(seed), BY_NAME[name]
    values = mixed(scalar, chance, count)
    shape = s.List(scalar) if counted else s.List(s.Array(scalar, count))
    whole: Any = values if counted else [values]
    codec = codec_of(shape)
    data = bytearray(codec.encode(whole))
    at = chance.randrange(min(len(data), 6))
    expect_alike(shape, data, at, chance)


@pytest.mark.parametrize(
    ("shape", "data", "values"),
    [
        (s.List(s.U32), "06 01000000", [1]),
        (s.List(s.I64), "07 ffffffffffffffff", [-1]),
        (s.List(s.Array(s.U16, 2)), "01 01 0100 0200", [[1, 2]]),
    ],
)
def test_a_wider_width_than_needed_is_read(shape: s.Shape, data: str, values: Any) -> None:
    assert codec_of(shape).decode(bytes.fromhex(data)) == values


def test_a_long_row_is_read_within_a_small_budget_or_refused() -> None:
    """Where the fast path does not know that the memory suffices, the careful one counts it."""
    numbers = list(range(3_000_000))
    data = codec_of(s.List(s.U32)).encode(np.arange(3_000_000))
    assert codec_of(s.List(s.U32)).decode(data) == numbers
    with pytest.raises(mf.DecodeError) as caught:
        codec_of(s.List(s.U32)).decode(codec_of(s.List(s.U32)).encode(np.zeros(4_000_000, dtype="u4")))
    assert caught.value.fault is mf.Fault.BUDGET_EXCEEDED
