"""What is wrong with bytes, where, and in which field: each fault that memcpy and febird can have, worked out
by hand from docs/protocol.md, section 8, "Faults".
"""

from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.limits import Limits
from mf.codec.lookup import codec_of as codec_of_shape
from tests.python.codec.generated import codec_of

_NESTED = "00" * 36  # of Nested: all before the second posting's tf
_LISTS = "00" * 8  # of Lists: all before `ranks`

SHAPES = [
    # truncated: the piece that is cut off
    ("Hit", "", "TRUNCATED", 0, "Hit.doc"),
    ("Hit", "ac", "TRUNCATED", 0, "Hit.doc"),
    ("Hit", "01 0000", "TRUNCATED", 1, "Hit.score"),
    ("Hit", "01 0000803f 00 0500", "TRUNCATED", 7, "Hit.positions"),
    ("Posting", "01020304 05", "TRUNCATED", 0, "Posting"),
    ("Nested", "00" * 55, "TRUNCATED", 0, "Nested"),
    ("Lists", _LISTS + "00 00", "TRUNCATED", 10, "Lists.fixed"),
    ("Lists", _LISTS + "00 00 00 0102", "TRUNCATED", 11, "Lists.fixed"),
    ("Lists", _LISTS + "00 00 01 0102", "TRUNCATED", 11, "Lists.fixed"),
    # trailing_bytes
    ("Hit", "01 0000803f 00 00 00", "TRAILING_BYTES", 7, "Hit"),
    ("Posting", "01020304 0500 01 00 00", "TRAILING_BYTES", 8, "Posting"),
    # count_too_large: at the count or length
    ("Hit", "01 0000803f 00 04", "COUNT_TOO_LARGE", 6, "Hit.positions"),
    ("Hit", "01 0000803f 03 6161", "COUNT_TOO_LARGE", 5, "Hit.title"),
    ("Hit", "01 0000803f 00 10 010203", "COUNT_TOO_LARGE", 6, "Hit.positions"),
    ("Lists", _LISTS + "02 05", "COUNT_TOO_LARGE", 8, "Lists.ranks"),
    ("Maps", "00 00 02 00 0100000002000000 01", "COUNT_TOO_LARGE", 2, "Maps.by_rank"),
    ("Index.query.params", "01 02 61", "COUNT_TOO_LARGE", 1, "terms[0]"),
    # malformed_number
    ("Hit", "8000 0000803f 00 00", "MALFORMED_NUMBER", 0, "Hit.doc"),
    ("Hit", "8080808000", "MALFORMED_NUMBER", 0, "Hit.doc"),
    ("Hit", "ffffffffffffffffffff01", "MALFORMED_NUMBER", 0, "Hit.doc"),
    ("Hit", "01 0000803f 00 02", "MALFORMED_NUMBER", 6, "Hit.positions"),
    ("Hit", "01 0000803f 00 8400 00", "MALFORMED_NUMBER", 6, "Hit.positions"),
    ("Lists", _LISTS + "00 00 04 010203 00", "MALFORMED_NUMBER", 10, "Lists.fixed"),
    # number_out_of_range
    ("Hit", "ffffffffffffffffff02", "NUMBER_OUT_OF_RANGE", 0, "Hit.doc"),
    ("Hit", "8080808010 0000803f 00 00", "NUMBER_OUT_OF_RANGE", 0, "Hit.doc"),
    ("Hit", "01 0000803f 00 fcffffffff7f", "NUMBER_OUT_OF_RANGE", 6, "Hit.positions"),
    ("Hit", "01 0000803f 00 07 0000000000000000", "NUMBER_OUT_OF_RANGE", 6, "Hit.positions"),
    ("Lists", _LISTS + "00 00 03", "NUMBER_OUT_OF_RANGE", 10, "Lists.fixed"),
    # invalid_bool
    ("Integers", "02" + "00" * 8, "INVALID_BOOL", 0, "Integers.a"),
    ("Nested", "00" * 48 + "0002 00 0000000000", "INVALID_BOOL", 49, "Nested.flags[1]"),
    ("Lists", "03 000102", "INVALID_BOOL", 3, "Lists.flags[2]"),
    ("Lists", "00" * 7 + "02 00 02", "INVALID_BOOL", 9, "Lists.maybe[1]"),
    # unknown_enum_value
    ("Posting", "01020304 0500 02 00", "UNKNOWN_ENUM_VALUE", 6, "Posting.rank"),
    ("Nested", _NESTED + "0000 09" + "00" * 17, "UNKNOWN_ENUM_VALUE", 38, "Nested.postings[1].rank"),
    ("Lists", "00" * 4 + "01 00000000 0000 05 00", "UNKNOWN_ENUM_VALUE", 11, "Lists.postings[0].rank"),
    ("Lists", _LISTS + "02 01 02 00 00", "UNKNOWN_ENUM_VALUE", 10, "Lists.ranks[1]"),
    ("Maps", "00" * 5 + "0c 00 02 01", "UNKNOWN_ENUM_VALUE", 7, "Maps.signs[1]"),
    ("Duplicate", "01 02", "UNKNOWN_ENUM_VALUE", 1, "Duplicate.rank"),
    # invalid_utf8: the first wrong byte
    ("Hit", "01 0000803f 04 61c3a9ff 00", "INVALID_UTF8", 9, "Hit.title"),
    ("Hit", "01 0000803f 03 61e282 00", "INVALID_UTF8", 7, "Hit.title"),
    ("Hit", "01 0000803f 03 eda080 00", "INVALID_UTF8", 6, "Hit.title"),
    # keys_not_ascending: the later of the two
    ("Maps", "02 0161 00 0161 00", "KEYS_NOT_ASCENDING", 4, "Maps.counts[1]"),
    ("Maps", "02 0162 00 0161 00", "KEYS_NOT_ASCENDING", 4, "Maps.counts[1]"),
    ("Maps", "00" * 3 + "02 00 00 00 00", "KEYS_NOT_ASCENDING", 6, "Maps.by_flag[1]"),
    ("Maps", "00" * 4 + "02 0162 0161", "KEYS_NOT_ASCENDING", 7, "Maps.words[1]"),
    ("Maps", "00" * 5 + "09 0100 0000", "KEYS_NOT_ASCENDING", 8, "Maps.signs[1]"),
    # The first from left to right counts.
    ("Maps", "02 0162 00 0161 02", "KEYS_NOT_ASCENDING", 4, "Maps.counts[1]"),
    ("Hit", "8000 0000803f 00 00 00", "MALFORMED_NUMBER", 0, "Hit.doc"),
]

