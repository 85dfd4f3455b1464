"""mfidl/dynamic, tiers memcpy and febird, against bytes worked out by hand from docs/protocol.md, `struct` and
numpy; and every fault with its offset and path.
"""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfidl.descriptor.read import from_bytes
from mfidl.descriptor.write import to_message
from mfidl.dynamic import (
    DecodeError,
    EncodeError,
    Fault,
    Limits,
    Schema,
    UnknownTypeError,
    annotate,
    decode,
    encode,
    planned_tier,
)
from mfidl.model import Tier
from tests.compiler.dynamic_values import SCHEMA
from tests.compiler.schema import dynamic_schema


def schema() -> Schema:
    return dynamic_schema(SCHEMA)


def test_the_faults_are_those_of_the_runtimes() -> None:
    from mf.codec.fault import Fault as Theirs

    assert [(each.name, each.value) for each in Fault] == [(each.name, each.value) for each in Theirs]


def test_a_descriptor_is_enough() -> None:
    read = Schema(from_bytes(to_message(schema().program).SerializeToString()))
    hit = {"doc": 300, "score": 1.5, "title": "ab", "positions": [0, 127, 128]}

    assert encode(read, "t.Hit", hit) == encode(schema(), "t.Hit", hit)
    assert decode(read, "Index.query.params", bytes.fromhex("01 01 61 0a")) == {"terms": ["a"], "limit": 10}


HIT = {"doc": 300, "score": 1.5, "title": "ab", "positions": [0, 127, 128]}
POINT = {"x": 1.5, "y": 2, "b": True}
ROWS = {"u": [], "i": [], "s": [], "a": [0, 0, 0], "l": [], "w": [], "t": [], "long": [0] * 600, "b": [], "f": [],
        "o": [], "flags": []}  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "value", "hexed"),
    [
        ("Hit", HIT, "ac02 0000c03f 02 6162 0c 00 7f 80"),
        ("Point", POINT, "000000000000f83f 02 01 000000000000"),
        ("Empty", {}, ""),
        ("Value", {"number": 1.0}, "01 000000000000f03f"),
        ("Value", {"hits": []}, "ac02 00"),
        ("Tree", {"v": 1, "children": [{"v": 2, "children": [], "next": None}], "next": None}, "01 01 02 00 00 00"),
        ("Gone", {"name": "é", "why": 1}, "02 c3a9 01"),
        ("Index.query.params", {"terms": ["a", ""], "limit": 300}, "02 0161 00 ac02"),
        ("Index.query.params", {"terms": []}, "00 0a"),  # the default
        ("Index.put.params", {"doc": 1, "ok": True}, "01000000 01 000000"),
        ("Index.nothing.results", {}, ""),
        ("News", HIT, "ac02 0000c03f 02 6162 0c 00 7f 80"),  # a topic's values
        ("Ids", [1], "04 01"),  # an alias
        ("u64", (1 << 64) - 1, "ffffffffffffffff"),
        ("list<u64>", [(1 << 64) - 1], "07 ffffffffffffffff"),
        ("list<i64>", [-1, 1], "08 ff 01"),
        ("list<i16>", [-129], "05 7fff"),
        ("list<u16>", [255, 256], "09 ff00 0001"),
        ("list<duration>", [-1], "04 ff"),
        ("list<timestamp>", [-1], "01 ffffffffffffffff"),
        ("list<u8>", [1, 2], "02 01 02"),
        ("list<bool>", [True, False], "02 01 00"),
        ("list<f32>", [1.5], "01 0000c03f"),
        ("list<Lang>", [-1, 300], "09 ffff 2c01"),
        ("set<Sign>", [1, -1], "08 ff 01"),
        ("set<string>", ["b", "a"], "02 0161 0162"),
        ("set<bool>", {True, False}, "02 00 01"),
        ("map<bool, u16?>", {True: 3, False: None}, "02 00 00 01 01 03"),
        ("map<i32, string>", {1: "x", -2: ""}, "02 03 00 02 01 78"),
        ("map<i32, i32>", {}, "00"),
        ("map<i32, i32>", {7: 0, -1: 300, 5: -1}, "03 04 ff 05 07 2c01 ffff 0000"),
        ("map<u16, i64>", {255: -1, 256: 1 << 40}, "02 0d ff00 0001 ffffffffffffffff 0000000000010000"),
        ("map<u64, i16>", {(1 << 64) - 1: -129}, "01 07 ffffffffffffffff 7fff"),
        ("map<Sign, duration>", {1: -1, -1: 128}, "02 04 ff 01 8000 ffff"),
        ("map<Lang, All>", {300: 1, -1: 1 << 63}, "02 0d ffff 2c01 0000000000000080 0100000000000000"),
        ("map<u32, map<i16, u16>>", {1: {2: 3}}, "01 01 01 00 02 03"),  # the outer one is written in pairs
        ("map<u16, u8>", {300: 1}, "01 ac02 01"),
        ("map<u8, u16>", {1: 300}, "01 01 ac02"),
        ("map<u16, Rank>", {300: 1}, "01 ac02 01"),
        ("map<u16, timestamp>", {1: -1}, "01 01 ffffffffffffffff"),
        ("map<u16, f32>", {1: 1.5}, "01 01 0000c03f"),
        ("map<u16, u16?>", {1: 300}, "01 01 01 ac02"),
        ("array<u32, 2>", [1, 2], "01000000 02000000"),
        ("array<string, 2>", ["", "a"], "00 01 61"),
        ("list<array<u32, 2>>", [[1, 70000]], "01 02 01000000 70110100"),
        ("list<Point>", [POINT], "01 000000000000f83f 02 01 000000000000"),
        ("string?", None, "00"),
        ("string?", "a", "01 01 61"),
        ("list<Note>", [{"id": 1, "text": "", "tags": []}], "01 04 0801 1200"),
        ("list<Opaque>", [b"xyz"], "01 03 78797a"),
    ],
)  # fmt: skip
def test_bytes_worked_out_by_hand(type_: str, value: Any, hexed: str) -> None:
    data = bytes.fromhex(hexed)

    assert encode(schema(), type_, value).hex(" ") == data.hex(" ")
    assert encode(schema(), type_, decode(schema(), type_, data)) == data


