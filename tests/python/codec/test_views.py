"""Values of tier memcpy where they lie: numpy and `struct` say what is at which offset, not our codecs."""

import importlib
import struct
import subprocess
import sys
from functools import cache
from typing import Annotated, Any

import numpy as np
import pytest

import mf
from mf.codec import shape as s
from tests.python.codec.archives import Archives
from tests.python.codec.generated import codecs

codecs("shapes.mfidl")
codecs("alternatives.mfidl")
shapes: Any = importlib.import_module("vectors.shapes")
alternatives: Any = importlib.import_module("vectors.alternatives")

POSTINGS = [(258, 3, 1), (0, 65535, 0), (7, 8, 1)]
DATA = b"".join(struct.pack("<IHBx", *each) for each in POSTINGS)


def test_structs_are_made_when_they_are_asked_for() -> None:
    view = mf.view(shapes.Posting, DATA)
    expected = [shapes.Posting(doc, tf, shapes.Rank(rank)) for doc, tf, rank in POSTINGS]
    assert len(view) == 3
    assert list(view) == expected
    assert [view[0], view[-1]] == [expected[0], expected[2]]
    assert view[1:] == expected[1:]
    assert view[::-2] == expected[::-2]
    assert view[2:1] == []
    assert expected[1] in view
    with pytest.raises(IndexError, match="index 3 of 3"):
        view[3]


def test_a_column_is_a_strided_view_of_the_same_memory() -> None:
    data = bytearray(DATA)
    column = mf.view(shapes.Posting, data).column("tf")
    assert column.tolist() == [3, 65535, 8]
    assert (column.strides, column.readonly) == ((8,), True)
    data[4:6] = b"\x09\x00"
    assert column[0] == 9
    assert mf.view(shapes.Posting, b"").column("doc").tolist() == []
    with pytest.raises(KeyError, match="no number"):
        mf.view(shapes.Nested, b"").column("corners")


def test_numbers_are_a_memoryview() -> None:
    view = mf.view(s.I32, struct.pack("<3i", 1, -2, 3))
    assert isinstance(view, memoryview)
    assert (view.tolist(), view.readonly, view.format) == ([1, -2, 3], True, "i")
    assert mf.view(Annotated[float, s.F64], struct.pack("<d", 1.5)).tolist() == [1.5]
    assert mf.view(s.BOOL, b"\0\1").tolist() == [False, True]
    assert list(mf.view(shapes.Rank, b"\1\0")) == [shapes.Rank.pagerank, shapes.Rank.bm25]
    assert mf.view(mf.Timestamp, struct.pack("<q", -5))[0] == mf.Timestamp(-5)


@pytest.mark.parametrize(
    ("name", "data", "fault", "offset", "path"),
    [
        ("Posting", DATA + b"\0", "WRONG_LENGTH", 0, ""),
        ("Posting", DATA[:14] + b"\2" + DATA[15:], "UNKNOWN_ENUM_VALUE", 14, "[1].rank"),
        ("Nested", bytes(56 + 48) + b"\0\0\2" + bytes(5), "INVALID_BOOL", 106, "[1].flags[2]"),
        ("Nested", bytes(56 + 46) + b"\2" + bytes(9), "UNKNOWN_ENUM_VALUE", 102, "[1].postings[2].rank"),
        ("Scalars", bytes(68) + b"\5\0\0\0", "UNKNOWN_ENUM_VALUE", 68, "[0].m"),
        ("Scalars", b"\7" + bytes(71), "INVALID_BOOL", 0, "[0].a"),
    ],
)
def test_what_may_not_stand_there_is_found(
    name: str, data: bytes, fault: str, offset: int, path: str
) -> None:
    for function in (mf.view, mf.as_numpy):
        with pytest.raises(mf.DecodeError) as caught:
            function(getattr(shapes, name), data)
        error = caught.value
        assert (error.fault.name, error.offset, error.path) == (fault, offset, path)


@cache
def bounded() -> Any:
    return Archives("""module view_bounds;
struct Bounded { level: i16 @range(-5..5); weight: f32 @range(0.0..1.0); turns: array<u8 @range(..9), 2>; }
struct Row { id: u32; at: duration @range(0s..); one: Bounded; share: f64 @finite; }
""").package


def row(*, level: int = 0, weight: float = 0.5, turn: int = 0, at: int = 0, share: float = 1.0) -> bytes:
    return struct.pack("<I4xqh2xf2B2x4xd", 1, at, level, weight, 0, turn, share)


