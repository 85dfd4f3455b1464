"""The annex, letter by letter: its lines, their order, and that it is no part of the fingerprint."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl import dynamic, model
from mfidl.compiler import Targets, compile_files
from mfidl.plan.annex import Annexes
from mfidl.plan.reach import Reach
from tests.compiler.schema import program_of

ROOT = Path(__file__).parents[2]

SCHEMA = """module sf1.search;
agent collection: Shard;
enum Shard: u8 { one = 0 }
enum Rank: u8 { pagerank = 1, bm25 = 0 }
flags Field: u16 { url = 9, title = 0 }
type Word = string @length(1..64);
struct Hit {
  doc: u32;
  @was("name", "label") title: string = "untitled" @length(1..256);
  rank: Rank = Rank.pagerank;
}
union Value { 2: text: string @pattern("[a-z]+"); 1: number: f64 @finite @was("real"); }
@tier(archive) struct Config {
  4: late: duration = 250ms @range(1ms..1h);
  1: name: string @was("title");
  2: quiet: u8 = 0;
}
error NoSuchCollection { name: string = "none"; }
struct Unused { x: u32 = 3; }
service Index per collection {
  @was("search", "find") query(terms: list<Word> @length(..16), limit: u32 = 10 @range(1..1000))
    -> list<Hit> @length(..100) throws NoSuchCollection;
  @oneway touch(doc: u32);
  @was("upsert") put(key: string, value: Value, config: Config, parts: stream<bytes @length(..4096)>)
    -> (version: u64 @was("rev"));
  scan(from: u32 = 0) -> stream<map<string @length(1..), list<u32 @range(..9)>>>;
  quiet(a: u32, b: Hit?) -> Hit;
}
"""

ANNEX = """annex sf1.search.Index
 method query
  was search
  was find
  params
   terms
    constraint length ..16
    element
     constraint length 1..64
   limit
    default 10
    constraint range 1..1000
  results
   value
    constraint length ..100
 method put
  was upsert
  params_stream
   constraint length ..4096
  results
   version
    was rev
 method scan
  params
   from
    default 0
  results_stream
   key
    constraint length 1..
   value
    element
     constraint range ..9
type sf1.search.Config
 name
  was title
 quiet
  default 0
 late
  default "0.250s"
  constraint range 1ms..1h
type sf1.search.Hit
 title
  was name
  was label
  default "untitled"
  constraint length 1..256
 rank
  default "pagerank"
type sf1.search.NoSuchCollection
 name
  default "none"
type sf1.search.Value
 number
  was real
  constraint finite
 text
  constraint pattern "[a-z]+"
