"""Values that no bytes pay for are charged to the budget before they are made: what an entry of a map lacks,
structs without bytes, defaults. The dynamic codec, which estimates alike, refuses the same at the same place.
"""

import tracemalloc
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec.limits import Limits
from mfidl import dynamic
from tests.compiler.schema import dynamic_schema
from tests.python.codec.archives import Archives

SCHEMA = """module zero_values;
struct Nothing {}
struct Tile { pixels: array<u8, 65536>; }
struct Empty { many: array<Nothing, 20000>; }
struct Lists { a: list<Empty>; b: map<u8, Empty>; c: list<array<Nothing, 20000>>; }
union Either { tile: Tile; number: u8; }
@tier(archive) struct Small { 1: a: u8?; 2: text: string = "none"; 3: n: u8 = 1; }
@tier(archive) struct Board {
  1: tiles: map<u16, Tile>; 2: either: map<u16, Either>; 3: empty: map<u16, Empty>;
  4: smalls: map<u16, Small>; 5: list_: list<Empty>; 6: defaults: list<Small>;
}
struct Reply { numbers: list<u64> = [1, 2, 3, 4, 5, 6, 7, 8]; }
"""
BUDGET = 2 << 20


@cache
def archives() -> Archives:
    return Archives(SCHEMA)


def schema() -> dynamic.Schema:
    return dynamic_schema(SCHEMA)


def entries(number: int, count: int) -> bytes:
    """Of a map: keys without values."""
    return b"".join(bytes((number << 3 | 2, 3, 8, 128 | at & 127, at >> 7)) for at in range(count))


@pytest.mark.parametrize(
    ("name", "data", "path", "offset"),
    [
        ("Board", entries(1, 400), "Board.tiles[3]", 16),  # a list of 65,536 pointers each
        ("Board", entries(2, 400), "Board.either[3]", 16),
        ("Board", entries(3, 400), "Board.empty[1]", 6),
        ("Board", b"\x2a\x00" * 100, "Board.list_[1]", 4),
        ("Lists", b"\xff\xff\x03\x00\x00", None, None),
        ("Lists", b"\x00\x80\x01" + bytes(range(128)) + b"\x00", None, None),
        ("Lists", b"\x00\x00\xff\xff\x03", None, None),
    ],
)
def test_what_no_bytes_pay_for_is_charged_before_it_is_made(
    name: str, data: bytes, path: str | None, offset: int | None
) -> None:
    codec = archives().codec(name).within(Limits(decoded=BUDGET))
    tracemalloc.start()
    try:
        with pytest.raises(mf.DecodeError) as refused:
            codec.decode(data)
        with pytest.raises(dynamic.DecodeError) as dynamically:
            dynamic.decode(schema(), name, data, limits=dynamic.Limits(decoded=BUDGET))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.fault is mf.Fault.BUDGET_EXCEEDED
    assert dynamically.value.fault is dynamic.Fault.BUDGET_EXCEEDED
    assert peak < 4 * BUDGET  # shapes, functions and the error's own, too
    if path is not None:
        assert (refused.value.path, refused.value.offset) == (path, offset)
        assert (dynamically.value.path, dynamically.value.offset) == (path, offset)


@pytest.mark.parametrize("data", [entries(4, 400), b"\x32\x00" * 400])
def test_messages_that_lack_all_are_charged(data: bytes) -> None:
    codec = archives().codec("Board")
    assert codec.decode(data)
    assert dynamic.decode(schema(), "Board", data)
    with pytest.raises(mf.DecodeError, match="more memory"):
        codec.within(Limits(decoded=30_000)).decode(data)
    with pytest.raises(dynamic.DecodeError, match="more memory"):
        dynamic.decode(schema(), "Board", data, limits=dynamic.Limits(decoded=30_000))


def test_defaults_in_json_are_charged() -> None:
    kind: Any = list[archives().package.Reply]  # type: ignore[misc] # a class
    text = "[" + "{}," * 999 + "{}]"
    assert len(mf.from_json(kind, text)) == 1000
    with pytest.raises(mf.DecodeError, match="more memory"):
        mf.from_json(kind, text, limits=Limits(decoded=200_000))


def test_values_without_bytes_are_read_in_every_tier() -> None:
    p = archives().package
    whole = p.Lists(a=[p.Empty()], b={1: p.Empty()}, c=[[p.Nothing()] * 20000])
    data = mf.to_bytes(whole)
    careful = archives().codec("Lists").within(Limits(decoded=6 << 20))
    assert careful.decode(data) == whole
    assert dynamic.decode(schema(), "Lists", data)["c"] == [[{}] * 20000]


def test_an_entry_without_value_still_is_a_new_one() -> None:
    board = archives().codec("Board").decode(entries(1, 2) + entries(2, 1) + entries(3, 1) + entries(4, 1))
    p = archives().package
    assert board == p.Board(
        tiles={0: p.Tile(), 1: p.Tile()}, either={0: p.EitherTile(p.Tile())}, empty={0: p.Empty()},
        smalls={0: p.Small()},
    )  # fmt: skip
    assert board.tiles[0] is not board.tiles[1]
