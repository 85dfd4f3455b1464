"""Lists of numbers and of structs of tier memcpy as arrays of numpy, by the codec in use, compared with
lists of Python's own."""

import importlib
import struct
import sys
from typing import Any

import numpy as np
import pytest

import mf
from mf.codec import shape as s
from mf.codec.calls import Parts, Value
from mf.codec.codec import Codec
from mf.codec.decode_error import DecodeError
from mf.codec.limits import Limits
from mf.codec.rules import InRange
from mf.core.error import Error
from tests.python.codec.generated import codecs

codecs("shapes.mfidl")
shapes: Any = importlib.import_module("vectors.shapes")

NUMBERS: dict[str, tuple[s.Shape, str]] = {
    "u8": (s.U8, "u1"),
    "u16": (s.U16, "<u2"),
    "u32": (s.U32, "<u4"),
    "u64": (s.U64, "<u8"),
    "i8": (s.I8, "i1"),
    "i16": (s.I16, "<i2"),
    "i32": (s.I32, "<i4"),
    "i64": (s.I64, "<i8"),
    "f32": (s.F32, "<f4"),
    "f64": (s.F64, "<f8"),
}
COUNTS = (0, 1, 31, 256, 257, 1500)
POSTING = mf.numpy_dtype(shapes.Posting)


def numbers(dtype: str, count: int) -> Any:
    """Small ones, and from the 300th on as wide as the type."""
    made = (np.arange(count) % 100).astype(dtype)
    if count > 300:
        made[300:] = np.iinfo(dtype).max if dtype[-2] != "f" else 1.5
    return made


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("count", COUNTS)
def test_numbers_are_written_as_those_of_a_list_and_read_as_an_array(name: str, count: int) -> None:
    element, dtype = NUMBERS[name]
    kind, array = s.List(element), numbers(dtype, count)
    data = mf.to_bytes(array, kind)
    assert data == mf.to_bytes(array.tolist(), kind)
    for given in (data, bytearray(data), memoryview(data)):
        found = mf.from_bytes(kind, given, arrays=True)
        assert type(found) is np.ndarray
        assert (found.dtype, found.flags.writeable) == (np.dtype(dtype), False)
        assert found.tolist() == array.tolist()
        assert mf.to_bytes(found, kind) == data
    assert mf.from_bytes(kind, data) == array.tolist()


@pytest.mark.parametrize("dtype", ["i1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", ">u4"])
def test_integers_of_any_width_are_written_where_all_of_them_fit(dtype: str) -> None:
    array = np.array([0, 1, 127] * 200, dtype)
    assert mf.to_bytes(array, s.List(s.U16)) == mf.to_bytes(array.tolist(), s.List(s.U16))


@pytest.mark.parametrize(
    ("element", "array"),
    [
        (s.U16, np.array([1, -1], "<i4")),
        (s.I64, np.array([1, 1 << 63], "<u8")),
        (s.U64, np.array([1, -1], "<i8")),
        (s.I16, np.array([1, 40_000], "<i4")),
    ],
)
def test_a_number_that_does_not_fit_is_refused_with_its_place(element: s.Shape, array: Any) -> None:
    with pytest.raises(Error, match=r"\[1\]: -?\d+ does not fit"):
        mf.to_bytes(array, s.List(element))


def test_arrays_of_other_memory_are_written_too() -> None:
    array = np.arange(40.0)
    for other in (array[::2], array.astype(">f8"), array.astype("<f4"), array.astype("<i4")):
        assert mf.to_bytes(other, s.List(s.F64)) == mf.to_bytes(other.tolist(), s.List(s.F64))


def test_bytes_are_no_list_of_numbers() -> None:
    with pytest.raises(Error, match="expected a list"):
        mf.to_bytes(b"abc", s.List(s.U8))


def test_an_array_refers_to_the_message() -> None:
    data = mf.to_bytes(np.arange(100.0), s.List(s.F64))
    found = mf.from_bytes(s.List(s.F64), data, arrays=True)
    assert np.shares_memory(found, np.frombuffer(data, "u1"))
    kept = found.copy()
    del data
    assert (found == kept).all()


# --- structs


def postings(count: int) -> Any:
    made = np.zeros(count, POSTING)
    made["doc"], made["tf"], made["rank"] = np.arange(count), 3, np.arange(count) % 2
    return made


def as_list(array: Any) -> list[Any]:
    return [shapes.Posting(int(doc), int(tf), shapes.Rank(int(rank))) for doc, tf, rank in array]


@pytest.mark.parametrize("count", [0, 1, 200, 3000])
def test_structs_are_written_as_those_of_a_list_and_read_as_a_structured_array(count: int) -> None:
    kind: Any = list[shapes.Posting]
    array = postings(count)
    data = mf.to_bytes(array, kind)
    assert data == mf.to_bytes(as_list(array), kind)
    found = mf.from_bytes(kind, data, arrays=True)
    assert (found.dtype, found.flags.writeable) == (POSTING, False)
    assert found.tolist() == array.tolist()
    assert mf.from_bytes(kind, data) == as_list(array)


