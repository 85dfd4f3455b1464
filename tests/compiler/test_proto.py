"""proto2 files of the archive tier: protoc takes them, and each type has the carrier of docs/proto.md."""

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from google.protobuf import descriptor_pb2, descriptor_pool

from mfidl.cli.group import cli

SCHEMA = r"""
/// About configurations.
module sf1.config;
import "sf1/people.mfidl";

/// How to rank.
enum Rank: u8 { bm25 = 0, pagerank = 1 @deprecated }
enum Wide: u64 { big = 9_000_000_000 }
open enum Lang: i16 { en = 0, ko = -1 }
flags Field: u16 { title, body }
enum Level: u8 { low = 1 }
struct Point { x: f64; y: f64; }
@tier(febird) struct Note { text: string; }

@tier(archive) struct Config {
  /// How it is called.
  1: name: string = "a\"b\n\u{e9}1";
  2: ttl: duration = 30s;
  3: owner: sf1.people.Person?;
  4: parent: ref<Config>?;
  6: counts: map<string, u32>;
  7: by_rank: map<Rank, list<u32>>;
  8: matrix: list<list<f32>>;
  9: rank: Rank = Rank.pagerank;
  10: wide: Wide;
  11: lang: Lang = Lang.ko;
  12: fields: Field = [Field.title, Field.body];
  13: origin: Point;
  14: notes: list<Note>;
  15: id: uuid;
  16: at: timestamp;
  17: maybe: list<u8>?;
  18: value: Value;
  19: by_key: map<bytes, sf1.people.Person>;
  20: weights: array<f32, 3>;
  21: small: i8 = -3;
  22: peers: list<ref<sf1.people.Person>>;
  23: ranks: list<Rank>;
  24: limits: f64 = 1e300;
  25: raw: bytes;
  26: sparse: list<u32?>;
  28: chance: Rank? = Rank.bm25;
  27: nested: map<string, map<u32, string>>;
  33: levels: map<u8, Level>;
  34: listed: map<uuid, list<u8?>>;
  reserved 5, 30..32, "old_name";
}

union Value { 1: number: f64; 2: text: string; }
@tier(archive) union Choice { 1: number: f64; 2: notes: list<Note>; 3: who: sf1.people.Person;
  4: alternative: u8; }
@tier(archive) struct Order { 1: choice: Choice; 2: next: ref<Choice>?; }
"""
PEOPLE = "module sf1.people; @tier(archive) struct Person { 1: name: string; 2: friends: list<Person>; }"


def proto(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["proto", *map(str, arguments)])