ALTERNATIVES = [
    ("Value", "08", "UNKNOWN_ALTERNATIVE", 0, "Value"),
    ("Value", "", "TRUNCATED", 0, "Value"),
    ("Value", "02 03 6161", "COUNT_TOO_LARGE", 1, "Value.text"),
    ("Value", "c801 02 02 01 61 09", "UNKNOWN_ALTERNATIVE", 6, "Value.nested[1]"),
    ("Holder", "01 000000000000f03f 02", "INVALID_BOOL", 9, "Holder.maybe"),
    ("Value", "c801 01" * 33, "DEPTH_EXCEEDED", 96, "Value" + ".nested[0]" * 32),
]


def _check(codec: Any, data: str, fault: str, offset: int, path: str) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        codec.decode(bytes.fromhex(data))
    error = caught.value
    assert (error.fault.name, error.offset, error.path) == (fault, offset, path)
    assert error.code is mf.Code.DECODE_ERROR
    assert f"{path}, at byte {offset}: " in error.message


@pytest.mark.parametrize(("name", "data", "fault", "offset", "path"), SHAPES)
def test_a_fault_has_its_place(name: str, data: str, fault: str, offset: int, path: str) -> None:
    _check(codec_of("shapes.mfidl", f"vectors.shapes.{name}"), data, fault, offset, path)


@pytest.mark.parametrize(("name", "data", "fault", "offset", "path"), ALTERNATIVES)
def test_a_fault_in_a_union_has_its_place(name: str, data: str, fault: str, offset: int, path: str) -> None:
    _check(codec_of("alternatives.mfidl", f"vectors.alternatives.{name}"), data, fault, offset, path)


@pytest.mark.parametrize(
    ("data", "fault", "offset"),
    [
        ("03 00" + "00" * 1300, "NUMBER_OUT_OF_RANGE", 0),
        ("00 01" + "00" * 1300, "TRUNCATED", 2),  # a block of 2 bytes a value
        ("00 03" + "00" * 1300, "NUMBER_OUT_OF_RANGE", 1),
        ("00 10" + "00" * 1300, "MALFORMED_NUMBER", 1),
        ("00", "TRUNCATED", 0),
    ],
)
def test_codes_of_a_long_array_have_their_place(data: str, fault: str, offset: int) -> None:
    """1,281 values: six blocks, two bytes of codes."""
    fields = (s.Field("row", s.Array(s.U32, 1281)), s.Field("text", s.STRING))
    whole = s.Struct("T", lambda *each: each, lambda: fields)
    _check(codec_of_shape(whole), data, fault, offset, "T.row")


def test_a_batch_s_count_is_held_against_its_bytes() -> None:
    with pytest.raises(mf.DecodeError) as caught:
        codec_of("shapes.mfidl", "vectors.shapes.Hit").decode_all(bytes(13), 2)
    assert (caught.value.fault, caught.value.offset) == (mf.Fault.COUNT_TOO_LARGE, 0)


def test_memory_is_bounded_with_the_place_where_it_ran_out() -> None:
    codec = codec_of("shapes.mfidl", "vectors.shapes.Lists").within(Limits(decoded=2_000))
    data = bytes(2) + b"\xa0\x06" + bytes(200) + bytes(9)
    with pytest.raises(mf.DecodeError) as caught:
        codec.decode(data)
    error = caught.value
    assert (error.fault, error.path) == (mf.Fault.BUDGET_EXCEEDED, "Lists.numbers")


def test_a_violated_constraint_is_no_fault_of_the_bytes() -> None:
    codec = codec_of("shapes.mfidl", "vectors.shapes.Bounded")
    with pytest.raises(mf.Error) as caught:
        codec.decode(bytes.fromhex("00 00 00 00 00"))
    assert not isinstance(caught.value, mf.DecodeError)
    assert caught.value.code is mf.Code.INVALID_ARGUMENT
