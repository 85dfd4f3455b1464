"""tests/vectors/json: texts that are read, and what is refused, by the public front and from the scanner
alone. The C++ tests read the same files.
"""

import importlib
import json
import math
import random
import struct
import uuid
from types import GenericAlias, ModuleType
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.json_read import readers
from mf.codec.json_scan import JsonError, JsonScanner
from mf.codec.limits import DEFAULT_LIMITS, Limits
from mf.codec.lookup import codec_of
from tests.python.codec.generated import VECTORS, codecs

JSON = VECTORS / "json"
SCALARS = {each.name: each for each in vars(s).values() if isinstance(each, s.Scalar)}


def _cases() -> list[Any]:
    cases = json.loads((JSON / "cases.json").read_text())
    return [
        pytest.param(each, id=f"{at} {each['type']} {each.get('text', '')[:30]!r}")
        for at, each in enumerate(cases)
    ]


@pytest.fixture(scope="module")
def types() -> ModuleType:
    codecs("json.mfidl")
    return importlib.import_module("vectors.json")


@pytest.fixture(scope="module")
def graphs() -> ModuleType:
    codecs("wide.mfidl")
    return importlib.import_module("vectors.wide")


def type_of(types: ModuleType, name: str) -> Any:
    return SCALARS.get(name) or getattr(types, name)


@pytest.mark.parametrize("case", _cases())
def test_a_text_is_read_or_refused_as_the_law_says(types: ModuleType, case: dict[str, Any]) -> None:
    kind = type_of(types, case["type"])
    text: str | bytes = case["text"] if "text" in case else bytes.fromhex(case["hex"])
    if "canonical" in case:
        value = mf.from_json(kind, text)
        assert mf.to_json(value, kind) == case["canonical"]
        assert mf.to_json(mf.from_json(kind, case["canonical"]), kind) == case["canonical"]
        assert mf.from_json(kind, text.encode() if isinstance(text, str) else text) == value or value != value
        return
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(kind, text)
    refused = caught.value
    expected = (case["fault"], case["offset"], case["path"])
    assert (refused.fault.name.lower(), refused.offset, refused.path) == expected, refused


@pytest.mark.parametrize("case", _cases())
def test_the_scanner_agrees_alone(types: ModuleType, case: dict[str, Any]) -> None:
    outer: Any = codec_of(type_of(types, case["type"])).shape
    shape = outer.fields[0].shape if outer.implicit else outer
    root = case["type"] if isinstance(shape, s.Struct | s.Union) else ""
    text: str | bytes = case["text"] if "text" in case else bytes.fromhex(case["hex"])
    scanner = JsonScanner(DEFAULT_LIMITS, root)
    if "canonical" in case:
        value = scanner.whole(text, readers.of(shape))
        assert mf.to_json(value, type_of(types, case["type"])) == case["canonical"]
        return
    with pytest.raises(JsonError) as caught:
        scanner.whole(text, readers.of(shape))
    refused = caught.value
    offset = scanner.start if refused.offset is None else refused.offset
    expected = (case["fault"], case["offset"], case["path"])
    assert (refused.fault.name.lower(), offset, scanner.path) == expected, refused


@pytest.mark.parametrize(("name", "layout", "bits"), [("f32", "<f", "<I"), ("f64", "<d", "<Q")])
def test_floats_have_the_digits_that_others_gave_them(name: str, layout: str, bits: str) -> None:
    shape = SCALARS[name]
    for pattern, text in json.loads((JSON / "floats.json").read_text())[name]:
        (value,) = struct.unpack(layout, struct.pack(bits, int(pattern, 16)))
        assert mf.to_json(value, shape) == text, pattern
        back = mf.from_json(shape, text)
        careful = JsonScanner(DEFAULT_LIMITS, "").whole(text, readers.of(shape))
        assert struct.pack(layout, back) == struct.pack(layout, careful) == struct.pack(layout, value), (
            pattern
        )