def test_bytes_between_the_fields_are_zero() -> None:
    array = np.frombuffer(struct.pack("<IHBB", 1, 2, 1, 0xEE) * 5, POSTING)
    assert mf.to_bytes(array, list[shapes.Posting]) == mf.to_bytes(as_list(array), list[shapes.Posting])


def test_structs_with_structs_and_arrays_inside() -> None:
    value = shapes.Nested(
        shapes.Posting(1, 2, shapes.Rank.bm25),
        [1.5, 2.5],
        [shapes.Posting(each, each, shapes.Rank.pagerank) for each in range(3)],
        [True, False, True],
        shapes.Nothing(),
    )
    kind: Any = list[shapes.Nested]
    data = mf.to_bytes([value] * 3, kind)
    found = mf.from_bytes(kind, data, arrays=True)
    assert found["postings"]["doc"].tolist() == [[0, 1, 2]] * 3
    assert mf.to_bytes(found.copy(), kind) == data
    assert mf.to_bytes(found, kind) == data


def test_every_other_struct_of_an_array() -> None:
    array = postings(10)[::2]
    assert mf.to_bytes(array, list[shapes.Posting]) == mf.to_bytes(as_list(array), list[shapes.Posting])


@pytest.mark.parametrize("dtype", [[("doc", "<u4"), ("tf", "<u2"), ("rank", "u1")], [("doc", ">u4")]])
def test_an_array_of_another_layout_is_refused(dtype: Any) -> None:
    with pytest.raises(Error, match=r"mf.numpy_dtype\(Posting\), got 1 dimensions of doc"):
        mf.to_bytes(np.zeros(3, dtype), list[shapes.Posting])


def test_an_enum_value_that_the_schema_does_not_have_is_refused() -> None:
    array = postings(4)
    array["rank"][2] = 9
    with pytest.raises(Error, match=r"\[2\].rank.*9 is not a member"):
        mf.to_bytes(array, list[shapes.Posting])
    data = bytearray(mf.to_bytes(postings(4), list[shapes.Posting]))
    data[1 + 2 * 8 + 6] = 9
    with pytest.raises(DecodeError, match=r"\[2\].rank, at byte 23: 9 is not a member") as refused:
        mf.from_bytes(list[shapes.Posting], data, arrays=True)
    with pytest.raises(DecodeError) as by_list:
        mf.from_bytes(list[shapes.Posting], data)
    assert str(refused.value) == str(by_list.value)


# --- in other values


def test_lists_inside_of_other_values_are_arrays() -> None:
    kind = s.Map(s.STRING, s.List(s.F64))
    data = mf.to_bytes({"a": [1.0, 2.0], "b": []}, kind)
    for given in (data, memoryview(data)):
        found = mf.from_bytes(kind, given, arrays=True)
        assert {key: value.tolist() for key, value in found.items()} == {"a": [1.0, 2.0], "b": []}
        assert all(type(value) is np.ndarray for value in found.values())
    assert mf.from_bytes(s.List(s.STRING), mf.to_bytes(["x"], s.List(s.STRING)), arrays=True) == ["x"]


RULE = InRange(1, 600)
RANGED = s.List(s.Checked(s.U16, (RULE,)))


def test_a_violated_constraint_is_refused_in_the_same_words() -> None:
    good = mf.to_bytes(np.arange(1, 601, dtype="<u2"), RANGED)
    assert mf.from_bytes(RANGED, good, arrays=True).tolist() == list(range(1, 601))
    alike = np.array([600] * 300, "<u2")
    assert mf.from_bytes(RANGED, mf.to_bytes(alike, RANGED), arrays=True).tolist() == alike.tolist()
    bad = mf.to_bytes([*range(1, 600), 601], s.List(s.U16))
    messages = []
    for arrays in (False, True):
        with pytest.raises(Error, match=r"\[599\].*601 is not in 1..600") as refused:
            mf.from_bytes(RANGED, bad, arrays=arrays)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
    with pytest.raises(Error, match=r"\[599\].*601 is not in 1..600"):
        mf.to_bytes(np.array([*range(1, 600), 601], "<u2"), RANGED)


@pytest.mark.parametrize("element", [s.F64, s.U32, shapes.Posting])
def test_every_beginning_of_a_message_is_refused_in_the_same_words(element: Any) -> None:
    kind = s.List(element) if isinstance(element, s.Scalar) else list[element]
    data = mf.to_bytes(np.arange(300) if isinstance(element, s.Scalar) else postings(20), kind)
    for end in (*range(8), len(data) - 1):
        with pytest.raises(DecodeError) as by_list:
            mf.from_bytes(kind, data[:end])
        for given in (data[:end], memoryview(data)[:end]):
            with pytest.raises(DecodeError) as by_array:
                mf.from_bytes(kind, given, arrays=True)
            assert str(by_array.value) == str(by_list.value)


