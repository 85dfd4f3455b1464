"""mfidl/dynamic, tier archive: by hand, and against protobuf over values that Hypothesis makes; graphs; what
readers take beside what writers make; and faults.
"""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfidl.cli.group import cli
from mfidl.dynamic import UNKNOWN, DecodeError, EncodeError, Fault, Graph, Schema, annotate, decode, encode
from mfidl.dynamic.names import find
from tests.compiler.dynamic_values import SCHEMA, Values
from tests.compiler.schema import dynamic_schema, program_of

thorough = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def schema() -> Schema:
    return dynamic_schema(SCHEMA)


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """What protoc makes of what `mfidlc proto` prints."""
    folder = tmp_path_factory.mktemp("messages")
    (folder / "dynamic_t.mfidl").write_text(SCHEMA.replace("module t;", "module dynamic_t;"))
    done = CliRunner().invoke(cli, ["proto", str(folder / "dynamic_t.mfidl"), "--out", str(folder)])
    assert done.exit_code == 0, done.output
    subprocess.run(["protoc", "--python_out=.", "dynamic_t.proto"], cwd=folder, check=True, timeout=60)
    spec = importlib.util.spec_from_file_location("dynamic_t_pb2", folder / "dynamic_t_pb2.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOTE = {"id": 1, "text": "a", "tags": []}


@pytest.mark.parametrize(
    ("type_", "value", "hexed"),
    [
        ("Note", NOTE, "0801 120161"),
        ("Note", {**NOTE, "tags": ["b", "a"], UNKNOWN: bytes.fromhex("1805")}, "0801 120161 4a0161 4a0162 1805"),
        ("Choice", {"n": -1}, "0801"),
        ("Choice", {"many": []}, "1a00"),
        ("Choice", {"lists": [[-1], []]}, "32 07 0a030a0101 0a00"),
        ("Choice", {"pt": {"x": 0.0, "y": 1, "b": False}}, "2a10 0000000000000000 01 00 000000000000"),
        ("Person", Graph({"t.Person": [{"name": "a", "boss": 0}]}), "0a05 0a0161 1000"),
        ("Person", Graph({"t.Person": [{"name": "a", "boss": None}]}), "0a03 0a0161"),
    ],
)  # fmt: skip
def test_bytes_worked_out_by_hand(type_: str, value: Any, hexed: str) -> None:
    data = bytes.fromhex(hexed)

    assert encode(schema(), type_, value).hex() == data.hex()
    assert encode(schema(), type_, decode(schema(), type_, data)) == data


def test_enums_stand_in_twos_complement_and_signed_scalars_in_zigzag() -> None:
    plain = {"b": True, "i": -1, "j": -1, "u": 1, "f": 0.0, "d": 0.0, "s": "", "y": b"", "at": -1, "ttl": -1,
             "id": bytes(16), "r": 1, "sign": -1, "w": 0, "l": -1, "fl": 1}  # fmt: skip

    data = encode(schema(), "Plain", plain)

    assert bytes.fromhex("0801 1001 1801 2001") in data  # b, i, j, u
    assert bytes.fromhex("68 ffffffffffffffffff01 7000 78 ffffffffffffffffff01") in data  # sign, w, l
    assert bytes.fromhex("49 ffffffffffffffff 5001") in data  # at, ttl


@pytest.mark.parametrize(
    ("hexed", "value"),
    [
        ("120161 0801", NOTE),  # any order
        ("0805 120161 0801", NOTE),  # the last of several
        ("088180808000 120161", NOTE),  # longer than needed
        ("8880808000 01 92808000 0161", NOTE),  # tags too
        ("0801 120161 4a0162 4a0161 4a0162", {**NOTE, "tags": ["a", "b"]}),
        ("0801 120161 1805 2200", {**NOTE, UNKNOWN: bytes.fromhex("1805 2200")}),
        ("1805 0801 2200 120161", {**NOTE, UNKNOWN: bytes.fromhex("1805 2200")}),
        ("0801 120161 1b 2305 24 00" + "1c", None),
        ("0801 120161 1b 23 24 2005 1c", {**NOTE, UNKNOWN: bytes.fromhex("1b 23 24 2005 1c")}),
        ("0801 120161 1d01020304 210102030405060708", {**NOTE, UNKNOWN: bytes.fromhex("1d01020304 210102030405060708")}),
    ],
)  # fmt: skip
def test_a_reader_takes_what_protobuf_allows(hexed: str, value: Any) -> None:
    if value is None:
        with pytest.raises(DecodeError):
            decode(schema(), "Note", bytes.fromhex(hexed))
    else:
        assert decode(schema(), "Note", bytes.fromhex(hexed)) == value


def test_a_default_of_f32_is_a_value_of_f32(tmp_path: Path) -> None:
    text = "module t; @tier(archive) struct S { 1: a: f32 = 16777217; 2: b: array<f32, 1> = [16777217]; 3: c: f64 = 0.1; }"
    read = decode(Schema(program_of(tmp_path, text)), "S", b"")
    assert read == {"a": 16777216.0, "b": [16777216.0], "c": 0.1}


RICH = {
    "o": None, "d": "dflt", "od": None, "list": [], "names": [], "fixed": [0.0, 0.0], "m": {}, "by": {}, "note": NOTE,
    "maybe": None, "ch": {"n": 0}, "sparse": [], "nested": [], "pt": {"x": 0.0, "y": 0, "b": False}, "hits": [], "s": [],
    "ol": None, "kids": [], "bs": {}, "ranks": [], "v": {"text": ""}, "times": [], "deep": {}, "ls": [],
}  # fmt: skip


def rich(*extra: str) -> bytes:
    """The smallest message, and something behind it."""
    return encode(schema(), "Rich", RICH) + bytes.fromhex("".join(extra))


@pytest.mark.parametrize(
    ("extra", "changed"),
    [
        ("2001 2003", {"list": [-1, -2]}),  # not packed
        ("2202 0103 2005", {"list": [-1, -2, -3]}),  # both
        ("4a02 0805", {"note": {**NOTE, "id": 5}}),  # merged
        ("5a02 0803", {"ch": {"n": -2}}),
        ("5a05 12030a01ff" + "", None),
        (
            "5a05 1203 120162 5a04 1202 0807",
            {"ch": {"note": {"id": 7, "text": "b", "tags": []}}},
        ),  # merged too
        ("3a05 0a0161 1001 3a05 0a0161 1002", {"m": {"a": 2}}),  # of equal keys the last
        ("3a02 1003", {"m": {"": 3}}),
        ("3a03 0a0162", {"m": {"b": 0}}),
        ("3a00", {"m": {"": 0}}),
        ("4200", {"by": {0: []}}),
        ("6200 6202 0805", {"sparse": [None, 5]}),
        ("8a0100", {"ol": []}),
        ("8a0103 0a0101 8a0103 0a0102", {"ol": [1, 2]}),  # the message around it merged
        ("f20103 0a0161", {"deep": {"a": {}}}),
        ("1a00", None),  # another wire type
        ("12027879", {"d": "xy"}),
    ],
)
def test_a_reader_merges_as_protobuf_does(extra: str, changed: Any) -> None:
    if changed is None:
        with pytest.raises(DecodeError):
            decode(schema(), "Rich", rich(extra))
    else:
        assert decode(schema(), "Rich", rich(extra)) == {**RICH, **changed}


def test_what_is_missing_has_its_default_is_absent_or_empty() -> None:
    data = rich()
    without = data.replace(bytes.fromhex("1204") + b"dflt", b"")
    assert len(without) == len(data) - 6

    found = decode(schema(), "Rich", without)

    assert (found["d"], found["od"], found["ls"]) == ("dflt", None, [])


def test_a_key_that_an_entry_lacks_is_the_member_zero_wherever_it_stands(tmp_path: Path) -> None:
    text = "module t; enum E: u8 { two = 2, none = 0 } @tier(archive) struct S { 1: of: map<E, E>; }"
    schema_ = Schema(program_of(tmp_path, text))

    assert decode(schema_, "S", bytes.fromhex("0a00")) == {"of": {0: 0}}


def test_an_array_that_is_missing_has_its_default(tmp_path: Path) -> None:
    """Else a reader with a new field could not read what was written before."""
    text = "module t; @tier(archive) struct Newer { 1: pair: array<u8, 2> = [7, 8]; 2: other: array<u8, 2>; }"
    schema_ = Schema(program_of(tmp_path, text))

    assert decode(schema_, "Newer", bytes.fromhex("12020102")) == {"pair": [7, 8], "other": [1, 2]}
    with pytest.raises(DecodeError) as caught:
        decode(schema_, "Newer", b"")
    assert (caught.value.fault, caught.value.path) == (Fault.MISSING_FIELD, "Newer.other")


@pytest.mark.parametrize(
    ("type_", "hexed", "fault", "offset", "path"),
    [
        ("Note", "0801", Fault.MISSING_FIELD, 2, "Note.text"),
        ("Note", "08", Fault.TRUNCATED, 1, "Note.id"),
        ("Note", "0801 12", Fault.TRUNCATED, 3, "Note.text"),
        ("Note", "0801 120261", Fault.COUNT_TOO_LARGE, 3, "Note.text"),
        ("Note", "0801 1202c3ff", Fault.INVALID_UTF8, 4, "Note.text"),
        ("Note", "0a0161", Fault.WRONG_WIRE_TYPE, 0, "Note.id"),
        ("Note", "00", Fault.MALFORMED_TAG, 0, "Note"),
        ("Note", "0f", Fault.MALFORMED_TAG, 0, "Note"),
        ("Note", "8080808010", Fault.MALFORMED_TAG, 0, "Note"),
        ("Note", "1b", Fault.MALFORMED_TAG, 0, "Note"),
        ("Note", "1c", Fault.MALFORMED_TAG, 0, "Note"),
        ("Note", "1b24", Fault.MALFORMED_TAG, 1, "Note"),
        ("Note", "08" + "ff" * 10, Fault.MALFORMED_NUMBER, 1, "Note.id"),
        ("Note", "08" + "ff" * 9 + "02", Fault.NUMBER_OUT_OF_RANGE, 1, "Note.id"),
        ("Note", "18", Fault.TRUNCATED, 1, "Note"),
        ("Note", "1d000000", Fault.TRUNCATED, 1, "Note"),
        ("Note", "1b" * 64, Fault.DEPTH_EXCEEDED, 64, "Note"),
        ("Plain", "0802", Fault.INVALID_BOOL, 1, "Plain.b"),
        ("Plain", "108002", Fault.NUMBER_OUT_OF_RANGE, 1, "Plain.i"),
        ("Plain", "208080808010", Fault.NUMBER_OUT_OF_RANGE, 1, "Plain.u"),
        ("Plain", "5a03616263", Fault.WRONG_LENGTH, 1, "Plain.id"),
        ("Plain", "6002", Fault.UNKNOWN_ENUM_VALUE, 1, "Plain.r"),
        ("Plain", "608002", Fault.NUMBER_OUT_OF_RANGE, 1, "Plain.r"),
        ("Choice", "", Fault.MISSING_FIELD, 0, "Choice"),
        ("Choice", "3801", Fault.UNKNOWN_ALTERNATIVE, 2, "Choice"),
        ("Choice", "1203 120161", Fault.MISSING_FIELD, 5, "Choice.note.id"),
        ("Choice", "2a0100", Fault.WRONG_LENGTH, 1, "Choice.pt"),
        ("Choice", "2a10" + "00" * 9 + "02" + "00" * 6, Fault.INVALID_BOOL, 11, "Choice.pt.b"),
        ("Rich", "3204 00000000", Fault.WRONG_LENGTH, 6, "Rich.fixed"),
        ("Rich", "35 00000000 35 00000000", Fault.MISSING_FIELD, 10, "Rich.note"),
        ("Rich", "3205 0000000000", Fault.TRUNCATED, 6, "Rich.fixed[1]"),
        ("Rich", "7a07 00 00000000 00 01", Fault.MALFORMED_NUMBER, 8, "Rich.hits[0].positions"),
        ("Rich", "7a08 00 00000000 00 00 00", Fault.TRAILING_BYTES, 9, "Rich.hits[0]"),
        ("Rich", "4204 0805 1200", Fault.UNKNOWN_ENUM_VALUE, 3, "Rich.by[0]"),
        ("Rich", "3800", Fault.WRONG_WIRE_TYPE, 0, "Rich.m[0]"),
        ("Person", "", Fault.INVALID_REFERENCE, 0, "Person"),
        ("Person", "1205", Fault.COUNT_TOO_LARGE, 1, "Person"),
        ("Person", "0a05 0a0161 1001", Fault.INVALID_REFERENCE, 6, "Person.person[0].boss"),
        ("Person", "0a02 1000", Fault.MISSING_FIELD, 4, "Person.person[0].name"),
        ("Person", "0801", Fault.WRONG_WIRE_TYPE, 0, "Person"),
    ],
)  # fmt: skip
def test_a_fault_has_its_offset_and_path(
    type_: str, hexed: str, fault: Fault, offset: int, path: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(schema(), type_, bytes.fromhex(hexed))

    found = caught.value
    assert (found.fault.name, found.offset, found.path) == (fault.name, offset, path)


def test_an_array_of_the_wrong_length_is_refused_at_the_end_of_its_message() -> None:
    data = rich("3504000000")

    with pytest.raises(DecodeError) as caught:
        decode(schema(), "Rich", data)

    assert (caught.value.fault, caught.value.offset, caught.value.path) == (
        Fault.WRONG_LENGTH, len(data), "Rich.fixed"
    )  # fmt: skip


# Graphs -----------------------------------------------------------------------------------------------------


def person(name: str, boss: int | None) -> dict[str, Any]:
    return {"name": name, "boss": boss}


def test_objects_are_numbered_as_they_are_met_and_the_others_stand_behind() -> None:
    graph = Graph(
        {"t.Person": [person("root", 3), person("alone", 2), person("met by none", 1), person("next", 0)]}
    )

    read = decode(schema(), "Person", encode(schema(), "Person", graph))

    assert read == Graph(
        {"t.Person": [person("root", 1), person("next", 0), person("alone", 3), person("met by none", 2)]}
    )


def test_a_chain_of_many_objects_needs_no_recursion() -> None:
    count = 100_000
    graph = Graph({"t.Person": [person("", i + 1 if i + 1 < count else None) for i in range(count)]})

    data = encode(schema(), "Person", graph)

    assert decode(schema(), "Person", data) == graph


def test_an_archive_in_another_tier_is_a_graph_of_its_own() -> None:
    link = {"to": 0}
    config: dict[str, Any] = {"name": "a", "parent": None, "peers": [], "first": None, "by": {}, "link": link}
    graph = Graph({"t.Config": [config], "t.Person": []})
    boxes = {"v": 1, "a": [], "c": None, "g": [graph, graph], "x": b"x"}

    assert decode(schema(), "Boxes", encode(schema(), "Boxes", boxes)) == boxes


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (Graph({"t.Person": []}), "a graph without a root"),
        (Graph({"t.Person": [person("", 1)]}), "a reference to object 1 of t.Person, of which there are 1"),
        (Graph({"t.Config": []}), "a graph of t.Person has no table of t.Config"),
        ({"name": ""}, "t.Person is a Python Graph, not dict"),
    ],
)
def test_what_is_no_graph_is_refused(graph: Any, said: str) -> None:
    with pytest.raises(EncodeError, match=said):
        encode(schema(), "Person", graph)


