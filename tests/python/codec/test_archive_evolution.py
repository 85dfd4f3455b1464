"""What archive bytes outlive: each change that docs/evolution.md allows, unknown fields, hostile bytes."""

import copy
import dataclasses
import pickle
import random
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec.archived import drop_unknown_fields, unknown_fields
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.limits import Limits
from tests.python.codec.archives import Archives
from tests.python.codec.directly import read

OLD = """module old;
open enum Lang: u8 { en = 0 } flags Part: u8 { title }
@tier(archive) struct Inner { 1: a: u8; }
@tier(archive) struct Config {
  1: name: string; 2: count: u16; 4: size: i16 = 3; 5: inner: Inner; 6: many: list<Inner>; 7: lang: Lang;
  8: part: Part; 9: gone: u32 = 9; 10: text: string; 11: shift: i32;
}
@tier(archive) union Choice { 1: a: u8; 2: b: string; }
struct Febird { config: Config; choice: Choice?; }
"""
NEW = """module new;
open enum Lang: u8 { en = 0, ko = 1 } flags Part: u8 { title, body }
@tier(archive) struct Inner { 3: more: list<string>; 1: a: u32; 2: b: string = "b"; }
@tier(archive) struct Config {
  12: added: string?; 13: limits: map<string, u32>; 14: rank: u8 = 200; 3: between: f64?;
  11: shift: i64; 10: text: bytes; 8: part: Part; 7: lang: Lang; 6: many: list<Inner>; 5: inner: Inner;
  4: size: i64 = 3; 2: count: u64; 1: title: string @was("name"); 2047: far: list<u8>; reserved 9, "gone";
}
@tier(archive) union Choice { 1: a: u8; 2: b: string; 3: c: Inner; }
struct Febird { config: Config; choice: Choice?; }
"""


@cache
def old() -> Archives:
    return Archives(OLD)


@cache
def new() -> Archives:
    return Archives(NEW)


def _old() -> Any:
    p = old().package
    return p.Config(
        "n", 7, -5, p.Inner(9), [p.Inner(1), p.Inner(2)], p.Lang(5), p.Part(129), 44, "t", -70_000
    )


def _new() -> Any:
    p = new().package
    inner = p.Inner(more=["x", "y"], a=200, b="z")
    return p.Config(
        "added",
        {"k": 1},
        3,
        1.5,
        -7,
        b"raw",
        p.Part(2),
        p.Lang.ko,
        [inner, p.Inner()],
        inner,
        6,
        99,
        "n",
        [1, 2],
    )


def test_a_new_reader_reads_old_bytes() -> None:
    read = new().codec("Config").decode(old().codec("Config").encode(_old()))
    p = new().package
    assert (read.title, read.count, read.size, read.text, read.shift) == ("n", 7, -5, b"t", -70_000)
    assert (read.added, read.limits, read.rank, read.between, read.far) == (None, {}, 200, None, [])
    assert [each.a for each in read.many] == [1, 2]
    assert read.inner == p.Inner(more=[], a=9, b="b")
    assert (int(read.lang), int(read.part)) == (5, 129)
    assert unknown_fields(read).hex() == "482c"


def test_an_old_reader_keeps_what_it_does_not_know() -> None:
    sent = _new()
    data = bytes(new().codec("Config").encode(sent))
    read = old().codec("Config").decode(data)
    assert (read.name, read.count, read.size, read.gone, read.text) == ("n", 99, 6, 9, "raw")
    assert [each.a for each in read.many] == [200, 0]
    assert unknown_fields(read) != b""
    assert unknown_fields(read.inner).hex() == "12017a" + "1a01781a0179"
    for kept in (read, copy.copy(read), copy.deepcopy(read), pickle.loads(pickle.dumps(read))):
        assert kept == read
        back = new().codec("Config").decode(old().codec("Config").encode(kept))
        drop_unknown_fields(back)  # `gone`, which the new one does not know
        assert back == sent
    fresh = dataclasses.replace(read)
    assert unknown_fields(fresh) == b""
    assert fresh != read
    drop_unknown_fields(read)
    assert fresh == read


def test_unknown_fields_stay_in_the_order_in_which_they_came() -> None:
    codec = old().codec("Inner")
    data = bytes.fromhex("f87f05 0807 a2060161 930608019406 0d01020304 11" + "00" * 8)
    read = codec.decode(data.replace(b"\x0d", b"\x1d").replace(b"\x11", b"\x19"))
    assert bytes(codec.encode(read))[:2].hex() == "0807"
    assert unknown_fields(read).hex() == ("f87f05 a2060161 930608019406 1d01020304 19" + "00" * 8).replace(
        " ", ""
    )
    assert codec.decode(codec.encode(read)) == read