def loaded(folder: Path, *files: str) -> descriptor_pool.DescriptorPool:
    """By protoc, and then by Python's protobuf."""
    command = ["protoc", f"-I{folder}", *files, "-o", str(folder / "set")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    pool = descriptor_pool.DescriptorPool()
    for each in descriptor_pb2.FileDescriptorSet.FromString((folder / "set").read_bytes()).file:
        pool.Add(each)
    return pool


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """The folder that the files were written to."""
    (tmp_path / "sf1").mkdir()
    (tmp_path / "sf1" / "config.mfidl").write_text(SCHEMA)
    (tmp_path / "sf1" / "people.mfidl").write_text(PEOPLE)
    done = proto(tmp_path / "sf1" / "config.mfidl", "-I", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    return tmp_path / "out"


def lines(printed: Path) -> list[str]:
    text = (printed / "sf1" / "config.proto").read_text()
    return [line.strip() for line in text.splitlines()]


def test_protoc_accepts_them_without_a_word(printed: Path) -> None:
    command = ["protoc", f"-I{printed}", "sf1/config.proto", "sf1/people.proto", "-o/dev/null"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=printed)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "line",
    [
        'optional string name = 1 [default = "a\\"b\\n\\303\\2511"];',
        "optional sint64 ttl = 2 [default = 30000000000];  // duration in ns",
        "optional .sf1.people.Person owner = 3;",
        "optional uint32 parent = 4;  // index in the table of sf1.config.Config",
        "map<string, uint32> counts = 6;",
        "repeated ByRankEntry by_rank = 7;",
        "repeated MatrixValue matrix = 8;",
        "optional .sf1.config.Rank rank = 9 [default = Rank_pagerank];",
        "optional .sf1.config.Rank chance = 28 [default = Rank_bm25];",
        "required uint64 wide = 10;  // enum sf1.config.Wide",
        "optional int64 lang = 11 [default = -1];  // enum sf1.config.Lang",
        "optional uint32 fields = 12 [default = 3];  // flags sf1.config.Field",
        "required bytes origin = 13;  // sf1.config.Point, memcpy",
        "repeated bytes notes = 14;  // sf1.config.Note, febird",
        "required bytes id = 15;  // uuid, 16 bytes",
        "required sfixed64 at = 16;  // timestamp in ns since 1970",
        "optional MaybeValue maybe = 17;  // u8",
        "required bytes value = 18;  // sf1.config.Value, febird",
        "repeated ByKeyEntry by_key = 19;",
        "repeated float weights = 20 [packed = true];",
        "optional sint32 small = 21 [default = -3];  // i8",
        "repeated uint32 peers = 22 [packed = true];  // index in the table of sf1.people.Person",
        "repeated .sf1.config.Rank ranks = 23 [packed = true];",
        "optional double limits = 24 [default = 1e+300];",
        "required bytes raw = 25;",
        "repeated SparseValue sparse = 26;",
        "map<string, NestedValue> nested = 27;",
        "repeated LevelsEntry levels = 33;",
        "required ValueValue value = 2;  // u8",
        "reserved 5, 30 to 32;",
        'reserved "old_name";',
        "Rank_pagerank = 1 [deprecated = true];",
        "// How it is called.",
        "// About configurations.",
        'import "sf1/people.proto";',
        "oneof alternative_ {",
        "message ConfigGraph {",
        "message OrderGraph {",
    ],
)
def test_each_declaration_has_its_carrier(line: str, printed: Path) -> None:
    assert line in lines(printed)


def test_the_tables_of_a_graph_begin_with_its_own_type(printed: Path) -> None:
    text = "\n".join(lines(printed))

    assert (
        "message ConfigGraph {\n"
        "repeated .sf1.config.Config config = 1;\n"
        "repeated .sf1.people.Person person = 2;\n}"
    ) in text
    assert (
        "message OrderGraph {\n"
        "repeated .sf1.config.Order order = 1;\n"
        "repeated .sf1.config.Choice choice = 2;\n}"
    ) in text


def test_names_that_protobuf_puts_into_one_scope_do_not_collide(tmp_path: Path) -> None:
    schema = tmp_path / "a.mfidl"
    schema.write_text(
        "module a; enum E: u8 { x = 0 } enum E_x: u8 { y = 0 } "
        "@tier(archive) struct S { 1: SGraph: E; 2: m: list<list<E_x>>; 3: MValue: ref<S>?; } "
        "@tier(archive) struct SGraph { 1: s: S; }"
    )
    done = proto(schema, "--out", tmp_path)
    assert done.exit_code == 0, done.output

    text = (tmp_path / "a.proto").read_text()

    assert "E_x_ = 0;" in text
    assert "message SGraph_ {" in text
    assert "message MValue_ {" in text
    subprocess.run(["protoc", f"-I{tmp_path}", "a.proto", "-o/dev/null"], check=True, timeout=60)


def test_the_names_that_protobuf_makes_itself_do_not_collide(tmp_path: Path) -> None:
    """protoc makes a message for each map; Python's protobuf wants each name in JSON once."""
    schema = tmp_path / "a.mfidl"
    schema.write_text(
        "module a; "
        "@tier(archive) struct A { 7: m: map<i64, list<u8>>; 8: MEntry: u8; 9: n: map<bytes, u8>; "
        "10: N: map<u8, u8>; } "
        "@tier(archive) struct B { 1: value: u8; 2: value_: u8; 3: foo_bar: list<i32>; 4: fooBar: u8?; "
        '5: foo_bar_: string = "x"; 6: next: ref<Node>; } '
        "@tier(archive) struct Node { 1: s: u8; } "
        "@tier(archive) struct node { 1: s: ref<Node>?; 2: t: ref<B>?; } "
        "@tier(archive) struct Both { 1: a: ref<Node>; 2: b: ref<node>; } "
        "@tier(archive) union U { 1: a_b: map<u8, u8>; 2: aB: map<uuid, u8>; 3: aBEntry: u8; }"
    )
    done = proto(schema, "--out", tmp_path)
    assert done.exit_code == 0, done.output

    pool = loaded(tmp_path, "a.proto")

    names = {field.json_name for field in pool.FindMessageTypeByName("a.B").fields}
    assert names == {"value", "value_", "foo_bar", "fooBar", "foo_bar_", "next"}
    assert len(pool.FindMessageTypeByName("a.BothGraph").fields) == 4
    text = (tmp_path / "a.proto").read_text()
    assert "map<uint32, uint32> N = 10;" not in text
    assert "repeated NEntry_ N = 10;" in text


def test_defaults_that_are_denormal_are_left_out_and_the_file_loads(tmp_path: Path) -> None:
    """Those that are nearly so stay."""
    schema = tmp_path / "a.mfidl"
    schema.write_text(
        "module a; @tier(archive) struct A { 1: f: f32 = 1e-45; 2: d: f64 = 5e-324; "
        "3: g: f32 = -1.17549421e-38; 4: e: f64? = 2.225073858507201e-308; 5: n: f32 = 1.17549435e-38; "
        "6: m: f64 = 2.2250738585072014e-308; 7: o: f64 = 1e-45; 8: z: f64 = -0.0; }"
    )
    done = proto(schema, "--out", tmp_path)
    assert done.exit_code == 0, done.output

    fields = loaded(tmp_path, "a.proto").FindMessageTypeByName("a.A").fields_by_name

    assert [name for name, field in fields.items() if not field.has_default_value] == ["f", "d", "g", "e"]
    assert [fields[name].default_value for name in "nmoz"] == [2.0**-126, 2.0**-1022, 1e-45, 0.0]
    text = (tmp_path / "a.proto").read_text()
    assert "  optional float f = 1;  // has a default that cannot stand here\n" in text


def test_no_package_is_a_word_of_cpp(tmp_path: Path) -> None:
    """protoc opens a namespace for each part without changing it."""
    for path, text in {
        "new/delete.mfidl": 'module new.delete; import "time/mf/for.mfidl"; enum E: u8 { a = 0 } '
        "@tier(archive) struct A { 1: e: E; 2: b: time.mf.for.B; 3: next: ref<A>?; }",
        "time/mf/for.mfidl": "module time.mf.for; @tier(archive) struct B { 1: class: u8; }",
        "mf/own.mfidl": "module mf.own; @tier(archive) struct C { 1: n: u8; }",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    done = proto(tmp_path / "new/delete.mfidl", tmp_path / "mf/own.mfidl", "-I", tmp_path, "--out", tmp_path)
    assert done.exit_code == 0, done.output

    files = ["new/delete.proto", "time/mf/for.proto", "mf/own.proto"]
    pool = loaded(tmp_path, *files)
    subprocess.run(["protoc", f"-I{tmp_path}", f"--cpp_out={tmp_path}", *files], check=True, timeout=60)

    headers = [(tmp_path / each).with_suffix(".pb.h").read_text() for each in files]
    opened = {each for text in headers for each in re.findall(r"^namespace (\w+) \{", text, re.MULTILINE)}
    assert opened - {"internal", "protobuf", "google"} == {"new_", "delete_", "time_", "mf", "for_", "own"}
    for field, full_name in {"A.b": "time_.mf.for_.B", "AGraph.a": "new_.delete_.A"}.items():
        held = pool.FindFieldByName(f"new_.delete_.{field}").message_type
        assert held is not None
        assert held.full_name == full_name
    enum = pool.FindFieldByName("new_.delete_.A.e").enum_type
    assert enum is not None
    assert enum.full_name == "new_.delete_.E"


def test_without_a_folder_they_go_to_standard_output(tmp_path: Path) -> None:
    schema = tmp_path / "a.mfidl"
    schema.write_text("module a; struct S { a: u8; }")

    done = proto(schema)

    assert done.exit_code == 0
    assert 'syntax = "proto2";' in done.stdout
    assert "// No type of this module has the tier archive." in done.stdout


def test_a_schema_with_errors_prints_nothing(tmp_path: Path) -> None:
    schema = tmp_path / "a.mfidl"
    schema.write_text("module a; struct S { a: u9; }")

    done = proto(schema)

    assert done.exit_code == 1
    assert "syntax" not in done.output