"""


def service_of(folder: Path, text: str) -> model.Service:
    return program_of(folder, text).modules[0].services[0]


def test_the_annex_is_the_text_of_the_page(tmp_path: Path) -> None:
    assert service_of(tmp_path, SCHEMA).annex == ANNEX


def test_annexes_of_a_planned_program_are_those_of_planning(tmp_path: Path) -> None:
    program = program_of(tmp_path, SCHEMA)
    assert Annexes(Reach(program.declarations)).service(program.modules[0].services[0]) == ANNEX


def test_a_service_with_nothing_to_say_has_its_first_line(tmp_path: Path) -> None:
    schema = "module a; struct A { x: list<u8>?; } service S { get(m: map<string, A>) -> A; @oneway go(); }"
    assert service_of(tmp_path, schema).annex == "annex a.S\n"


def test_the_annex_is_outside_of_the_fingerprint(tmp_path: Path) -> None:
    one = service_of(tmp_path, SCHEMA)
    other = service_of(
        tmp_path, SCHEMA.replace("limit: u32 = 10", "limit: u32 = 11").replace('"find"', '"f"')
    )
    assert one.annex != other.annex
    assert one.fingerprint == other.fingerprint


# Type and default of the schema, and the line of the annex.
DEFAULTS = [
    ("bool", "true", "true"),
    ("u8", "255", "255"),
    ("i32", "-5", "-5"),
    ("u64", "18446744073709551615", '"18446744073709551615"'),
    ("i64", "-1", '"-1"'),
    ("f32", "0.1", "0.1"),
    ("f64", "0.1", "0.1"),
    ("f64", "3", "3.0"),
    ("f64", "-0.0", "-0.0"),
    ("f64", "1e300", "1e+300"),
    ("f64", "inf", '"Infinity"'),
    ("f32", "nan", '"NaN"'),
    ("string", '"a\\"b\\n\\u{E9}\\0"', '"a\\"b\\né\\u0000"'),
    ("bytes", '"\\xff\\x00a"', '"/wBh"'),
    ("uuid", '"00112233-4455-6677-8899-aabbccddeeff"', '"00112233-4455-6677-8899-aabbccddeeff"'),
    ("timestamp", '"2026-11-21T01:02:03.5Z"', '"2026-11-21T01:02:03.500Z"'),
    ("duration", "-1500ms", '"-1.500s"'),
    ("Rank", "Rank.pagerank", '"pagerank"'),
    ("Field", "[Field.url, Field.title]", '["title","url"]'),
    ("Field", "[]", "[]"),
    ("u32?", "0", "0"),
    ("list<u8>", "[1, 2]", "[1,2]"),
    ("list<string>", "[]", "[]"),
    ("array<f32, 2>", "[0.5, 1]", "[0.5,1.0]"),
    ("set<i64>", "[5, -1]", '["-1","5"]'),
    ("map<string, u8>", '{ "b": 1, "a": 2 }', '{"a":2,"b":1}'),
    ("map<u64, string>", '{ 10: "x", 9: "y" }', '{"9":"y","10":"x"}'),
    ("map<bool, u8>", "{ true: 1 }", '{"true":1}'),
    ("map<Rank, u8>", "{ Rank.pagerank: 1, Rank.bm25: 2 }", '{"bm25":2,"pagerank":1}'),
    ("Hit", "{ doc: 3 }", '{"doc":3}'),
    ("Hit", '{ title: "x", doc: 3, near: { doc: 4 } }', '{"doc":3,"title":"x","near":{"doc":4}}'),
    ("Value", "{ number: 1 }", '{"number":1.0}'),
    ("list<Value>", '[{ text: "a" }]', '[{"text":"a"}]'),
    ("Node", "{ id: 7, inner: { id: 8 } }", '{"node":[{"id":7,"inner":{"id":8}}]}'),
    ("list<Node>", "[{ id: 7 }]", '[{"node":[{"id":7}]}]'),
    ("Holder", "{ node: { id: 7 } }", '{"node":{"node":[{"id":7}]}}'),
    ("Either", "{ node: { id: 7 } }", '{"either":[{"node":{"id":7}}]}'),
]


@pytest.mark.parametrize(("type_", "written", "json"), DEFAULTS)
def test_a_default_is_json(tmp_path: Path, type_: str, written: str, json: str) -> None:
    schema = f"""module a;