def test_decimals_near_the_middle_of_two_floats_are_rounded_once() -> None:
    """By exact arithmetic: the reader must take the one that is nearer, and of a tie the even one."""
    from fractions import Fraction

    draw = random.Random(1)
    for _ in range(500):
        bits = draw.randrange(0x7F7F_FFFF)
        low, high = struct.unpack("<ff", struct.pack("<II", bits, bits + 1))
        middle = (Fraction(low) + Fraction(high)) / 2
        exact = f"{middle.numerator * 10**200 // middle.denominator}e-200"  # all its digits
        even = low if bits % 2 == 0 else high
        digits, _, exponent = exact.partition("e")
        for text, wanted in (
            (exact, even),
            (f"{digits}.1e{exponent}", high),
            (f"{int(digits) - 1}.9e{exponent}", low),
        ):
            if Fraction(text) == middle or text != exact:
                assert mf.from_json(s.F32, text) == wanted, text


def test_values_that_are_written_rarely_come_out_too(types: ModuleType) -> None:
    hit = types.Hit(doc=True, score=1, title="x", positions=range(2))
    assert mf.to_json(hit) == '{"doc":1,"score":1.0,"title":"x","positions":[0,1]}'
    assert mf.to_json((1, 2), s.Array(s.U8, 2)) == "[1,2]"
    assert mf.to_json(types.Lang(7)) == "7"
    assert mf.to_json(types.Figure.__args__[0](2.0)) == '{"circle":2.0}'
    assert mf.to_json(0.1, s.F32) == "0.1"
    assert mf.to_json(bytearray(b"\xff"), s.BYTES) == '"/w=="'
    assert mf.to_json({types.Rank.bm25: [None]}, GenericAlias(dict, (types.Rank, list[str | None])))


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        (256, s.U8, "256 does not fit in u8"),
        ("1", s.I32, "expected i32"),
        (1e39, s.F32, "does not fit in f32"),
        ("\ud800", s.STRING, "lone surrogate"),
        (uuid.UUID(int=1).hex, s.UUID, "expected uuid.UUID"),
        ([1], s.Array(s.U8, 2), "expected exactly 2 elements"),
        (None, s.F64, "expected f64"),
        (1 << 63, s.TIMESTAMP, "does not fit in timestamp"),
    ],
)
def test_what_is_no_value_of_its_type_is_refused(value: Any, kind: Any, reason: str) -> None:
    with pytest.raises(mf.Error, match=reason) as caught:
        mf.to_json(value, kind)
    assert caught.value.code is mf.Code.INVALID_ARGUMENT


def test_a_value_that_readers_would_refuse_as_too_deep_is_not_written(types: ModuleType) -> None:
    tree = types.Tree()
    for _ in range(40):
        tree = types.Tree(children=[tree])
    with pytest.raises(mf.Error, match="nested deeper than 64") as caught:
        mf.to_json(tree)
    assert caught.value.code is mf.Code.INVALID_ARGUMENT
    tree.children.append(tree)
    with pytest.raises(mf.Error, match="nested deeper than 64"):
        mf.to_json(tree)


def test_memory_is_bounded(types: ModuleType) -> None:
    text = f"[{','.join(['{}'] * 20_000)}]"
    kind = GenericAlias(list, (types.Defaults,))
    assert len(mf.from_json(kind, text)) == 20_000
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(kind, text, limits=Limits(decoded=1 << 20))
    assert caught.value.fault is mf.Fault.BUDGET_EXCEEDED
    assert caught.value.path.startswith("[")


def test_texts_with_other_characters_count_bytes(types: ModuleType) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(types.Hit, '{"title":"\ud800"}')
    assert (caught.value.fault, caught.value.offset) == (mf.Fault.INVALID_UTF8, 10)
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(s.STRING, '"\ud800"')
    assert (caught.value.fault, caught.value.offset) == (mf.Fault.INVALID_UTF8, 1)
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(types.Hit, bytearray('{"title":"é😀","title"'.encode()))
    assert (caught.value.offset, caught.value.path) == (18, "Hit.title")