def test_constraints_are_kept() -> None:
    package = bounded()
    good = [row(), row(level=5, weight=1.0, turn=9), row(level=-5, weight=0.0)]
    assert len(mf.view(package.Row, b"".join(good))) == 3
    assert len(mf.as_numpy(package.Row, b"".join(good))) == 3
    for changed, reason in (
        ({"level": 6}, "[3].one.level, at byte 136: 6 is not in -5..5"),
        ({"level": -6}, "[3].one.level, at byte 136: -6 is not in -5..5"),
        ({"weight": 1.5}, "[3].one.weight, at byte 140: 1.5 is not in 0.0..1.0"),
        ({"weight": float("nan")}, "[3].one.weight, at byte 140: nan is not in 0.0..1.0"),
        ({"turn": 10}, "[3].one.turns[1], at byte 145: 10 is not in ..9"),
        ({"at": -1}, "[3].at, at byte 128: Duration(-1) is not in 0.."),
        ({"share": float("inf")}, "[3].share, at byte 152: inf is not finite"),
    ):
        data = b"".join([*good, row(**changed), *good])
        for read in (mf.view, mf.as_numpy):
            with pytest.raises(mf.Error) as caught:
                read(package.Row, data)
            assert (caught.value.code, caught.value.message) == (mf.Code.INVALID_ARGUMENT, reason)


def test_an_enum_may_be_negative_and_an_open_one_anything() -> None:
    data = bytearray(72)
    struct.pack_into("<HBxi", data, 64, 999, 1, -1)
    (made,) = mf.view(shapes.Scalars, data)
    assert (made.k, made.l, made.m) == (999, shapes.Rank.pagerank, shapes.Sign.minus)


def test_padding_is_read_whatever_it_holds() -> None:
    data = DATA[:7] + b"\xff" + DATA[8:]
    assert mf.view(shapes.Posting, data)[0] == mf.view(shapes.Posting, DATA)[0]


def test_numpy_has_our_offsets() -> None:
    dtype = mf.numpy_dtype(shapes.Scalars)
    assert dtype.names is not None
    assert dtype.itemsize == 72
    offsets = [0, 8, 16, 18, 20, 24, 28, 32, 40, 48, 64, 66, 68]
    assert [dtype.fields[name][1] for name in dtype.names] == offsets  # type: ignore[index]
    nested = mf.numpy_dtype(shapes.Nested)
    assert nested["corners"] == np.dtype(("<f8", (2,)))
    assert nested["postings"].subdtype == (mf.numpy_dtype(shapes.Posting), (3,))
    assert nested.itemsize == 56
    assert mf.numpy_dtype(alternatives.Fixed).itemsize == 16
    assert mf.numpy_dtype(shapes.Nothing).itemsize == 0


def test_an_array_lies_over_the_same_bytes() -> None:
    data = bytearray(DATA)
    rows = mf.as_numpy(shapes.Posting, data)
    assert rows["doc"].tolist() == [258, 0, 7]
    assert rows.dtype == mf.numpy_dtype(shapes.Posting)
    data[0] = 9
    assert rows["doc"][0] == 265
    with pytest.raises(ValueError, match="read-only"):
        rows["doc"][0] = 1
    assert mf.as_numpy(s.F32, b"").tolist() == []
    assert mf.as_numpy(s.I16, b"\1\0\2\0").tolist() == [1, 2]
    assert len(mf.as_numpy(shapes.Nothing, b"")) == 0


def test_what_numpy_writes_is_what_we_read() -> None:
    rows = np.zeros(2, mf.numpy_dtype(shapes.Nested))
    rows["corners"] = [[1, 2], [3, 4]]
    rows["postings"]["tf"][1, 2] = 7
    rows["flags"][0, 1] = True
    first, second = mf.view(shapes.Nested, rows.tobytes())
    assert (first.corners, second.postings[2].tf, first.flags) == ([1.0, 2.0], 7, [False, True, False])
    assert mf.to_bytes(first) == rows[:1].tobytes()


def test_other_tiers_have_no_view() -> None:
    for function in (mf.view, mf.as_numpy):
        with pytest.raises(TypeError, match="Hit is not of tier memcpy"):
            function(shapes.Hit, b"")
    with pytest.raises(TypeError, match="not of tier memcpy"):
        mf.numpy_dtype(list[str])


def test_the_runtime_does_without_numpy() -> None:
    program = "import sys, mf; mf.view; mf.to_bytes; print('numpy' in sys.modules)"
    where = {"PYTHONPATH": str(mf.__file__).removesuffix("/mf/__init__.py")}
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=where
    )
    assert out.stdout == "False\n"