enum Rank: u8 {{ pagerank = 1, bm25 = 0 }}
flags Field: u16 {{ url = 9, title = 0 }}
struct Near {{ doc: u32; }}
struct Hit {{ doc: u32; title: string = "untitled"; near: Near?; }}
union Value {{ 1: number: f64; 2: text: string; }}
@tier(archive) struct Node {{ 1: id: u8 = 0; 2: next: ref<Node>?; 3: inner: Inner = {{}}; }}
@tier(archive) struct Inner {{ 1: id: u8 = 0; 2: of: ref<Node>?; }}
@tier(archive) union Either {{ 1: node: Node; 2: other: ref<Node>; }}
struct Holder {{ node: Node; }}
service S {{ get(x: {type_} = {written}); }}
"""
    program = program_of(tmp_path, schema)
    service = program.modules[0].services[0]
    head = "annex a.S\n method get\n  params\n   x\n"
    assert service.annex.startswith(f"{head}    default {json}\n")
    # A reader of JSON makes the same value of it as of parameters that lack it.
    field = service.methods[0].params.fields[0]
    made = dynamic.from_json(program, "S.get.params", b"{}")["x"]
    assert repr(dynamic.from_json(program, field.type, json.encode())) == repr(made)  # nan equals nothing


# What a constraint is in the schema, and the line.
CONSTRAINTS = [
    ("u32", "@range(1..)", "range 1.."),
    ("f64", "@range(-0.5..1)", "range -0.5..1.0"),
    ("u64", "@range(..18446744073709551615)", "range ..18446744073709551615"),
    ("duration?", "@range(0s..90min)", "range 0s..90min"),
    (
        "timestamp",
        '@range("2000-01-01T00:00:00Z".."2030-01-01T00:00:00.25Z")',
        'range "2000-01-01T00:00:00Z".."2030-01-01T00:00:00.25Z"',
    ),
    ("bytes", "@length(16)", "length 16"),
    ("string", "@length(..8)", "length ..8"),
    ("string", "@length(2..)", "length 2.."),
    ("f32", "@finite", "finite"),
    ("string", '@pattern("a \\"(b)\\\\d ")', 'pattern "a \\"(b)\\\\d "'),
]


@pytest.mark.parametrize(("type_", "written", "line"), CONSTRAINTS)
def test_a_constraint_is_spelled_as_in_the_schema(
    tmp_path: Path, type_: str, written: str, line: str
) -> None:
    service = service_of(tmp_path, f"module a;\nservice S {{ get(x: {type_} {written}); }}\n")
    assert service.annex == f"annex a.S\n method get\n  params\n   x\n    constraint {line}\n"


def test_the_annex_of_a_topic_says_what_it_keeps_and_allows(tmp_path: Path) -> None:
    text = """module a; agent c: string;
struct Hit { title: string = "untitled" @length(..9); }
@overflow(block, drop_oldest) @replay(10) topic Hits per c : Hit;
topic Plain : Hit;
@overflow(drop_oldest, drop_newest, block, disconnect) topic All : Hit;
"""
    hits, plain_, all_ = program_of(tmp_path, text).modules[0].topics
    of_type = """type a.Hit
 title
  default "untitled"
  constraint length ..9
"""
    assert hits.annex == f"annex a.Hits\n replay 10\n overflow block drop_oldest\n{of_type}"
    assert plain_.annex == f"annex a.Plain\n{of_type}"
    assert all_.annex == f"annex a.All\n{of_type}"


def test_what_a_topic_keeps_and_allows_is_outside_of_its_fingerprint(tmp_path: Path) -> None:
    text = "module a; struct Hit { x: u8; } topic Hits : Hit;"
    (plain_,) = program_of(tmp_path, text).modules[0].topics
    (other,) = (
        program_of(tmp_path, text.replace("topic", "@replay(5) @overflow(block) topic")).modules[0].topics
    )
    assert (other.replay, other.overflow, other.default_overflow) == (5, ("block",), "block")
    assert (plain_.replay, plain_.overflow, plain_.default_overflow) == (0, model.OVERFLOWS, "drop_oldest")
    assert other.fingerprint == plain_.fingerprint


def test_generated_python_says_the_annex_letter_by_letter(tmp_path: Path) -> None:
    schema = tmp_path / "odd.mfidl"
    text = '"\\\\ \\"\\"\\" \\u{200B}\\u{2028}\\u{FEFF}\\0\\r é \\\\u0041 {{ x }}"'
    schema.write_text(
        f'module odd; service S {{ get(x: string = {text} @pattern("\\"\\"\\"\\\\\\\\n? *")); quiet(); }}\n'
    )
    outcome = compile_files([str(schema)], [], Targets(python=str(tmp_path)))
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    expected = outcome.program.modules[0].services[0].annex
    assert expected.count("\n") == 6
    script = "from odd import S_SERVICE as s; import sys; sys.stdout.buffer.write(s.annex.encode())"
    told = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'runtime/python'}:{tmp_path}"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert told.stdout.decode() == expected
