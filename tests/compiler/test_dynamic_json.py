"""mfidl/dynamic, JSON: texts worked out by hand from docs/json.md, in both directions; what else is read; and
faults with offset and path.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mf.codec.json_text import f32_text, float_from
from mfidl.compiler import check
from mfidl.dynamic import (
    DecodeError,
    EncodeError,
    Fault,
    Graph,
    Schema,
    decode,
    encode,
    from_json,
    to_json,
)
from tests.compiler.dynamic_values import SCHEMA
from tests.compiler.schema import dynamic_schema, program_of

VECTORS = Path(__file__).parents[1] / "vectors"


def schema() -> Schema:
    return dynamic_schema(SCHEMA)


UUID = bytes.fromhex("00112233445566778899aabbccddeeff")


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("bool", True, "true"),
        ("u32", 7, "7"),
        ("i64", -1, '"-1"'),
        ("u64", (1 << 64) - 1, '"18446744073709551615"'),
        ("f64", 100000.0, "100000.0"),
        ("f64", 1e16, "1e+16"),
        ("f64", 1e-5, "1e-05"),
        ("f64", -0.0, "-0.0"),
        ("f32", struct.unpack("<f", struct.pack("<f", 0.1))[0], "0.1"),
        ("f32", float("inf"), '"Infinity"'),
        ("f64", float("-inf"), '"-Infinity"'),
        ("string", '"\\/\b\f\n\r\t\x01é\u2028', '"\\"\\\\/\\b\\f\\n\\r\\t\\u0001é\u2028"'),
        ("bytes", b"\0\xff", '"AP8="'),
        ("timestamp", 0, '"1970-01-01T00:00:00Z"'),
        ("timestamp", -1, '"1969-12-31T23:59:59.999999999Z"'),
        ("timestamp", 1_500_000_000, '"1970-01-01T00:00:01.500Z"'),
        ("timestamp", 1_000_001_000, '"1970-01-01T00:00:01.000001Z"'),
        ("timestamp", (1 << 63) - 1, '"2262-04-11T23:47:16.854775807Z"'),
        ("duration", 30_000_000_000, '"30s"'),
        ("duration", -1_500_000_000, '"-1.500s"'),
        ("duration", -(1 << 63), '"-9223372036.854775808s"'),
        ("uuid", UUID, '"00112233-4455-6677-8899-aabbccddeeff"'),
        ("Rank", 1, '"pagerank"'),
        ("Lang", 5, "5"),
        ("Wide", 9_000_000_000, '"big"'),
        ("Field", 1 | 1 << 15 | 4 | 8, '["title","last",12]'),
        ("All", 2, '["2"]'),
        ("list<u8?>", [1, None], "[1,null]"),
        ("map<i64, bool>", {-1: True}, '{"-1":true}'),
        ("map<bool, u8>", {False: 1}, '{"false":1}'),
        ("map<Lang, u8>", {-1: 1, 5: 2}, '{"ko":1,"5":2}'),
        ("map<uuid, u8>", {UUID: 1}, '{"00112233-4455-6677-8899-aabbccddeeff":1}'),
        ("map<bytes, u8>", {b"a": 1}, '{"YQ==":1}'),
        ("Value", {"text": "x"}, '{"text":"x"}'),
        ("Opaque", b"a", '"YQ=="'),
        ("Index.query.params", {"terms": [], "limit": 5}, '{"terms":[],"limit":5}'),
        ("Tree", {"v": 1, "children": [], "next": None}, '{"v":1,"children":[]}'),
        ("Person", Graph({"t.Person": [{"name": "a", "boss": 0}]}), '{"person":[{"name":"a","boss":0}]}'),
    ],
)
def test_texts_worked_out_by_hand(type_: str, value: Any, text: str) -> None:
    assert to_json(schema(), type_, value) == text
    assert from_json(schema(), type_, text) == value
    json.loads(text)


def test_an_absent_optional_is_null_where_it_has_a_default() -> None:
    text = (
        '{"d":null,"n":[],"m":{},"k":{},"p":{"x":0.0,"y":0,"b":false},"pts":[{"x":0.0,"y":0,"b":false},'
        '{"x":0.0,"y":0,"b":false}],"u":{"number":0.0},"s":[],"z":[],"fixed":[0.0,0.0],"un":{}}'
    )

    value = from_json(schema(), "Holder", text)

    assert value["d"] is None
    assert to_json(schema(), "Holder", value) == text
    assert from_json(schema(), "Holder", text.replace('"d":null,', ""))["d"] == "x"


def test_objects_are_numbered_as_in_bytes() -> None:
    objects = [{"name": "a", "boss": 2}, {"name": "b", "boss": None}, {"name": "c", "boss": None}]

    text = to_json(schema(), "Person", Graph({"t.Person": objects}))

    assert text == '{"person":[{"name":"a","boss":1},{"name":"c"},{"name":"b"}]}'


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("u32", ' \t\r\n"7" ', 7),
        ("u32", "7.0", 7),
        ("u32", "70e-1", 7),
        ("u32", "1e3", 1000),
        ("u32", "-0", 0),
        ("u32", "0e99999999999", 0),
        ("i64", "-9223372036854775808", -(1 << 63)),
        ("f64", '"1.5"', 1.5),
        ("f64", "1e-999", 0.0),
        ("f64", '"NaN"', None),
        ("string", r'"\u00e9\uD83D\uDE00\/\u0000"', "é😀/\0"),
        ("timestamp", '"1970-01-01T09:00:00.5+09:00"', 500_000_000),
        ("timestamp", '"-5"', -5),
        ("duration", '"0.2s"', 200_000_000),
        ("uuid", '"00112233-4455-6677-8899-AABBCCDDEEFF"', UUID),
        ("Rank", "1", 1),
        ("Rank", '"1"', 1),
        ("Lang", '"-7"', -7),
        ("Field", "3", 3),
        ("Field", '"3"', 3),
        ("Field", '["body", 4, "8"]', 14),
        ("set<i8>", "[3, -1, 2]", [-1, 2, 3]),
        ("map<Rank, u8>", '{"1": 2, "bm25": 1}', {0: 1, 1: 2}),
        ("Index.query.params", '{"terms": []}', {"terms": [], "limit": 10}),
        ("Tree", '{"next": null, "children": [], "v": 1}', {"v": 1, "children": [], "next": None}),
        ("Person", '{"person": [{"name": ""}]}', Graph({"t.Person": [{"name": "", "boss": None}]})),
    ],
)
def test_more_is_read_than_is_written(type_: str, text: str, value: Any) -> None:
    found = from_json(schema(), type_, text)

    assert found == value or (value is None and found != found)


@pytest.mark.parametrize(
    ("type_", "text", "fault", "offset", "path"),
    [
        ("u32", "", Fault.JSON_SYNTAX, 0, ""),
        ("u32", "x", Fault.JSON_SYNTAX, 0, ""),
        ("u32", "-", Fault.JSON_SYNTAX, 1, ""),
        ("u32", "1.", Fault.JSON_SYNTAX, 2, ""),
        ("u32", "1ex", Fault.JSON_SYNTAX, 2, ""),
        ("u32", "1 2", Fault.TRAILING_BYTES, 2, ""),
        ("u32", "tru", Fault.JSON_WRONG_TYPE, 0, ""),
        ("bool", "tru", Fault.JSON_SYNTAX, 0, ""),
        ("u32", " 1.5", Fault.JSON_WRONG_TYPE, 1, ""),
        ("u32", '"+1"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("u32", "-1", Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("u32", "1e99999999999999999999", Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("u32", "1e-99999999999999999999", Fault.JSON_WRONG_TYPE, 0, ""),
        ("u32", "null", Fault.JSON_WRONG_TYPE, 0, ""),
        ("f64", "1e999", Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("f32", "3.5e38", Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("f64", '"inf"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("string", '"a', Fault.JSON_SYNTAX, 2, ""),
        ("string", '"\n"', Fault.JSON_SYNTAX, 1, ""),
        ("string", r'"a\x"', Fault.JSON_SYNTAX, 2, ""),
        ("string", r'"\u12g4"', Fault.JSON_SYNTAX, 1, ""),
        ("string", r'"\ud800"', Fault.JSON_SYNTAX, 1, ""),
        ("string", r'"\udc00"', Fault.JSON_SYNTAX, 1, ""),
        ("string", b'"\xff"', Fault.INVALID_UTF8, 1, ""),
        ("bytes", '"AP8"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("bytes", '"AP9="', Fault.JSON_WRONG_TYPE, 0, ""),
        ("uuid", '"0"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("timestamp", "5", Fault.JSON_WRONG_TYPE, 0, ""),
        ("timestamp", '"2026-02-30T00:00:00Z"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("timestamp", '"2026-02-03T24:00:00Z"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("timestamp", '"3026-02-03T00:00:00Z"', Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("duration", '"01s"', Fault.JSON_WRONG_TYPE, 0, ""),
        ("duration", '"9223372037s"', Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("Rank", '"bm26"', Fault.UNKNOWN_ENUM_VALUE, 0, ""),
        ("Rank", "2", Fault.UNKNOWN_ENUM_VALUE, 0, ""),
        ("Rank", "256", Fault.NUMBER_OUT_OF_RANGE, 0, ""),
        ("Field", '["titel"]', Fault.UNKNOWN_ENUM_VALUE, 1, "[0]"),
        ("Field", '["title", 1]', Fault.JSON_DUPLICATE_KEY, 10, "[1]"),
        ("array<u8, 2>", "[1]", Fault.WRONG_LENGTH, 2, ""),
        ("array<u8, 2>", "[1,2,3]", Fault.WRONG_LENGTH, 4, ""),
        ("array<u8, 1>", "[ ]", Fault.WRONG_LENGTH, 2, ""),
        ("list<u8>", "[1,]", Fault.JSON_SYNTAX, 3, "[1]"),
        ("list<u8>", "[1 2]", Fault.JSON_SYNTAX, 3, ""),
        ("list<u8>", "[1", Fault.JSON_SYNTAX, 2, ""),
        ("set<u8>", "[1, 1]", Fault.JSON_DUPLICATE_KEY, 4, "[1]"),
        ("map<u8, u8>", '{"1":1,"1.0":2}', Fault.JSON_DUPLICATE_KEY, 7, "[1]"),
        ("map<u8, u8>", '{"x":1}', Fault.JSON_WRONG_TYPE, 1, "[0]"),
        ("map<u8, u8>", '{"256":1}', Fault.NUMBER_OUT_OF_RANGE, 1, "[0]"),
        ("map<bool, u8>", '{"1":1}', Fault.JSON_WRONG_TYPE, 1, "[0]"),
        ("map<u8, u8>", "{1:1}", Fault.JSON_SYNTAX, 1, ""),
        ("Note", '{"id":"1","txt":""}', Fault.JSON_UNKNOWN_FIELD, 10, "Note"),
        ("Note", '{"id":"1","id":"2"}', Fault.JSON_DUPLICATE_KEY, 10, "Note.id"),
        ("Note", '{"id":"1","text":""}', Fault.MISSING_FIELD, 19, "Note.tags"),
        ("Note", '{"id":"1","text":""', Fault.JSON_SYNTAX, 19, "Note"),
        ("Note", "[]", Fault.JSON_WRONG_TYPE, 0, "Note"),
        ("Value", "{}", Fault.MISSING_FIELD, 1, "Value"),
        ("Value", '{"number":1,"text":""}', Fault.JSON_WRONG_TYPE, 11, "Value"),
        ("Value", '{"txt":""}', Fault.UNKNOWN_ALTERNATIVE, 1, "Value"),
        ("Index.query.params", '{"limit":-1}', Fault.NUMBER_OUT_OF_RANGE, 9, "limit"),
        ("Person", "{}", Fault.INVALID_REFERENCE, 1, "Person"),
        ("Person", '{"persn":[]}', Fault.JSON_UNKNOWN_FIELD, 1, "Person"),
        ("Person", '{"person":[{"name":"","boss":1}]}', Fault.INVALID_REFERENCE, 29, "Person.person[0].boss"),
        ("Value", '{"all":[' * 32 + '{"text":""}' + "]}" * 32, Fault.DEPTH_EXCEEDED, 256, "Value" + ".all[0]" * 32),
    ],
)  # fmt: skip
def test_a_fault_has_its_offset_and_path(
    type_: str, text: str | bytes, fault: Fault, offset: int, path: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        from_json(schema(), type_, text)

    found = caught.value
    assert (found.fault.name, found.offset, found.path) == (fault.name, offset, path)


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(DecodeError, match=r"`txt` is not a field; did you mean `text`\?"):
        from_json(schema(), "Note", '{"txt":""}')


@given(st.integers(0, (1 << 32) - 1))
@settings(max_examples=300, deadline=None)
def test_the_shortest_digits_of_an_f32_are_those_of_numpy(bits: int) -> None:
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    text = f32_text(value)

    if value == value and abs(value) != float("inf"):
        theirs = np.format_float_scientific(np.float32(value), unique=True, trim="-")
        assert float(text) == float(theirs)
        assert float_from(text, single=True) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Halfway between two f32 as f64 has it, a little more or less as it is written.
        ("1.000000059604644775390625", 1.0),
        ("1.0000000596046447753906250000000000000001", 1.0000001192092896),
        ("1.0000000596046447753906249999999999999999", 1.0),
        ("1.00000017881393432617187500000000000000001", 1.000000238418579),
        ("340282356779733661637539395458142568447", 3.4028234663852886e38),
        ("340282356779733661637539395458142568448", float("inf")),
        ("7.006492321624085e-46", 0.0),
        ("7.0064923216240854e-46", 1.401298464324817e-45),
        ("1." + "0" * 5000 + "1", 1.0),
    ],
)
def test_a_float_is_rounded_once_from_its_digits(text: str, value: float) -> None:
    assert float_from(text, single=True) == value
    assert float_from("-" + text, single=True) == -value


def _shared() -> list[dict[str, Any]]:
    return json.loads((VECTORS / "json" / "cases.json").read_text())  # type: ignore[no-any-return]


def test_the_texts_that_the_runtimes_read_are_read_alike() -> None:
    program = check([str(VECTORS / "schemas" / "json.mfidl")]).program
    assert program is not None
    schema, wrong = Schema(program), []
    for case in _shared():
        text = case["text"] if "text" in case else bytes.fromhex(case["hex"])
        type_ = case["type"]
        found: dict[str, Any]
        try:
            found = {"canonical": to_json(schema, type_, from_json(schema, type_, text))}
        except DecodeError as refused:
            found = {"fault": refused.fault.word, "offset": refused.offset, "path": refused.path}
        if any(case.get(key) != value for key, value in found.items()):
            wrong.append((case, found))

    assert wrong == []


def test_the_object_and_the_tables_of_a_graph_are_levels_that_bytes_do_not_have(tmp_path: Path) -> None:
    text = """module t;
@tier(archive) struct Node { 1: inside: Box?; 2: next: ref<Node>?; }
@tier(archive) struct Box { 1: inside: Box?; 2: owner: ref<Node>?; }
"""
    nodes = Schema(program_of(tmp_path, text))

    def graph(boxes: int) -> Graph:
        inside: Any = None
        for _ in range(boxes):
            inside = {"inside": inside, "owner": None}
        return Graph({"t.Node": [{"inside": inside, "next": None}]})

    assert from_json(nodes, "Node", to_json(nodes, "Node", graph(61))) == graph(61)
    assert decode(nodes, "Node", encode(nodes, "Node", graph(62))) == graph(62)
    with pytest.raises(EncodeError, match="nested deeper than 64 objects and arrays"):
        to_json(nodes, "Node", graph(62))
    deeper = to_json(nodes, "Node", graph(61)).replace('{"inside":{', '{"inside":{"inside":{', 1)
    with pytest.raises(DecodeError) as told:
        from_json(nodes, "Node", deeper)
    assert told.value.fault is Fault.DEPTH_EXCEEDED