def test_a_row_of_several_blocks_has_a_code_for_each() -> None:
    values = [*range(256), *range(1000, 1256), 70_000]
    blocks = (
        struct.pack("<256B", *values[:256])
        + struct.pack("<256H", *values[256:512])
        + struct.pack("<I", 70_000)
    )
    as_list = b"\x84\x10" + b"\x09" + blocks  # 513 x 4 + 0; codes 1 and 2
    as_array = b"\x24" + blocks  # codes 0, 1 and 2

    assert encode(schema(), "list<u32>", values) == as_list
    assert encode(schema(), "array<u32, 513>", values, Tier.FEBIRD) == as_array
    assert decode(schema(), "list<u32>", as_list) == values
    assert decode(schema(), "array<u32, 513>", as_array, Tier.FEBIRD) == values


def test_a_wider_row_than_needed_is_read() -> None:
    assert decode(schema(), "list<u32>", bytes.fromhex("06 01000000")) == [1]


def test_a_map_of_several_blocks_has_the_widths_of_each() -> None:
    value = {key: -key for key in [*range(256), *range(1000, 1256), 70_000]}
    data = b"\x81\x04"  # 513
    data += b"\x04" + bytes(range(256)) + struct.pack("<256h", *range(0, -256, -1))
    data += (
        b"\x05" + struct.pack("<256H", *range(1000, 1256)) + struct.pack("<256h", *range(-1000, -1256, -1))
    )
    data += b"\x0a" + struct.pack("<Ii", 70_000, -70_000)

    assert encode(schema(), "map<u32, i64>", value) == data
    assert decode(schema(), "map<u32, i64>", data) == value
    assert list(decode(schema(), "map<u32, i64>", data)) == sorted(value)


def test_wider_blocks_than_needed_are_read() -> None:
    assert decode(schema(), "map<u32, i16>", bytes.fromhex("02 06 01000000 02000000 ffff 0000")) == {
        1: -1,
        2: 0,
    }


LONGS = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-200, 200) | st.integers(-40_000, 40_000)