# protobuf ---------------------------------------------------------------------------------------------------


def values(type_: str) -> st.SearchStrategy[Any]:
    return Values(schema()).of(find(schema(), type_).type)


@pytest.mark.parametrize("type_", ["Note", "Choice", "Plain", "Rich", "Config", "Link"])
@thorough
@given(data=st.data())
def test_protobuf_reads_our_bytes_and_we_read_its(
    messages: ModuleType, type_: str, data: st.DataObject
) -> None:
    written = encode(schema(), type_, data.draw(values(type_)))
    message = getattr(messages, type_ + "Graph" if schema().tables(f"t.{type_}") else type_)()

    message.ParseFromString(written)
    theirs = message.SerializeToString()  # with the entries of maps in an order of its own

    assert message.IsInitialized()
    assert len(theirs) == len(written)
    assert encode(schema(), type_, decode(schema(), type_, theirs)) == written


@pytest.mark.parametrize("type_", ["Note", "Choice", "Plain", "Rich"])
@thorough
@given(data=st.data())
def test_we_merge_two_messages_as_protobuf_does(
    messages: ModuleType, type_: str, data: st.DataObject
) -> None:
    drawn = values(type_)
    both = encode(schema(), type_, data.draw(drawn)) + encode(schema(), type_, data.draw(drawn))
    message = getattr(messages, type_)()

    message.ParseFromString(both)

    try:
        ours = decode(schema(), type_, both)
    except DecodeError as error:
        assert error.fault is Fault.WRONG_LENGTH  # an array is no longer as long as it must be
        return
    assert ours == decode(schema(), type_, message.SerializeToString())