def test_an_array_takes_the_memory_of_the_message_only() -> None:
    codec = mf.codec_of(s.List(s.F64))
    data = bytes(codec.encode(np.zeros(10_000)))
    small = Limits(decoded=1_000)
    with pytest.raises(DecodeError, match="more memory"):
        codec.within(small).decode(data)
    assert len(codec.within(small).arrays().decode(data)) == 10_000
    widened = mf.codec_of(s.List(s.U64))
    narrow = bytes(widened.encode(np.zeros(10_000, "<u8")))
    with pytest.raises(DecodeError, match="more memory"):
        widened.arrays().within(small).decode(narrow)


def nested(element: s.Shape, levels: int) -> s.Shape:
    for _ in range(levels):
        element = s.List(element)
    return element


def test_an_array_counts_as_a_level() -> None:
    inner: Any = np.zeros(1)
    for _ in range(63):
        inner = [inner]
    data = mf.to_bytes(inner, nested(s.F64, 64))
    assert mf.from_bytes(nested(s.F64, 64), data, arrays=True) is not None
    with pytest.raises(Error, match="nested deeper than 64"):
        mf.to_bytes([inner], nested(s.F64, 65))
    with pytest.raises(DecodeError, match="nested deeper than 64"):
        mf.from_bytes(nested(s.F64, 65), b"\1" + data, arrays=True)


# --- whole messages


def _only(element: s.Shape, *, bare: bool) -> s.Struct:
    def fields() -> tuple[s.Field, ...]:
        return (s.Field("values", s.List(element)),)

    if bare:
        return s.Struct("lone", s.bare_made, fields, memcpy=False, implicit=True, parts=s.bare_parts)
    return s.Struct("lone", s.parts_made, fields, memcpy=False, implicit=True)


class Request:
    def __init__(self, values: Any) -> None:
        self.values = values


@pytest.mark.parametrize(
    ("element", "array"),
    [
        (s.F64, np.arange(5_000.0)),
        (s.U8, np.arange(40_000).astype("u1")),
        (codecs("shapes.mfidl").POSTING_SHAPE, postings(5_000)),
    ],
)
def test_a_large_array_alone_in_a_message_is_written_as_by_the_ordinary_way(element: Any, array: Any) -> None:
    plain: Codec[Any, Any] = Codec(_only(element, bare=True), where="lone")
    value: Value[Any] = Value(_only(element, bare=True), where="lone")
    parts: Parts[Any, Any] = Parts(_only(element, bare=False), Request, where="lone")
    message = bytes(plain.encode(array))
    assert bytes(value.encode(array)) == message
    assert bytes(parts.encode_parts(array)) == message
    received = memoryview(bytearray(message))
    found = value.arrays().decode(received)
    assert np.shares_memory(found, np.frombuffer(received, "u1"))
    assert found.tolist() == array.tolist()
    (found,) = parts.arrays().decode(received)
    assert np.shares_memory(found, np.frombuffer(received, "u1"))


def test_a_wrong_array_alone_in_a_message_is_refused_by_the_ordinary_way() -> None:
    array = postings(5_000)
    array["rank"][7] = 9
    value: Value[Any] = Value(_only(codecs("shapes.mfidl").POSTING_SHAPE, bare=True), where="lone")
    with pytest.raises(Error, match=r"^INVALID_ARGUMENT: lone: values\[7\].rank: 9 is not a member"):
        value.encode(array)


def test_where_numpy_is_missing_the_wish_for_arrays_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy"):
        mf.codec_of(s.List(s.F64)).arrays()


OTHERS: dict[str, tuple[s.Shape, Any]] = {
    "string": (s.STRING, np.array(["ab", "c"])),
    "string of bytes": (s.STRING, np.array([b"ab", b"c"])),
    "bytes": (s.BYTES, np.array([b"ab", b"c"])),
    "timestamp": (s.TIMESTAMP, np.array([1, 2], ">i8")),
    "timestamp of 64 bits": (s.TIMESTAMP, np.array([1, 2], "<i8")),
    "uuid": (s.UUID, np.zeros(2, "V16")),
    "optional": (s.Optional(s.U16), np.array([1, 2], ">u2")),
    "big end first": (s.F64, np.array([1.0, 2.0], ">f8")),
    "complex": (s.F64, np.array([1j, 2j])),
    "list": (s.List(s.U8), np.array([[1, 2], [3, 4]], "u1")),
    "ranged": (s.Checked(s.F64, (InRange(0, 10),)), np.array([1.0, 200.0], ">f8")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_array_of_other_elements_is_written_as_its_list_or_refused(name: str) -> None:
    element, array = OTHERS[name]

    def written(given: Any) -> bytes | str:
        try:
            return bytes(mf.to_bytes(given, s.List(element)))
        except (Error, TypeError):
            return "refused"

    assert written(array) in {"refused", written(array.tolist())}
