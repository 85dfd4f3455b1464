"""mfidl/dynamic and the commands, on values that break constraints of the schema: the place and the words, as
the runtime for Python has them; encode refuses, decode and annotate show and tell.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import mf
from mfidl import dynamic
from mfidl.cli.group import cli
from tests.compiler.schema import dynamic_schema
from tests.python.codec.archives import Archives

SCHEMA = r"""module broken;
type Percent = u32 @range(..100);
type Words = list<string @length(1..)>;
type Short = Words @length(..2);
enum Rank: u8 { a = 0 }
struct Ranges { a: i32 @range(-5..5); b: f64 @range(0.5..); c: f32 @finite; d: Percent?; e: u64 @range(1..); }
struct Texts { p: string @pattern("[a-z]+"); l: bytes @length(2); t: string @length(..3); n: u32? @range(2..); }
struct Inside { list_: list<f32 @finite> @length(..3); many: array<i16 @range(0..), 2>;
  keys: map<u8 @range(1..), string @length(1..)>; ids: set<u16 @range(..9)>; deep: list<list<Percent>>; words: Short; }
struct Holder { inside: Ranges; maybe: Texts?; all: list<Either>; }
union Either { percent: Percent; inside: Ranges; other: Words; }
@tier(archive) struct Node { 2: name: string @length(1..); 1: rank: u8 @range(..3); 3: next: ref<Node>?; 4: held: Plain?; }
@tier(archive) struct Plain { 1: n: Percent; }
service S { m(load: Percent) -> u32 @range(1..); }
"""
GOOD = '{"a":0,"b":1.0,"c":0.0,"e":"1"}'
TEXTS = '{"p":"abc","l":"AAA=","t":""}'
INSIDE = '{"list_":[],"many":[0,0],"keys":{},"ids":[],"deep":[],"words":[]}'


@cache
def archives() -> Archives:
    return Archives(SCHEMA)


def schema() -> dynamic.Schema:
    return dynamic_schema(SCHEMA)


def with_(good: str, **changed: Any) -> str:
    """A good value's text with other fields."""
    return json.dumps({**json.loads(good), **changed}, separators=(",", ":"))


CASES = [
    ("Ranges", with_(GOOD, a=6), "Ranges.a", "6 is not in -5..5"),
    ("Ranges", with_(GOOD, b=0.25), "Ranges.b", "0.25 is not in 0.5.."),
    ("Ranges", with_(GOOD, b="NaN"), "Ranges.b", "nan is not in 0.5.."),
    ("Ranges", with_(GOOD, c="-Infinity"), "Ranges.c", "-inf is not finite"),
    ("Ranges", with_(GOOD, d=101), "Ranges.d", "101 is not in ..100"),
    ("Ranges", with_(GOOD, e=0), "Ranges.e", "0 is not in 1.."),
    ("Ranges", with_(GOOD, d=101, a=-6), "Ranges.a", "-6 is not in -5..5"),
    ("Texts", with_(TEXTS, p="ab\n"), "Texts.p", r"'ab\n' does not match '[a-z]+'"),
    ("Texts", with_(TEXTS, p="ü"), "Texts.p", r"'\xfc' does not match '[a-z]+'"),
    ("Texts", with_(TEXTS, l="AA=="), "Texts.l", "length 1 is not in 2..2"),
    ("Texts", with_(TEXTS, t="éé"), "Texts.t", "length 4 is not in 0..3"),
    ("Texts", with_(TEXTS, n=1), "Texts.n", "1 is not in 2.."),
    ("Inside", with_(INSIDE, list_=[0, "NaN"]), "Inside.list_[1]", "nan is not finite"),
    ("Inside", with_(INSIDE, list_=[0] * 4), "Inside.list_", "length 4 is not in 0..3"),
    ("Inside", with_(INSIDE, many=[0, -1]), "Inside.many[1]", "-1 is not in 0.."),
    ("Inside", with_(INSIDE, keys={"0": "x"}), "Inside.keys[0]", "0 is not in 1.."),
    ("Inside", with_(INSIDE, keys={"1": "x", "2": ""}), "Inside.keys[1]", "length 0 is not in 1.."),
    ("Inside", with_(INSIDE, ids=[10, 1]), "Inside.ids[1]", "10 is not in ..9"),
    ("Inside", with_(INSIDE, deep=[[], [1, 200]]), "Inside.deep[1][1]", "200 is not in ..100"),
    ("Inside", with_(INSIDE, words=["a", ""]), "Inside.words[1]", "length 0 is not in 1.."),
    ("Inside", with_(INSIDE, words=["a"] * 3), "Inside.words", "length 3 is not in 0..2"),
    ("Either", '{"percent":101}', "Either.percent", "101 is not in ..100"),
    ("Either", '{"other":[""]}', "Either.other[0]", "length 0 is not in 1.."),
    (
        "Holder",
        f'{{"inside":{GOOD},"all":[{{"percent":1}},{{"inside":{with_(GOOD, e=0)}}}]}}',
        "Holder.all[1].inside.e",
        "0 is not in 1..",
    ),
    ("Holder", f'{{"inside":{GOOD},"maybe":{with_(TEXTS, p="")},"all":[]}}', "Holder.maybe.p", "'' does not"),
    ("Plain", '{"n":101}', "Plain.n", "101 is not in ..100"),
    ("Node", '{"node":[{"name":"","rank":9}]}', "Node.node[0].rank", "9 is not in ..3"),  # by number
    (
        "Node",
        '{"node":[{"name":"a","rank":1,"next":1},{"name":"b","rank":1,"held":{"n":101}}]}',
        "Node.node[1].held.n",
        "101 is not in ..100",
    ),
]