@thorough
@given(data=st.data())
def test_what_one_part_of_a_message_lacks_another_has(messages: ModuleType, data: st.DataObject) -> None:
    written = encode(schema(), "Rich", data.draw(values("Rich")))
    some, other = messages.Rich(), messages.Rich()
    some.ParseFromString(written)
    other.note.id = some.note.id
    some.note.ClearField("id")

    for parts in ((some, other), (other, some)):
        both = b"".join(part.SerializePartialToString() for part in parts)

        assert encode(schema(), "Rich", decode(schema(), "Rich", both)) == written


def test_labels_tell_tags_lengths_and_unknown_fields() -> None:
    found = annotate(schema(), "Note", bytes.fromhex("0801 120161 1805 2202ffff")).annotations

    assert [(each.offset, each.path, each.meaning, each.value) for each in found] == [
        (0, "Note", "tag: field 1 `id`, varint", "8"),
        (1, "Note.id", "value", "1"),
        (2, "Note", "tag: field 2 `text`, length and bytes", "18"),
        (3, "Note.text", "length", "1"),
        (4, "Note.text", "text", '"a"'),
        (5, "Note", "tag: unknown field 3, varint", "24"),
        (6, "Note", "unknown value", "5"),
        (7, "Note", "tag: unknown field 4, length and bytes", "34"),
        (8, "Note", "length", "2"),
        (9, "Note", "unknown bytes", "ff ff"),
    ]


