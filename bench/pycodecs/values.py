"""What Python's libraries are measured with: values like those of bench/codecs/values.cpp, but not the
same."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import payload as p

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _single(source: random.Random) -> float:
    """A number that an f32 represents exactly, so that it comes back equal."""
    return float(struct.unpack("<f", struct.pack("<f", source.random()))[0])


def _letters(source: random.Random, size: int) -> str:
    return "".join(source.choices(_LETTERS, k=size))


def _any_int(source: random.Random) -> int:
    return source.randrange(-(2**31), 2**31)


def ints(count: int) -> p.IntList:
    source = random.Random(1)
    return p.IntList([_any_int(source) for _ in range(count)])


def small_ints() -> p.IntList:
    source = random.Random(2)
    return p.IntList([source.randrange(64) for _ in range(1_000)])


def int_map() -> p.IntMap:
    source = random.Random(4)
    keys = sorted({_any_int(source) for _ in range(100_100)})[:100_000]
    return p.IntMap({key: _any_int(source) for key in keys})


def doubles(count: int) -> p.DoubleList:
    source = random.Random(6)
    return p.DoubleList([source.random() * 1e6 for _ in range(count)])


def strings(count: int) -> p.StringList:
    source = random.Random(7)
    return p.StringList([_letters(source, source.randrange(1, 21)) for _ in range(count)])


def c1() -> p.C1:
    return p.C1(
        True, 42, -1_234, 1_234_567, 1_234_567_890_123, 3.25, 2.718281828459045, "a string like any other"
    )


def c2() -> p.C2:
    basic = c1()
    return p.C2(**{name: getattr(basic, name) for name in basic.__slots__})


def c3() -> p.C3:
    source = random.Random(9)
    return p.C3(
        [source.randrange(100_000) for _ in range(10)],
        [source.randrange(2**40) for _ in range(10)],
        [_single(source) for _ in range(10)],
        [source.random() for _ in range(10)],
        [_letters(source, 12) for _ in range(10)],
    )


def c4() -> p.C4:
    source = random.Random(10)
    return p.C4(
        {i: source.randrange(100_000) for i in range(10)},
        {i: _letters(source, 12) for i in range(10)},
        {_letters(source, 6): _letters(source, 12) for _ in range(10)},
        {_letters(source, 6): source.random() for _ in range(10)},
    )


def c5() -> p.C5:
    return p.C5(p.C0(), c1(), c2(), c3(), c4(), [c1(), c1(), c1()])


def heartbeat() -> p.Heartbeat:
    source = random.Random(11)
    names = ("mover", "store", "restore", "p2p")
    return p.Heartbeat(
        "pool-dcache-014-03",
        1_573_084_800_123,
        [source.random() * 100 for _ in range(8)],
        [p.Queue(name, source.randrange(100), 100, source.randrange(1_000)) for name in names],
        p.Mode.read_only,
        {"hostname": "dcache-014", "rack": "b12", "zone": "hamburg"},
        ["dcache-014.example.org", "10.1.4.14", "dcache-014-ipmi.example.org"],
    )


def _hit(source: random.Random) -> p.Hit:
    at = 0
    positions = [at := at + source.randrange(1, 201) for _ in range(source.randrange(15, 26))]
    return p.Hit(
        source.randrange(1_000_000),
        _single(source),
        _letters(source, source.randrange(32, 49)),
        positions,
        [_single(source) for _ in range(16)],
    )


def search_result(hits: int) -> p.SearchResult:
    source = random.Random(12)
    return p.SearchResult([_hit(source) for _ in range(hits)])


WORKS: dict[str, Callable[[], Any]] = {
    "list_i32_100k": lambda: ints(100_000),
    "heartbeat": heartbeat,
    "search_result": lambda: search_result(100),
    "search_result_10": lambda: search_result(10),
    "list_i32_1k": small_ints,
    "map_i32_100k": int_map,
    "double_list_100000": lambda: doubles(100_000),
    "string_list_1000": lambda: strings(1_000),
    "composite_c0": p.C0,
    "composite_c1": c1,
    "composite_c2": c2,
    "composite_c3": c3,
    "composite_c4": c4,
    "composite_c5": c5,
}