@pytest.mark.parametrize(("type_", "text", "path", "reason"), CASES)
def test_what_breaks_a_constraint_is_named_as_the_runtime_does(
    type_: str, text: str, path: str, reason: str
) -> None:
    value = dynamic.from_json(schema(), type_, text)
    data = dynamic.encode(schema(), type_, value)
    kind = getattr(archives().package, type_)

    found = dynamic.violation(schema(), type_, value)
    again = dynamic.violation(schema(), type_, dynamic.decode(schema(), type_, data))
    with pytest.raises(mf.Error) as read:
        mf.from_bytes(kind, data)
    with pytest.raises(mf.Error) as written:
        mf.to_bytes(mf.from_json(kind, text))

    assert found is not None
    assert (found.path, found.reason.startswith(reason)) == (path, True)
    assert again == found
    assert (read.value.code, written.value.code) == (mf.Code.INVALID_ARGUMENT, mf.Code.INVALID_ARGUMENT)
    assert read.value.message.startswith(path)
    assert read.value.message.endswith(found.reason)
    assert written.value.message.endswith(found.reason)
    # Entries of a map the writer names by key, as its readers' values have no place.
    assert path.startswith("Inside.keys") or written.value.message.startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("type_", "text", "told"),
    [
        ("Percent", "101", "101 is not in ..100"),
        ("broken.Percent?", "101", "101 is not in ..100"),
        ("list<Percent>", "[1,101]", "[1]: 101 is not in ..100"),
        ("array<Percent, 1>", "[101]", "[0]: 101 is not in ..100"),
        ("set<Percent>", "[101]", "[0]: 101 is not in ..100"),
        ("map<Percent, u8>", '{"101":1}', "[0]: 101 is not in ..100"),
        ("map<u8, Percent>", '{"1":101}', "[0]: 101 is not in ..100"),
        ("Short", '["a","b","c"]', "length 3 is not in 0..2"),
        ("list<Short>", '[["a",""]]', "[0][1]: length 0 is not in 1.."),
        ("S.m.params", '{"load":101}', "load: 101 is not in ..100"),
        ("S.m.results", '{"value":0}', "value: 0 is not in 1.."),
    ],
)
def test_what_an_alias_asks_holds_where_it_stands_alone(type_: str, text: str, told: str) -> None:
    value = dynamic.from_json(schema(), type_, text)

    assert str(dynamic.violation(schema(), type_, value)) == told


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("Ranges", GOOD),
        ("Texts", TEXTS),
        ("Inside", INSIDE),
        ("Inside", with_(INSIDE, ids=[9], keys={"1": "x"}, deep=[[100]], words=["a", "b"])),
        ("list<u32>", "[101]"),
        ("map<u8, u32>", '{"1":101}'),
        ("list<list<u32>>", "[[101]]"),
        ("Node", '{"node":[{"name":"a","rank":3,"next":0}]}'),
    ],
)
def test_what_keeps_them_is_not_told(type_: str, text: str) -> None:
    assert dynamic.violation(schema(), type_, dynamic.from_json(schema(), type_, text)) is None


# The commands -----------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "broken.mfidl"
    path.write_text(SCHEMA)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in arguments])


BAD = with_(GOOD, a=6)
TOLD = "error[invalid_argument]: 6 is not in -5..5\n --> {}, Ranges.a\n"


def test_encode_refuses_and_writes_nothing(file: Path, tmp_path: Path) -> None:
    done = run("encode", file, "Ranges", "--json", BAD, "--hex")
    out = run("encode", file, "Ranges", "--json", BAD, "--out", tmp_path / "out")

    assert (done.exit_code, done.stdout, done.stderr) == (1, "", TOLD.format("--json"))
    assert (out.exit_code, (tmp_path / "out").exists()) == (1, False)


def test_decode_and_annotate_show_the_value_and_then_what_it_breaks(file: Path) -> None:
    digits = dynamic.encode(schema(), "Ranges", dynamic.from_json(schema(), "Ranges", BAD)).hex()

    decoded = run("decode", file, "Ranges", "--hex", digits)
    annotated = run("annotate", file, "Ranges", "--hex", digits)
    for_tools = run("annotate", file, "Ranges", "--hex", digits, "--format", "json")

    told = TOLD.format("--hex")
    assert (decoded.exit_code, decoded.stdout, decoded.stderr) == (1, f"{BAD}\n", told)
    assert (annotated.exit_code, annotated.stderr) == (1, told)
    assert annotated.stdout.count("Ranges.a") == 1
    assert (for_tools.exit_code, for_tools.stderr) == (1, "")
    found = json.loads(for_tools.stdout)
    assert found["violation"] == {"path": "Ranges.a", "reason": "6 is not in -5..5"}
    assert found["error"] is None


def test_of_a_good_value_tools_are_told_that_it_breaks_nothing(file: Path) -> None:
    done = run("annotate", file, "Plain", "--hex", "0864", "--format", "json")

    assert (done.exit_code, json.loads(done.stdout)["violation"]) == (0, None)


def test_malformed_bytes_are_told_before_a_constraint_that_is_broken_in_front(file: Path) -> None:
    done = run("annotate", file, "Plain", "--hex", "086500", "--format", "json")

    assert done.exit_code == 1
    assert json.loads(done.stdout)["error"]["fault"] == "malformed_tag"
    assert json.loads(done.stdout)["violation"] is None


def test_vectors_break_none(file: Path) -> None:
    done = run("vectors", file, "--count", "20")

    assert (done.exit_code, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({each["type"] for each in lines}) >= 9
    for each in lines:
        value = dynamic.decode(schema(), each["type"], bytes.fromhex(each["hex"]))
        assert dynamic.violation(schema(), each["type"], value) is None