@given(st.dictionaries(LONGS, LONGS, max_size=600))
@settings(max_examples=40, deadline=None)
def test_blocks_are_what_numpy_makes_of_them(value: dict[int, int]) -> None:
    keys = np.array(sorted(value), dtype="<i8")
    held = np.array([value[key] for key in sorted(value)], dtype="<i8")
    expected = bytes([len(value)]) if len(value) < 128 else bytes([len(value) & 127 | 128, len(value) >> 7])
    for start in range(0, len(value), 256):
        parts = [part[start : start + 256] for part in (keys, held)]
        codes = [next(i for i in range(4) if (part.astype(f"<i{1 << i}") == part).all()) for part in parts]
        expected += bytes([codes[0] + 4 * codes[1]])
        for code, part in zip(codes, parts, strict=True):
            expected += part.astype(f"<i{1 << code}").tobytes()

    assert encode(schema(), "map<i64, i64>", value) == expected
    assert decode(schema(), "map<i64, i64>", expected) == value


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-200, 200), min_size=1, max_size=600))
@settings(max_examples=40, deadline=None)
def test_rows_are_what_numpy_makes_of_each_block(values: list[int]) -> None:
    data = encode(schema(), f"array<i64, {len(values)}>", values, Tier.FEBIRD)

    expected = b""
    codes = []
    for start in range(0, len(values), 256):
        block = np.array(values[start : start + 256], dtype="<i8")
        code = next(i for i in range(4) if (block.astype(f"<i{1 << i}").astype("<i8") == block).all())
        codes.append(code)
        expected += block.astype(f"<i{1 << code}").tobytes()
    packed = np.packbits(
        [bit for code in codes for bit in (code & 1, code >> 1)], bitorder="little"
    ).tobytes()
    assert data == packed + expected


@given(
    st.integers(0, 255), st.floats(allow_nan=False), st.booleans(), st.binary(min_size=16, max_size=16),
    st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(1 << 15), (1 << 15) - 1),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_memcpy_is_the_layout_of_struct_and_numpy(
    a: int, x: float, b: bool, id_: bytes, at: int, n: int
) -> None:
    point = {"x": x, "y": a, "b": b}
    value = {"a": a, "p": point, "q": [point, point], "r": 1, "id": id_, "at": at, "ttl": -at - 1, "n": n}
    record = np.dtype([("x", "<f8"), ("y", "u1"), ("b", "?")], align=True)
    layout = np.dtype(
        [("a", "u1"), ("p", record), ("q", record, 2), ("r", "u1"), ("id", "V16"), ("at", "<i8"), ("ttl", "<i8"),
         ("n", "<i2")], align=True,
    )  # fmt: skip
    by_struct = struct.pack(
        "<B7x dB?6x dB?6x dB?6x B16s7x qq h6x", a, x, a, b, x, a, b, x, a, b, 1, id_, at, -at - 1, n
    )

    data = encode(schema(), "Mixed", value)

    assert data == by_struct
    found = np.frombuffer(data, dtype=layout)[0]
    assert (found["a"], found["q"][1]["y"], found["at"], found["n"]) == (a, a, at, n)
    assert decode(schema(), "Mixed", data) == value


def test_padding_is_ignored_by_readers() -> None:
    assert decode(schema(), "Point", bytes.fromhex("000000000000f83f 02 01 ffffffffffff")) == POINT


def deep(levels: int) -> bytes:
    """A Tree, two levels for each child in a list."""
    return bytes.fromhex("01 01") * levels + bytes.fromhex("01 00 00") + b"\0" * levels


LONG = bytes.fromhex("00" * 3)
# The first 256 of 257 entries, keys of 2 bytes and values of 1; 771 bytes in all.
ENTRIES_256 = "8102 01" + struct.pack("<256H", *range(256)).hex() + "00" * 256