def test_within_febird_too() -> None:
    data = new().codec("Febird").encode(new().package.Febird(_new(), new().package.ChoiceA(3)))
    read = old().codec("Febird").decode(data)
    assert read.choice == old().package.ChoiceA(3)
    assert new().codec("Febird").decode(old().codec("Febird").encode(read)).config.far == [1, 2]
    unknown = new().package.Febird(_new(), new().package.ChoiceC(new().package.Inner()))
    with pytest.raises(mf.DecodeError) as caught:
        old().codec("Febird").decode(new().codec("Febird").encode(unknown))
    assert (caught.value.fault, caught.value.path) == (mf.Fault.UNKNOWN_ALTERNATIVE, "Febird.choice")


@pytest.mark.parametrize("field", ["count", "size", "shift"])
def test_what_an_old_reader_cannot_hold_is_refused(field: str) -> None:
    sent = _new()
    setattr(sent, field, 1 << 40)
    with pytest.raises(mf.DecodeError) as caught:
        old().codec("Config").decode(new().codec("Config").encode(sent))
    assert (caught.value.fault, caught.value.path) == (mf.Fault.NUMBER_OUT_OF_RANGE, f"Config.{field}")


@pytest.mark.parametrize(
    ("data", "fault", "offset", "path"),
    [
        ("", "MISSING_FIELD", 0, "Config.name"),
        ("0a016e", "MISSING_FIELD", 3, "Config.count"),
        ("0a016e 10ffff7f", "NUMBER_OUT_OF_RANGE", 4, "Config.count"),
        ("0a016e 10ff", "TRUNCATED", 4, "Config.count"),
        ("0a056e", "COUNT_TOO_LARGE", 1, "Config.name"),
        ("0a01ff", "INVALID_UTF8", 2, "Config.name"),
        ("08016e", "WRONG_WIRE_TYPE", 0, "Config.name"),
        ("00", "MALFORMED_TAG", 0, "Config"),
        ("0f", "MALFORMED_TAG", 0, "Config"),
        ("808080801000", "MALFORMED_TAG", 0, "Config"),
        ("80808080808080808080", "MALFORMED_NUMBER", 0, "Config"),
        ("ffffffffffffffffff7f", "NUMBER_OUT_OF_RANGE", 0, "Config"),
        ("0a016e 9306", "MALFORMED_TAG", 3, "Config"),
        ("0a016e 9406", "MALFORMED_TAG", 3, "Config"),
        ("0a016e 93069c06", "MALFORMED_TAG", 5, "Config"),
        ("2a00", "MISSING_FIELD", 2, "Config.inner.a"),
        ("2a03088002", "NUMBER_OUT_OF_RANGE", 3, "Config.inner.a"),
        ("2a050801 0a016e", "WRONG_WIRE_TYPE", 4, "Config.inner.a"),
        ("32020801 3201 08", "TRUNCATED", 7, "Config.many[1].a"),
        ("3001", "WRONG_WIRE_TYPE", 0, "Config.many[0]"),
        ("9a0605", "COUNT_TOO_LARGE", 2, "Config"),
        ("9d06050000", "TRUNCATED", 2, "Config"),
    ],
)
def test_faults_are_exact(data: str, fault: str, offset: int, path: str) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        old().codec("Config").decode(bytes.fromhex(data))
    refused = caught.value
    assert (refused.fault.name, refused.offset, refused.path) == (fault, offset, path)


def test_numbers_may_be_packed_or_not_and_longer_than_needed() -> None:
    archives = Archives(
        """module loose;
        @tier(archive) struct All {
          1: u: list<u32>; 2: i: list<i32>; 3: f: array<f64, 2>; 4: b: set<bool>; 5: t: list<timestamp>;
          6: n: u8;
        }"""
    )
    codec, p = archives.codec("All"), archives.package
    value = p.All([1, 300], [-1, 5], [0.5, 2.0], {True, False}, [mf.Timestamp(7)], 3)
    loose = bytes.fromhex(
        "308380808000 20818000 2000 0801 1001 19000000000000e03f 0a03ac8200 190000000000000040 1203 8a8000"
        "2907000000000000003003"
    )
    assert codec.decode(loose) == value
    assert codec.decode(codec.encode(value)) == value


