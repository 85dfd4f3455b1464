"""Constraints hold for values that stay: what a later value of the same field, entry or union supersedes is
not held against them, by whichever reader. A tag that is longer than needed brings in the careful one.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec.failure import CodecError
from tests.python.codec import directly
from tests.python.codec.archives import Archives

SCHEMA = """module superseded;
struct Plain { real: f64 @finite; }
@tier(archive) struct In { 1: n: u8? @range(1..); 2: inner: In?; 3: many: list<u8 @range(1..)> @length(..2); }
@tier(archive) union Either { 1: x: u8 @range(..3); 2: in: In; 3: list_: list<u8> @length(..2); }
@tier(archive) struct All {
  1: n: u8? @range(1..); 2: text: string? @length(..2); 3: plain: Plain?; 4: either: Either?;
  5: named: map<string @length(1..), u8 @range(1..)>; 6: ins: map<u8, In>; 7: in: In?;
}
"""
BAD_PLAIN, GOOD_PLAIN = bytes(6) + b"\xf0\x7f", bytes(8)


@cache
def archives() -> Archives:
    return Archives(SCHEMA)


def readings(data: bytes) -> list[str]:
    """By the front door, with an odd tag in front, and carefully."""
    codec = archives().codec("All")
    found = []
    read_by: list[Callable[[], Any]] = [
        lambda: codec.decode(data),
        lambda: codec.decode(b"\xf8\x81\x00\x00" + data),  # an unknown field of number 31
        lambda: directly.read(codec.shape, data),
    ]
    for read in read_by:
        try:
            value = read()
        except mf.Error as error:
            found.append(f"{error.code.name} {error.message.split(', at')[0]}")
        except CodecError as failure:
            found.append(f"{failure.code.name} {failure.path('All')}")
        else:
            value.__mf_unknown__ = b""
            found.append(mf.to_json(value))
    return found


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"\x08\x00\x08\x01", '{"n":1,"named":{},"ins":{}}'),
        (b"\x12\x03aaa\x12\x01a", '{"text":"a","named":{},"ins":{}}'),
        (
            b"\x1a\x08" + BAD_PLAIN + b"\x1a\x08" + GOOD_PLAIN,
            '{"plain":{"real":0.0},"named":{},"ins":{}}',
        ),
        (b"\x22\x02\x08\x09\x22\x02\x08\x03", '{"either":{"x":3},"named":{},"ins":{}}'),
        (b"\x22\x04\x08\x09\x12\x00", '{"either":{"in":{"many":[]}},"named":{},"ins":{}}'),
        (b"\x22\x08\x12\x04\x12\x02\x08\x00\x08\x03", '{"either":{"x":3},"named":{},"ins":{}}'),
        (b"\x22\x09\x1a\x05\x0a\x03\x01\x02\x03\x08\x03", '{"either":{"x":3},"named":{},"ins":{}}'),
        (b"\x2a\x05\x0a\x01k\x10\x00\x2a\x05\x0a\x01k\x10\x01", '{"named":{"k":1},"ins":{}}'),
        (b"\x2a\x09\x0a\x00\x0a\x01k\x10\x00\x10\x01", '{"named":{"k":1},"ins":{}}'),
        (b"\x32\x06\x08\x07\x12\x02\x08\x00\x32\x02\x08\x07", '{"named":{},"ins":{"7":{"many":[]}}}'),
        (b"\x32\x0a\x08\x07\x12\x02\x08\x00\x12\x02\x08\x01", '{"named":{},"ins":{"7":{"n":1,"many":[]}}}'),
        (b"\x3a\x02\x08\x00\x3a\x02\x08\x01", '{"named":{},"ins":{},"in":{"n":1,"many":[]}}'),
    ],
)
def test_what_is_superseded_breaks_no_constraint(data: bytes, read: str) -> None:
    assert readings(data) == [read] * 3


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"\x08\x01\x08\x00", "All.n"),
        (b"\x12\x01a\x12\x03aaa", "All.text"),
        (b"\x1a\x08" + GOOD_PLAIN + b"\x1a\x08" + BAD_PLAIN, "All.plain.real"),
        (b"\x22\x02\x08\x09", "All.either.x"),
        (b"\x22\x06\x12\x04\x12\x02\x08\x00", "All.either.in.inner.n"),
        (b"\x22\x07\x1a\x05\x0a\x03\x01\x02\x03", "All.either.list_"),
        (b"\x2a\x05\x0a\x01k\x10\x01\x2a\x05\x0a\x01k\x10\x00", "All.named[1]"),
        (b"\x2a\x02\x10\x01", "All.named[0]"),
        (b"\x32\x06\x08\x07\x12\x02\x08\x00", "All.ins[0].n"),
        (b"\x3a\x02\x12\x00\x3a\x04\x12\x02\x08\x00", "All.in.inner.n"),
        (b"\x3a\x03\x1a\x01\x01\x3a\x03\x1a\x01\x00", "All.in.many[1]"),
        (b"\x3a\x05\x1a\x03\x01\x02\x03", "All.in.many"),
        (b"\x3a\x02\x08\x00\x3a\x02\x12\x00", "All.in.n"),
        (b"\x3a\x04\x12\x02\x08\x00\x08\x00", "All.in.inner.n"),  # and then n: the leftmost is reported
    ],
)
def test_what_stays_is_held_to_its_constraints(data: bytes, path: str) -> None:
    assert readings(data) == [f"INVALID_ARGUMENT {path}"] * 3


def test_bytes_that_are_no_value_break_no_constraint() -> None:
    """As in C++, which looks at constraints when all has been read."""
    assert [each.split(", at")[0] for each in readings(b"\x08\x00\x12\x05")] == ["DECODE_ERROR All.text"] * 3