@pytest.mark.parametrize(
    ("type_", "hexed", "fault", "offset", "path"),
    [
        ("Hit", "", Fault.TRUNCATED, 0, "Hit.doc"),
        ("Hit", "ac", Fault.TRUNCATED, 0, "Hit.doc"),
        ("Hit", "ac02 0000", Fault.TRUNCATED, 2, "Hit.score"),
        ("Hit", "8000", Fault.MALFORMED_NUMBER, 0, "Hit.doc"),
        ("Hit", "ffffffff10", Fault.NUMBER_OUT_OF_RANGE, 0, "Hit.doc"),
        ("Hit", "ffffffffffffffffffff", Fault.MALFORMED_NUMBER, 0, "Hit.doc"),
        ("Hit", "ffffffffffffffffff02", Fault.NUMBER_OUT_OF_RANGE, 0, "Hit.doc"),
        ("Hit", "00 00000000 03 6162", Fault.COUNT_TOO_LARGE, 5, "Hit.title"),
        ("Hit", "00 00000000 02 61ff", Fault.INVALID_UTF8, 7, "Hit.title"),
        ("Hit", "00 00000000 00 ffffffff0f", Fault.NUMBER_OUT_OF_RANGE, 6, "Hit.positions"),  # code 3 of u32
        ("Hit", "00 00000000 00 fcffffff3f", Fault.COUNT_TOO_LARGE, 6, "Hit.positions"),
        ("Hit", "00 00000000 00 fcffffff7f", Fault.NUMBER_OUT_OF_RANGE, 6, "Hit.positions"),  # 2^33 - 1 of them
        ("Hit", "00 00000000 00 01", Fault.MALFORMED_NUMBER, 6, "Hit.positions"),
        ("Hit", "00 00000000 00 0a 0000", Fault.TRUNCATED, 7, "Hit.positions"),
        ("Hit", "00 00000000 00 04 00 00", Fault.TRAILING_BYTES, 8, "Hit"),
        ("Gone", "00 02", Fault.UNKNOWN_ENUM_VALUE, 1, "Gone.why"),
        ("Value", "05", Fault.UNKNOWN_ALTERNATIVE, 0, "Value"),
        ("Value", "04 01 05 00", Fault.UNKNOWN_ALTERNATIVE, 2, "Value.all[0]"),
        ("Point", "00" * 9, Fault.TRUNCATED, 0, "Point"),
        ("Point", "00" * 9 + "02" + "00" * 6, Fault.INVALID_BOOL, 9, "Point.b"),
        ("Point", "00" * 9 + "02" + "00" * 5, Fault.TRUNCATED, 0, "Point"),
        ("Mixed", "00" * 49 + "02" + "00" * 54, Fault.INVALID_BOOL, 49, "Mixed.q[1].b"),
        ("Mixed", "00" * 56 + "07" + "00" * 47, Fault.UNKNOWN_ENUM_VALUE, 56, "Mixed.r"),
        ("string?", "02", Fault.INVALID_BOOL, 0, ""),
        ("list<bool>", "02 01 02", Fault.INVALID_BOOL, 2, "[1]"),
        ("list<Rank>", "02 01 02", Fault.UNKNOWN_ENUM_VALUE, 2, "[1]"),
        ("list<Sign>", "08 ff 00", Fault.UNKNOWN_ENUM_VALUE, 2, "[1]"),
        ("list<Wide>", "0b 0000000000000000 0100000000000000", Fault.UNKNOWN_ENUM_VALUE, 9, "[1]"),
        ("set<u8>", "03 01 02 02", Fault.KEYS_NOT_ASCENDING, 3, "[2]"),
        ("set<i32>", "08 01 ff", Fault.KEYS_NOT_ASCENDING, 2, "[1]"),
        ("set<Sign>", "0c 01 ff 00", Fault.KEYS_NOT_ASCENDING, 2, "[1]"),  # before the one that is no member
        ("set<string>", "02 0162 0161", Fault.KEYS_NOT_ASCENDING, 3, "[1]"),
        ("map<u16, bool>", "02 05 01 05 01", Fault.KEYS_NOT_ASCENDING, 3, "[1]"),
        ("map<u16, bool>", "02 05 02 05 01", Fault.INVALID_BOOL, 2, "[0]"),
        ("map<u16, bool>", "03 05 01 06 01", Fault.COUNT_TOO_LARGE, 0, ""),
        ("map<i32, i32>", "8000", Fault.MALFORMED_NUMBER, 0, ""),
        ("map<i32, i32>", "03 00 01 02 03 04", Fault.COUNT_TOO_LARGE, 0, ""),
        ("map<i32, i32>", "00 00", Fault.TRAILING_BYTES, 1, ""),
        ("map<i32, i32>", "01 10 01 02", Fault.MALFORMED_NUMBER, 1, ""),
        ("map<u16, u16>", "01 8a 01 02", Fault.MALFORMED_NUMBER, 1, ""),  # before its codes are looked at
        ("map<u16, i64>", "01 02 01000000 02", Fault.NUMBER_OUT_OF_RANGE, 1, ""),
        ("map<u64, i16>", "01 08 01 02000000", Fault.NUMBER_OUT_OF_RANGE, 1, ""),
        ("map<i32, i32>", "02 02 01000000 0200", Fault.TRUNCATED, 2, ""),
        ("map<i32, i32>", "02 02 02000000 0100", Fault.TRUNCATED, 2, ""),
        ("map<i32, i32>", "02 00 01 02 05", Fault.TRUNCATED, 4, ""),
        ("map<i32, i32>", "02 00 02 01 05", Fault.KEYS_NOT_ASCENDING, 3, "[1]"),  # before the values are missed
        ("map<i32, i32>", "02 00 01 ff 00 00", Fault.KEYS_NOT_ASCENDING, 3, "[1]"),
        ("map<u32, i32>", "02 00 ff ff 00 00", Fault.KEYS_NOT_ASCENDING, 3, "[1]"),
        ("map<Sign, u16>", "01 00 00 05", Fault.UNKNOWN_ENUM_VALUE, 2, "[0]"),
        ("map<Sign, u16>", "02 00 01 00 05 05", Fault.UNKNOWN_ENUM_VALUE, 3, "[1]"),  # before it does not ascend
        ("map<Sign, u16>", "03 00 01 ff 00 0505 05", Fault.KEYS_NOT_ASCENDING, 3, "[1]"),
        ("map<i32, Sign>", "02 00 01 02 01 00", Fault.UNKNOWN_ENUM_VALUE, 5, "[1]"),
        ("map<i32, Sign>", "02 08 01 02 01000000 020000", Fault.TRUNCATED, 4, ""),
        ("map<u16, u16>", "8102 01" + "0000" * 257 + "00" * 100, Fault.KEYS_NOT_ASCENDING, 5, "[1]"),
        ("map<u16, u16>", ENTRIES_256, Fault.TRUNCATED, 771, ""),  # no byte of the second block
        ("map<u16, u16>", ENTRIES_256 + "00", Fault.TRUNCATED, 772, ""),
        ("map<u16, u16>", ENTRIES_256 + "20 0000 0000", Fault.MALFORMED_NUMBER, 771, ""),
        ("map<u16, u16>", ENTRIES_256 + "00 ff 00", Fault.KEYS_NOT_ASCENDING, 772, "[256]"),
        ("map<u16, u16>", ENTRIES_256 + "01 0001", Fault.TRUNCATED, 774, ""),
        ("map<u32, map<i16, u16>>", "01 01 02 00 02 02 03 03", Fault.KEYS_NOT_ASCENDING, 5, "[0][1]"),
        ("list<u16>", "86 00", Fault.MALFORMED_NUMBER, 0, ""),
        ("list<u16>", "06 0000 0000", Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("list<u16>", "8010" + "04" + "00" * 512, Fault.MALFORMED_NUMBER, 2, ""),  # a third block's code, of two
        ("list<u16>", "8010" + "02" + "00" * 512, Fault.NUMBER_OUT_OF_RANGE, 2, ""),
        ("list<u16>", "8010" + "01" + "00" * 512, Fault.TRUNCATED, 3, ""),
        ("list<Empty>", "818004", Fault.COUNT_TOO_LARGE, 0, ""),
        ("list<Point>", "02" + "00" * 31, Fault.COUNT_TOO_LARGE, 0, ""),
        ("list<Note>", "01 05 08", Fault.COUNT_TOO_LARGE, 1, "[0]"),
        ("list<Note>", "01 05 0801 1200 00", Fault.MALFORMED_TAG, 6, "[0]"),
        ("array<bool, 2>", "00", Fault.TRUNCATED, 0, ""),
        ("array<string, 2>", "00", Fault.TRUNCATED, 1, "[1]"),
        ("Index.put.params", "0000", Fault.TRUNCATED, 0, ""),
        ("Index.query.params", "00 ffffffffff0f", Fault.NUMBER_OUT_OF_RANGE, 1, "limit"),
        ("Tree", deep(32).hex(), Fault.DEPTH_EXCEEDED, 64, "Tree" + ".children[0]" * 32),
    ],
)  # fmt: skip
def test_a_fault_has_its_offset_and_path(
    type_: str, hexed: str, fault: Fault, offset: int, path: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(schema(), type_, bytes.fromhex(hexed))

    found = caught.value
    assert (found.fault.name, found.offset, found.path) == (fault.name, offset, path)


def test_as_deep_as_allowed_is_read() -> None:
    """Each child is two levels, the last one's list is the 64th."""
    data = deep(31)

    assert encode(schema(), "Tree", decode(schema(), "Tree", data)) == data


def test_a_length_of_four_gibibytes_is_refused_before_anything_is_made() -> None:
    for type_ in ("string", "bytes", "list<u8>", "set<uuid>", "map<string, u8>"):
        with pytest.raises(DecodeError) as caught:
            decode(schema(), type_, bytes.fromhex("ffffffff0f 00"))
        assert caught.value.fault is Fault.COUNT_TOO_LARGE


def test_memory_has_a_budget() -> None:
    data = encode(schema(), "list<string>", ["x"] * 1000)

    with pytest.raises(DecodeError) as caught:
        decode(schema(), "list<string>", data, limits=Limits(decoded=20_000))

    assert caught.value.fault is Fault.BUDGET_EXCEEDED


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        ("Hit", {**HIT, "doc": -1}, "Hit.doc: -1 does not fit in u32 (0 to 4294967295)"),
        (
            "Hit",
            {**HIT, "positions": [1 << 32]},
            "Hit.positions[0]: 4294967296 does not fit in u32 (0 to 4294967295)",
        ),
        ("Hit", {**HIT, "title": 1}, "Hit.title: expected str, got 1"),
        ("Hit", {**HIT, "title": "\ud800"}, "Hit.title: text with a lone surrogate at 0"),
        ("Hit", {**HIT, "titel": ""}, "Hit: t.Hit has no field `titel`"),
        ("Hit", {"doc": 1}, "Hit: the field `score` is missing"),
        ("Hit", [], "Hit: t.Hit is a Python dict, not list"),
        ("Value", {}, "Value: t.Value is a dict of one alternative, not of none"),
        ("Value", {"txt": ""}, "Value: t.Value is a dict of one alternative, not of txt"),
        ("Gone", {"name": "", "why": 2}, "Gone.why: 2 is not a member of t.Rank"),
        ("set<u8>", [1, 1], "an element of a set is there twice"),
        ("array<u8, 2>", [1], "expected exactly 2 elements, got 1"),
        ("f32", 1e300, "1e+300 does not fit in f32"),
        ("f64", "1", "expected f64, got '1'"),
        ("uuid", b"", "a uuid is 16 bytes"),
    ],
)
def test_a_value_that_its_type_cannot_hold_is_told_with_its_path(type_: str, value: Any, said: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(schema(), type_, value)

    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("text", "said", "wrong"),
    [
        ("Hti", "there is no type `Hti`; did you mean `Hit`?", "Hti"),
        ("list<Hti>", "there is no type `Hti`; did you mean `Hit`?", "Hti"),
        ("lst<u8>", "there is no container `lst`; did you mean `list`?", "lst"),
        ("list<u8", "`>` is expected here", ""),
        ("list", "`list` needs to say of what: `list<T>`", "list"),
        ("map<f32, u8>", "keys of maps and elements of sets are", "f32"),
        ("map<timestamp, u8>", "keys of maps and elements of sets are", "timestamp"),
        ("array<u8, 0>", "an array has at least one element", "0"),
        ("array<u8, 99999999>", "so long an array could never be sent", "99999999"),
        ("u8??", "there is no `T??`", "?"),
        ("u8 u8", "behind the type is something more", "u8"),
        ("params", "`params` could be `t.Index.nothing.params`", "params"),
        ("ref<Config>", "a `ref` stands only inside of archive types", "ref"),
        ("", "a type is expected here", ""),
        ("list<" * 99 + "u8" + ">" * 99, "types are nested at most 64 deep", "list"),
    ],
)
def test_what_is_no_type_is_told_with_its_place(text: str, said: str, wrong: str) -> None:
    with pytest.raises(UnknownTypeError) as caught:
        encode(schema(), text, None)

    assert said in str(caught.value)
    assert text[caught.value.start : caught.value.end] == wrong