def test_names_that_are_nearly_right_are_offered(types: ModuleType) -> None:
    for kind, text, near in (
        (types.Hit, '{"titel":"x"}', "did you mean `title`"),
        (types.Rank, '"bm52"', "did you mean `bm25`"),
        (types.Figure, '{"circel":1}', "did you mean `circle`"),
    ):
        with pytest.raises(mf.DecodeError, match=near):
            mf.from_json(kind, text)


def test_graphs_keep_their_shape(graphs: ModuleType) -> None:
    first = graphs.Node(name="0")
    last = first
    for number in range(1, 3_000):
        last.next = graphs.Node(name=str(number), others=[first, last])
        last = last.next
    last.next = first
    text = mf.to_json(first)
    back = mf.from_json(graphs.Node, text)
    assert mf.to_json(back) == text
    assert back.next.others[0] is back
    assert back.next.next.others[1] is back.next


@pytest.mark.parametrize(
    ("text", "fault", "offset", "path"),
    [
        ("{}", mf.Fault.INVALID_REFERENCE, 1, "Node"),
        ('{"node":[]}', mf.Fault.INVALID_REFERENCE, 10, "Node"),
        (
            '{"node":[{"name":"","next":1,"others":[],"by_name":{}}]}',
            mf.Fault.INVALID_REFERENCE,
            27,
            "Node.node[0].next",
        ),
        ('{"node":[{"name":"","others":[-1]}]}', mf.Fault.NUMBER_OUT_OF_RANGE, 30, "Node.node[0].others[0]"),
        ('{"node":[{"name":"","others":[null]}]}', mf.Fault.JSON_WRONG_TYPE, 30, "Node.node[0].others[0]"),
        ('{"nodes":[]}', mf.Fault.JSON_UNKNOWN_FIELD, 1, "Node"),
        ('{"node":[],"node":[]}', mf.Fault.JSON_DUPLICATE_KEY, 11, "Node.node"),
        ('{"node":{}}', mf.Fault.JSON_WRONG_TYPE, 8, "Node.node"),
    ],
)
def test_a_graph_that_is_none_is_refused(
    graphs: ModuleType, text: str, fault: mf.Fault, offset: int, path: str
) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(graphs.Node, text)
    assert (caught.value.fault, caught.value.offset, caught.value.path) == (fault, offset, path)


class GeoCodec:
    """One byte."""

    Value = int

    @staticmethod
    def encode(value: int) -> bytes:
        return bytes([value])

    @staticmethod
    def decode(data: bytes) -> int:
        (value,) = data
        return value


def test_custom_values_are_written_as_their_bytes() -> None:
    points = s.List(s.Custom("geo.Point", __name__, "GeoCodec"))
    assert mf.to_json([1, 255], points) == '["AQ==","/w=="]'
    assert mf.from_json(points, '["AQ==","/w=="]') == [1, 255]
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_json(points, '["AQ==", ""]')
    refused = caught.value
    assert (refused.fault, refused.offset, refused.path) == (mf.Fault.CUSTOM_CODEC_FAILED, 9, "[1]")


class CountingCodec:
    """Bytes as they are; counts how often it is called."""

    calls = 0

    @staticmethod
    def encode(value: bytes) -> bytes:
        return value

    @classmethod
    def decode(cls, data: bytes) -> bytes:
        cls.calls += 1
        return data


def test_a_codec_is_called_once_for_each_value() -> None:
    blobs = s.List(s.Custom("geo.Blob", __name__, "CountingCodec"))
    before = CountingCodec.calls
    assert mf.from_json(blobs, '["AQ==","/w=="]') == [b"\x01", b"\xff"]
    assert CountingCodec.calls == before + 2


def test_special_floats_in_lists() -> None:
    values = [1.5, math.inf, -math.inf, math.nan]
    text = mf.to_json(values, s.List(s.F64))
    assert text == '[1.5,"Infinity","-Infinity","NaN"]'
    assert str(mf.from_json(s.List(s.F64), text)) == str(values)
