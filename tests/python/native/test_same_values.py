"""The native codec beside the pure one, over all vectors: the same values and bytes, and never a value where
the pure codec refuses. What the native one gives up, the pure one reads again (mf.codec.codec), so faults,
words, offsets and paths are held by the suites of the pure codec."""

import math
import os
import random
from array import array
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.failure import CodecError
from mf.codec.limits import DEFAULT_LIMITS
from tests.fuzz.in_python.harness import changed
from tests.fuzz.test_python_decoders import vectors
from tests.python.codec.generated import SCHEMAS, codecs_of, writable
from tests.python.native.plans import (
    plan_of,
    read_natively,
    read_purely,
    written_natively,
    written_purely,
)

TIERS = ("memcpy", "febird", "archive", "custom")
SEED = 101
CHANGES = max(4_000, int(os.environ.get("MF_FUZZ_RUNS", "0")))


@cache
def cases(tier: str) -> list[tuple[Any, bytes]]:
    return vectors(tier)


def is_canonical(codec: Any, data: bytes) -> bool:
    """Whether our writers make these bytes of the value."""
    return written_purely(codec.shape, writable(codec, read_purely(codec.shape, data).value)) == data


@pytest.mark.parametrize("tier", TIERS)
def test_what_our_writers_make_is_read_natively_as_the_same_value(tier: str) -> None:
    wrong, given_up, count = [], [], 0
    for codec, data in cases(tier):
        if not is_canonical(codec, data):
            continue
        count += 1
        native = read_natively(codec.shape, data)
        if native.shown is None:
            given_up.append((codec.shape.name, data.hex()))
        elif native.shown != read_purely(codec.shape, data).shown:
            wrong.append((codec.shape.name, data.hex(), native.shown))

    assert wrong == []
    assert given_up == []
    assert count > 30


@pytest.mark.parametrize("tier", TIERS)
def test_values_are_written_natively_as_the_same_bytes(tier: str) -> None:
    wrong, given_up, count = [], [], 0
    for codec, data in cases(tier):
        value = writable(codec, read_purely(codec.shape, data).value)
        written = written_natively(codec.shape, value)
        count += 1
        if written is None:
            given_up.append((codec.shape.name, data.hex()))
        elif written != written_purely(codec.shape, value):
            wrong.append((codec.shape.name, data.hex(), written.hex()))

    assert wrong == []
    assert given_up == []
    assert count > 30


@pytest.mark.parametrize("tier", TIERS)
def test_changed_bytes_are_given_up_or_the_value_that_the_pure_codec_reads(tier: str) -> None:
    source = random.Random(SEED)
    taken, given_up = 0, 0
    for _ in range(CHANGES):
        codec, data = source.choice(cases(tier))
        hostile = changed(data, source)
        native = read_natively(codec.shape, hostile)
        if native.shown is None:
            given_up += 1
            continue
        taken += 1
        assert native.shown == read_purely(codec.shape, hostile).shown, (codec.shape.name, hostile.hex())

    assert taken > CHANGES // 100
    assert given_up > CHANGES // 10


@pytest.mark.parametrize("tier", TIERS)
def test_beginnings_are_given_up_or_the_value_that_the_pure_codec_reads(tier: str) -> None:
    for codec, data in cases(tier)[::5]:
        for size in range(0, len(data), max(1, len(data) // 20)):
            native = read_natively(codec.shape, data[:size])
            if native.shown is not None:
                assert native.shown == read_purely(codec.shape, data[:size]).shown, data[:size].hex()


class Whole(int):
    """An int of a class of its own."""


ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 255, 1 << 31, 1 << 63, -(1 << 63), 1 << 64, 1 << 70, Whole(7)),
    *(
        0.5,
        1e300,
        math.nan,
        math.inf,
        "x",
        "\ud800",
        "\u00fc" * 70,
        b"x",
        bytearray(b"xy"),
        memoryview(b"xyz"),
    ),
    *([], [1], [1, 2, 3], [0.5, 1], ["a", 1], [None], (1, 2), range(3), array("i", (1, 2))),
    *({}, {1: 2}, {"a": "b"}, {1: "x", "y": 2}, set(), {1, 2}, {"a"}, frozenset((3, 1)), {"a", 1}, object()),
)


def places(value: Any) -> list[tuple[Any, str]]:
    """Objects with the names of their fields, of a value and of what it holds directly."""
    inner = [getattr(value, each, None) for each in getattr(type(value), "__match_args__", ())]
    inner += [each for held in inner if isinstance(held, list) for each in held[:2]]
    return [(each, name) for each in (value, *inner) for name in getattr(type(each), "__match_args__", ())]


@pytest.mark.parametrize("tier", TIERS)
def test_wrong_and_rare_values_are_given_up_or_written_as_the_pure_codec_does(tier: str) -> None:
    taken, refused = 0, 0
    for codec, data in dict(cases(tier)).items():
        value = writable(codec, read_purely(codec.shape, data).value)
        for holder, name in places(value):
            kept = getattr(holder, name)
            for odd in ODD:
                setattr(holder, name, odd)
                native = written_natively(codec.shape, value)
                try:
                    pure = written_purely(codec.shape, value)
                except (CodecError, mf.Error):
                    refused += 1
                    assert native is None, (codec.shape.name, name, odd)
                else:
                    taken += native is not None
                    assert native in (None, pure), (codec.shape.name, name, odd)
            setattr(holder, name, kept)

    assert taken > 10
    assert refused > 50


def least_budget(read: Any, shape: s.Composite, data: bytes) -> int:
    low, high = -1, 1 << 24
    while low + 1 < high:
        middle = (low + high) // 2
        if read(shape, data, middle).shown is None:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize("tier", TIERS)
def test_a_value_takes_as_much_of_the_budget_as_in_the_pure_codec(tier: str) -> None:
    wrong, count = [], 0
    for codec, data in cases(tier)[::9]:
        if not is_canonical(codec, data):
            continue
        count += 1
        native, pure = (least_budget(read, codec.shape, data) for read in (read_natively, read_purely))
        if native != pure:
            wrong.append((codec.shape.name, native, pure))

    assert wrong == []
    assert count > 5


@pytest.mark.parametrize("tier", TIERS)
def test_several_values_are_read_and_written_at_once(tier: str) -> None:
    count = 0
    for codec, data in cases(tier)[::7]:
        if codec.shape.has_no_end or not is_canonical(codec, data):
            continue
        plan, one = plan_of(codec.shape), read_purely(codec.shape, data)
        found = plan.decode_items(data * 3 + b"more", 0, 3, DEFAULT_LIMITS.decoded, False, False)
        assert (
            plan.decode_items(data * 3 + b"more", 0, 3, DEFAULT_LIMITS.decoded, True, False) is NotImplemented
        )
        if found is NotImplemented:  # values without bytes, of which no number fits the bytes
            assert sizes.smallest(codec.shape) == 0
            continue
        values, position = found
        assert position == 3 * len(data)
        assert [repr(each) for each in values] == [one.shown] * 3
        assert plan.encode_items([writable(codec, each) for each in values]) == data * 3
        count += 1

    assert count > 5 or tier in ("archive", "custom")


def test_every_type_of_the_vectors_is_covered() -> None:
    codecs = [codec for schema in sorted(SCHEMAS.glob("*.mfidl")) for codec in codecs_of(schema.name)]

    for codec in codecs:
        assert plan_of(codec.shape)
    assert len(codecs) > 150