def test_a_value_on_its_own_has_the_tier_of_the_law() -> None:
    from mfidl.dynamic.names import find

    wanted = {"Hit": Tier.FEBIRD, "Point": Tier.MEMCPY, "Note": Tier.ARCHIVE, "Opaque": Tier.CUSTOM, "u8": Tier.MEMCPY,
              "Rank": Tier.MEMCPY, "array<Point, 2>": Tier.MEMCPY, "string": Tier.FEBIRD, "list<u8>": Tier.FEBIRD,
              "array<string, 2>": Tier.FEBIRD, "u8?": Tier.FEBIRD, "Value": Tier.FEBIRD}  # fmt: skip

    assert {name: planned_tier(schema(), find(schema(), name).type) for name in wanted} == wanted


def test_labels_of_a_row_name_its_head_its_widths_and_its_values() -> None:
    data = bytes.fromhex("8410 09") + bytes(256 + 512 + 4)

    found = annotate(schema(), "list<u32>", data).annotations

    assert [each.meaning for each in found[:3]] == [
        "head: 513 values of 1 byte",
        "widths: 2 bytes, 4 bytes",
        "value",
    ]
    assert (found[-1].offset, found[-1].path, found[-1].type, found[-1].data) == (
        771,
        "[512]",
        "u32",
        bytes(4),
    )