def test_a_missing_field_is_called_by_its_name(tmp_path: Path) -> None:
    text = "module t; enum NoZero: u8 { one = 1 } @tier(archive) struct S { 1: operator: NoZero; }"
    missing = Schema(program_of(tmp_path, text))

    for data in (b"", bytes.fromhex("1000")):
        with pytest.raises(DecodeError) as caught:
            decode(missing, "S", data)
        assert str(caught.value) == f"S.operator, at byte {len(data)}: it is missing"


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("0a07 0a0161 1000 1807  a206 0142", "0a07 0a0161 1000 1807  a206 0142"),
        ("a206 0142  0a07 0a0161 1000 1807", "0a07 0a0161 1000 1807  a206 0142"),
        # The root refers to the last object, which thus becomes the second.
        (
            "0a07 0a0161 1002 1807 0a03 0a0162 0a05 0a0163 1807  a206 0142",
            "0a05 0a0161 1001 0a03 0a0163 0a03 0a0162",
        ),
    ],
)
def test_unknown_fields_of_a_graph_stay_where_no_object_moves(
    tmp_path: Path, read: str, written: str
) -> None:
    """Field 3 of an object, and field 100 of the graph."""
    people = Schema(
        program_of(tmp_path, "module t; @tier(archive) struct P { 1: name: string; 2: boss: ref<P>?; }")
    )

    assert encode(people, "P", decode(people, "P", bytes.fromhex(read))) == bytes.fromhex(written)