def test_deep_messages_end_at_sixty_four_levels() -> None:
    archives = Archives(
        "module deep_archive; @tier(archive) struct Tree { 1: next: Tree?; 2: many: list<Tree>; }"
        "struct Held { tree: Tree; }"
    )
    codec, p = archives.codec("Tree"), archives.package

    def sized(data: bytes) -> bytes:
        size = len(data)
        return (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + data

    def nested(levels: int) -> bytes:
        data = b""
        for _ in range(levels - 1):
            data = b"\x0a" + sized(data)
        return data

    assert codec.encode(codec.decode(nested(64))) == nested(64)
    with pytest.raises(mf.DecodeError, match="nested deeper than 64") as caught:
        codec.decode(nested(65))
    assert (caught.value.fault, caught.value.path.count(".next")) == (mf.Fault.DEPTH_EXCEEDED, 64)
    tree = p.Tree()
    tree.next = tree
    with pytest.raises(mf.Error, match="nested deeper than 64"):
        codec.encode(tree)
    held = archives.codec("Held")
    assert held.decode(sized(nested(63))).tree == codec.decode(nested(63))
    with pytest.raises(mf.DecodeError, match="nested deeper"):
        held.decode(sized(nested(64)))


def test_what_decodes_stays_in_the_budget() -> None:
    archives = Archives(
        'module budget; @tier(archive) struct Big { 1: list_: list<u64> = [1, 2, 3]; 2: text: string = ""; '
        "3: more: list<Small>; 4: by: map<u32, Small>; } "
        "@tier(archive) struct Small { 1: a: u32 = 5; 2: b: f64 = 0; }"
    )
    codec = archives.codec("Big")
    limited = codec.within(Limits(decoded=100_000))
    for data in (b"\x1a\x00" * 5_000, b"\x22\x02\x08\x01" * 5_000, b"\x0a\xb0\xea\x01" + b"\x01" * 30_000):
        assert codec.decode(data) is not None
        with pytest.raises(mf.DecodeError) as caught:
            limited.decode(data)
        assert caught.value.fault is mf.Fault.BUDGET_EXCEEDED


RING = """module ring;
@tier(archive) struct Ring { 1: next: ref<Ring>?; 2: all: list<ref<Ring>>; 3: o: Other?; }
@tier(archive) union Other { 1: ring: ref<Ring>; 2: text: string; 3: other: ref<Other>; }
"""


def _rings() -> tuple[Any, bytes]:
    archives = Archives(RING)
    p, codec = archives.package, archives.codec("Ring")
    ring = p.Ring(o=p.OtherText("x"))
    ring.next = p.Ring(ring, [ring, ring], p.OtherOther(p.OtherRing(ring)))
    return codec, bytes(codec.encode(ring))


def _damaged(whole: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(whole)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(damaged))
        match draw.randint(0, 2):
            case 0:
                damaged[at] = draw.randrange(256)
            case 1:
                damaged.insert(at, draw.randrange(256))
            case _:
                del damaged[at]
    return bytes(damaged)


def _carefully(codec: Any, data: bytes) -> Any:
    """The value, or the offset of what is wrong."""
    try:
        return read(codec.shape, data)
    except CodecError as refused:
        return refused.offset, refused.fault


@pytest.mark.parametrize("which", ["messages", "graphs"])
def test_every_beginning_and_every_damage_is_refused_or_a_value(which: str) -> None:
    """And the fast path never takes what the careful one refuses."""
    if which == "graphs":
        codec, whole = _rings()
    else:
        codec = old().codec("Config")
        whole = bytes(codec.encode(_old()))
    draw, taken = random.Random(7), 0
    for data in [*(whole[:at] for at in range(len(whole))), *(_damaged(whole, draw) for _ in range(1500))]:
        careful = _carefully(codec, data)
        try:
            value: Any = codec.decode(data)
        except mf.DecodeError as error:
            value = error.offset, error.fault
        else:
            taken += 1
            assert codec.decode(codec.encode(value)) == value
        assert value == careful, data.hex()
    assert taken > 5


@pytest.mark.parametrize(
    ("name", "data", "offset", "path"),
    [
        ("Inner", "0c", 0, "Inner"),
        ("Inner", "08010c", 2, "Inner"),
        ("Config", "0a00" + "2a010c", 4, "Config.inner"),
    ],
)
def test_a_group_that_nothing_opened_is_no_value_of_its_field(
    name: str, data: str, offset: int, path: str
) -> None:
    with pytest.raises(mf.DecodeError, match="is closed, but not open") as caught:
        old().codec(name).decode(bytes.fromhex(data))
    found = caught.value
    assert (found.fault, found.offset, found.path) == (Fault.MALFORMED_TAG, offset, path)