def test_labels_of_a_block_name_its_widths_then_its_keys_then_its_values() -> None:
    found = annotate(schema(), "map<Sign, u32>", bytes.fromhex("02 04 ff 01 2c01 0000")).annotations

    assert [(each.offset, each.data.hex(), each.path, each.meaning, each.type, each.value) for each in found] == [
        (0, "02", "", "count", "", "2"),
        (1, "04", "", "widths: keys of 1 byte, values of 2 bytes", "", "4"),
        (2, "ff", "[0]", "key", "t.Sign", "minus"),
        (3, "01", "[1]", "key", "t.Sign", "plus"),
        (4, "2c01", "[0]", "value", "u32", "300"),
        (6, "0000", "[1]", "value", "u32", "0"),
    ]  # fmt: skip


def test_a_second_block_has_its_label_where_it_stands() -> None:
    data = bytes.fromhex(ENTRIES_256 + "09 0001 01000000")

    found = annotate(schema(), "map<u16, u32>", data).annotations

    assert [
        (each.offset, each.path, each.meaning) for each in found if each.meaning.startswith("widths")
    ] == [
        (2, "", "widths: keys of 2 bytes, values of 1 byte"),
        (771, "", "widths: keys of 2 bytes, values of 4 bytes"),
    ]
    assert [(each.offset, each.path, each.value) for each in found[-2:]] == [
        (772, "[256]", "256"),
        (774, "[256]", "1"),
    ]


def test_a_map_in_blocks_has_a_budget_before_it_is_read() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(schema(), "map<u16, u16>", bytes.fromhex(ENTRIES_256), limits=Limits(decoded=20_000))

    assert (caught.value.fault, caught.value.offset) == (Fault.BUDGET_EXCEEDED, 2)


def test_what_a_map_of_integers_cannot_hold_is_told_with_its_entry() -> None:
    for type_, value, said in [
        (
            "map<i32, i32>",
            {1: 2, 3: 1 << 31},
            "[3]: 2147483648 does not fit in i32 (-2147483648 to 2147483647)",
        ),
        ("map<u16, i32>", {-1: 2}, "[-1]: -1 does not fit in u16 (0 to 65535)"),
        ("map<i32, Sign>", {1: 0}, "[1]: 0 is not a member of t.Sign"),
        ("map<Sign, i32>", {0: 0}, "[0]: 0 is not a member of t.Sign"),
        ("map<i32, i32>", {1: "x"}, "[1]: expected i32, got 'x'"),
    ]:
        with pytest.raises(EncodeError) as caught:
            encode(schema(), type_, value)
        assert str(caught.value) == said
