"""Values without calls: `mf.to_bytes`, `mf.from_bytes`, the codec of a class, and hashes over the bytes."""

import importlib
import pickle
import random
import sys
import uuid
from typing import Annotated, Any, cast

import pytest
import xxhash

import mf
from mf.codec import shape as s
from mf.codec.hashing import hash37, hash64, xxh64
from mf.codec.lookup import codec_of
from mfidl.compiler import Exit, Targets, compile_files
from tests.python.codec.generated import SCHEMAS, codecs, codecs_of

codecs("alternatives.mfidl")
codecs("shapes.mfidl")
shapes: Any = importlib.import_module("vectors.shapes")
alternatives: Any = importlib.import_module("vectors.alternatives")


def test_a_class_finds_its_codec() -> None:
    assert codec_of(shapes.Hit) is shapes.HIT_CODEC
    hit = shapes.Hit(doc=1, title="t", positions=[3])
    assert mf.to_bytes(hit) == bytes(shapes.HIT_CODEC.encode(hit))
    assert mf.from_bytes(shapes.Hit, mf.to_bytes(hit)) == hit
    assert codec_of(alternatives.Refused) is alternatives.REFUSED_CODEC


def test_every_declared_type_is_found() -> None:
    found = 0
    for schema in ("shapes.mfidl", "alternatives.mfidl"):
        for codec in codecs_of(schema):
            if isinstance(codec.shape, s.Struct) and not codec.shape.implicit:
                assert codec_of(codec.shape.make) is codec
                found += 1
            elif isinstance(codec.shape, s.Union):
                assert all(codec_of(each.type) is codec for each in codec.shape.alternatives)
                found += 1
    assert found > 20


def test_a_union_is_found_by_its_name_and_by_each_alternative() -> None:
    assert codec_of(alternatives.Value) is alternatives.VALUE_CODEC
    assert codec_of(alternatives.ValueText) is alternatives.VALUE_CODEC
    value = alternatives.ValueText("abc")
    assert mf.from_bytes(alternatives.Value, mf.to_bytes(value)) == value
    with pytest.raises(TypeError, match="not the whole of the union"):
        codec_of(alternatives.ValueText | alternatives.ValueNumber)
    with pytest.raises(TypeError, match="no codec"):
        codec_of(shapes.Hit | shapes.Posting)


def test_a_derived_class_is_written_as_its_base() -> None:
    class Better(shapes.Hit):  # type: ignore[misc]  # generated at run time
        pass

    assert mf.to_bytes(Better(doc=7)) == mf.to_bytes(shapes.Hit(doc=7))


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        (list[shapes.Posting], [shapes.Posting(doc=1)], "01 0100000000000000"),
        (shapes.Hit | None, None, "00"),
        (alternatives.Value | None, alternatives.ValueText("a"), "01 02 01 61"),
        (shapes.Lang, shapes.Lang.ko, "2c01"),
        (shapes.Rank, shapes.Rank.pagerank, "01"),
        (alternatives.Part, alternatives.Part.title | alternatives.Part.url, "0102"),
        (mf.Timestamp, mf.Timestamp(-1), "ff" * 8),
        (s.Array(s.I16, 2), [1, -2], "0100feff"),
        (list[str], ["a", ""], "02 01 61 00"),
        (dict[str, set[bytes]], {"k": {b"y", b"x"}}, "01 01 6b 02 01 78 01 79"),
        (uuid.UUID, uuid.UUID(int=5), "00" * 15 + "05"),
        (s.List(s.U8), [1, 2], "02 01 02"),
        (list[Annotated[int, s.I8]], [-1], "01 ff"),
    ],
)
def test_types_without_a_codec_of_their_own_are_memory_or_febird(kind: Any, value: Any, data: str) -> None:
    assert mf.to_bytes(value, kind) == bytes.fromhex(data)
    assert mf.from_bytes(kind, bytes.fromhex(data)) == value
    assert codec_of(kind) is codec_of(kind)


def test_paths_in_a_list_begin_with_the_index() -> None:
    with pytest.raises(mf.Error) as caught:
        mf.to_bytes([shapes.Posting(), shapes.Posting(tf=-1)], list[shapes.Posting])
    assert caught.value.message == "[1].tf: -1 does not fit in u16 (0 to 65535)"


@pytest.mark.parametrize("kind", [int, float, list[int], object, list, "Hit", tuple[str, str], None])
def test_what_has_no_codec_is_refused_with_what_to_write(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"mf\.shape"):
        codec_of(kind)


def test_a_relocated_package_finds_its_own_codecs(tmp_path: Any) -> None:
    out = compile_files(
        [str(SCHEMAS / "alternatives.mfidl")],
        [str(SCHEMAS)],
        Targets(python=str(tmp_path), python_package="deep.down"),
    )
    assert out.exit is Exit.OK
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    moved: Any = importlib.import_module("deep.down.vectors.alternatives")
    sys.path.remove(str(tmp_path))
    assert codec_of(moved.Holder) is moved.HOLDER_CODEC
    assert mf.to_bytes(moved.Fixed()) == mf.to_bytes(alternatives.Fixed())


def test_hashes_are_over_the_bytes() -> None:
    hit = shapes.Hit(doc=300, title="the book", positions=list(range(100)))
    assert mf.hash37(hit) == hash37(mf.to_bytes(hit))
    assert mf.hash64(hit) == xxhash.xxh64_intdigest(mf.to_bytes(hit))
    assert mf.hash64(["a"], list[str]) == hash64(b"\x01\x01a")


def test_xxh64_is_the_one_of_its_authors() -> None:
    draw = random.Random(37)
    for size in [*range(70), 127, 128, 1000, 4096]:
        data = draw.randbytes(size)
        assert xxh64(data) == xxhash.xxh64_intdigest(data)
    assert xxh64(b"") == 0xEF46DB3751D8E999


def test_a_decode_error_can_be_pickled() -> None:
    error = mf.DecodeError(mf.Fault.INVALID_BOOL, "Hit.a: no bool", offset=3, path="Hit.a")
    again = pickle.loads(pickle.dumps(error))
    assert (again.fault, again.offset, again.path, str(again)) == (
        mf.Fault.INVALID_BOOL,
        3,
        "Hit.a",
        "DECODE_ERROR: Hit.a: no bool",
    )


@pytest.mark.parametrize("data", [1 << 40, 8, [1], 1.5, None])
def test_what_is_not_bytes_is_refused(data: Any) -> None:
    for read in (
        mf.from_bytes,
        mf.view,
        lambda kind, data: codec_of(kind).decode_all(data, 1),
        lambda kind, data: codec_of(kind).decode_at(data, 0, 1),
    ):
        with pytest.raises(TypeError, match=f"expected bytes, .*, not {type(data).__name__}$"):
            read(shapes.Posting, data)
    with pytest.raises(TypeError, match=f"expected a str, bytes, .*, not {type(data).__name__}$"):
        mf.from_json(shapes.Posting, data)


def test_text_is_not_bytes_and_buffers_are() -> None:
    with pytest.raises(TypeError, match="expected bytes, a bytearray or a memoryview, not str"):
        mf.from_bytes(shapes.Hit, cast("Any", "text"))
    hit = shapes.Hit(doc=1, title="t", positions=[3])
    data = mf.to_bytes(hit)
    for buffer in (bytearray(data), memoryview(data), memoryview(bytes(2) + data)[2:]):
        assert mf.from_bytes(shapes.Hit, buffer) == hit
    text = mf.to_json(hit).encode()
    for each in (text, bytearray(text), memoryview(text)):
        assert mf.from_json(shapes.Hit, each) == hit
