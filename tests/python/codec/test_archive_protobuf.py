"""Python's archive bytes against protobuf: it parses ours, we parse its, for every type in every place."""

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from mf.codec import shape as s
from tests.python.codec.archives import Archives, filled, taken
from tests.python.codec.directly import read
from tests.python.codec.strategies import values

SCALARS = [
    "bool",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "string",
    "bytes",
    "timestamp",
    "duration",
    "uuid",
]
DECLARED = [
    "Rank",
    "Sign",
    "Wide",
    "Lang",
    "Serial",
    "Part",
    "Point",
    "Note",
    "Value",
    "Inner",
    "Choice",
    "Empty",
]
KEYS = [
    "bool",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "string",
    "bytes",
    "uuid",
    "Rank",
    "Sign",
    "Wide",
    "Lang",
    "Serial",
]

HEAD = """
module every_archive;
enum Rank: u8 { bm25 = 0, pagerank = 1, none = 255 }
enum Sign: i16 { minus = -300, zero = 0, plus = 300 }
enum Wide: u64 { big = 9_000_000_000, small = 1 }
open enum Lang: i16 { en = 0, ko = -1 }
open enum Serial: u64 { first = 0 }
flags Part: u16 { title, body }
@tier(memcpy) struct Point { x: f64; id: u8; flags: array<u16, 2>; }
@tier(febird) struct Note { text: string; numbers: list<u32>; }
@tier(febird) union Value { 1: number: f64; 2: text: string; }
@tier(archive) struct Inner { 3: name: string; 1: id: u32 = 7; 2000: tags: list<string>; 16: note: string?; }
@tier(archive) union Choice { 1: number: f64; 2: inner: Inner; 20: names: list<string>; 3: none: Empty; }
@tier(archive) struct Empty { }
@tier(archive) struct Merged {
  1: inner: Inner; 2: maybe: Merged?; 3: choice: Choice; 4: many: list<u8>; 5: named: map<u8, Inner>;
  6: perhaps: list<string>?; 7: point: Point; 8: number: i64; 9: texts: list<string>;
  10: rows: list<list<bool>>; 11: sets: map<u8, set<u8>>;
}
"""


def _struct(name: str) -> str:
    fields = [
        f"12: one: {name};",
        f"2: maybe: {name}?;",
        f"3: many: list<{name}>;",
        f"40: fixed: array<{name}, 2>;",
        f"5: named: map<string, {name}>;",
        f"300: rows: list<list<{name}>>;",
        f"7: sparse: list<{name}?>;",
        f"8: perhaps: list<{name}>?;",
        f"9: grouped: map<u8, list<{name}>>;",
        f"10: tables: list<map<string, array<{name}, 1>>>;",
        f"11: held: Held{name}?;",
    ]
    if name in KEYS:
        fields += [f"13: distinct: set<{name}>;", f"14: keyed: map<{name}, {name}>;"]
        fields += [f"15: sets: map<{name}, set<{name}>>?;"]
    held = f"1: one: {name}; 2: many: list<{name}>; 3: maybe: array<{name}, 2>;"
    union = f"@tier(archive) union Held{name} {{ {held} }}"
    return f"{union}\n@tier(archive) struct Of{name} {{ {' '.join(fields)} }}\n"


@cache
def schema() -> Archives:
    return Archives(HEAD + "".join(map(_struct, [*SCALARS, *DECLARED])))


@pytest.mark.parametrize("name", [*SCALARS, *DECLARED])
def test_protobuf_and_we_read_each_other(name: str) -> None:
    codec, message = schema().codec(f"Of{name}"), schema().message(f"Of{name}")
    shape = codec.shape
    assert isinstance(shape, s.Struct)

    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(values(shape))
    def holds(value: Any) -> None:
        ours = bytes(codec.encode(value))
        assert codec.decode(ours) == value
        theirs = message.FromString(ours)
        assert theirs.IsInitialized()
        assert taken(theirs, shape) == value
        assert codec.decode(filled(message(), shape, value).SerializeToString()) == value
        assert read(shape, ours) == value

    holds()


def test_messages_one_behind_the_other_are_merged_as_protobuf_does() -> None:
    codec, message = schema().codec("Merged"), schema().message("Merged")

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(values(codec.shape), values(codec.shape))
    def holds(first: Any, second: Any) -> None:
        data = bytes(codec.encode(first) + codec.encode(second))
        assert codec.decode(data) == taken(message.FromString(data), codec.shape)

    holds()


def test_what_one_part_of_a_message_lacks_another_has() -> None:
    codec, message = schema().codec("Merged"), schema().message("Merged")

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(values(codec.shape))
    def holds(value: Any) -> None:
        some, other = message.FromString(bytes(codec.encode(value))), message()
        other.inner.name = some.inner.name
        some.inner.ClearField("name")
        for parts in ((some, other), (other, some)):
            data = b"".join(part.SerializePartialToString() for part in parts)
            assert codec.decode(data) == value

    holds()


def test_a_message_in_parts_is_whole_when_all_have_come() -> None:
    """one = Inner in two parts, neither of which has all that an Inner needs."""
    archives = Archives(
        "module parted; @tier(archive) struct In { 1: a: u32; 2: b: string; 3: c: In?; }"
        "@tier(archive) struct Out { 1: in: In; 2: many: list<u8>; 3: u: Un?; }"
        "@tier(archive) union Un { 1: in: In; 2: x: u8; }"
    )
    codec, message = archives.codec("Out"), archives.message("Out")
    first, second = b"\x0a\x02\x08\x05", b"\x0a\x06\x12\x01x\x1a\x01\x08"
    third = b"\x0a\x07\x1a\x05\x08\x01\x12\x01y"
    for data in (
        first + b"\x10\x01" + b"\x0a\x03\x12\x01x",
        b"\x0a\x03\x12\x01x" + b"\x12\x02\x01\x02" + first,
        first + b"\x0a\x07\x12\x01x\x1a\x02\x08\x03" + b"\x0a\x05\x1a\x03\x12\x01z",
        b"\x0a\x03\x12\x01x" + first + third,
        b"\x0a\x05\x08\x01\x12\x01x" + b"\x1a\x04\x0a\x02\x08\x07" + b"\x1a\x05\x0a\x03\x12\x01q",
        b"\x0a\x05\x08\x01\x12\x01x" + b"\x1a\x04\x0a\x02\x08\x07" + b"\x1a\x02\x10\x09",
    ):
        assert codec.decode(data) == taken(message.FromString(data), codec.shape), data.hex()
    with pytest.raises(Exception, match=r"Out\.in\.b, at byte 4: "):
        codec.decode(first + b"\x10\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
    with pytest.raises(Exception, match=r"Out\.in\.c"):
        codec.decode(first + second)
