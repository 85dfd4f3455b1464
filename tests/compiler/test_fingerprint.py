"""The descriptor, letter by letter, and what changes the fingerprint and what does not."""

import hashlib
from pathlib import Path

import pytest

from mfidl import model
from tests.compiler.schema import program_of

SCHEMA = """module sf1.search;
type DocId = u32;
agent collection: string;
enum Rank: u8 { pagerank = 1, bm25 = 0 }
open enum Lang: u16 { en = 0 }
struct Hit { doc: DocId; score: f32; rank: Rank?; pages: map<string, list<Lang>>; }
struct Unused { x: u32; }
error NoSuchCollection { name: string; }
service Index per collection {
  query(terms: list<string>, limit: u32 = 10) -> list<Hit> throws NoSuchCollection;
  @oneway touch(doc: DocId);
}
"""

DESCRIPTOR = """service sf1.search.Index
 per collection string
 method query
  params febird
   terms list<string>
   limit u32
  results febird
   value list<sf1.search.Hit>
  throws sf1.search.NoSuchCollection
 method touch
  oneway
  params memcpy
   doc u32
type sf1.search.Hit struct febird
 doc u32
 score f32
 rank sf1.search.Rank?
 pages map<string,list<sf1.search.Lang>>
type sf1.search.Lang enum u16 open
 en 0
type sf1.search.NoSuchCollection error febird
 name string
type sf1.search.Rank enum u8 closed
 bm25 0
 pagerank 1
"""


def service_of(folder: Path, text: str) -> model.Service:
    return program_of(folder, text).modules[0].services[0]


def test_the_descriptor_is_the_canonical_text(tmp_path: Path) -> None:
    assert service_of(tmp_path, SCHEMA).descriptor == DESCRIPTOR


def test_the_fingerprint_is_the_beginning_of_the_hash_of_the_descriptor(tmp_path: Path) -> None:
    expected = hashlib.sha256(DESCRIPTOR.encode()).digest()[:16]
    assert service_of(tmp_path, SCHEMA).fingerprint == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("limit: u32 = 10", "limit: u32 = 20"),
        ("limit: u32 = 10", "limit: u32 @range(1..5)"),
        ("  query", "  /// Documented.\n  @idempotent @deadline(1s) @batch(max = 2)\n  query"),
        ("doc: DocId; score", "doc: u32; score"),
        ("struct Unused { x: u32; }", ""),
        ("pagerank = 1, bm25 = 0", "bm25 = 0, pagerank = 1"),
    ],
)
def test_what_changes_no_byte_keeps_the_fingerprint(tmp_path: Path, old: str, new: str) -> None:
    assert old in SCHEMA
    changed = service_of(tmp_path, SCHEMA.replace(old, new))
    assert changed.fingerprint == service_of(tmp_path, SCHEMA).fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("score: f32", "score: f64"),
        ("score: f32", "points: f32"),
        ("rank: Rank?", "rank: Rank"),
        ("type DocId = u32", "type DocId = u64"),
        ("open enum Lang", "enum Lang"),
        ("enum Lang: u16", "enum Lang: u8"),
        ("@oneway touch", "touch"),
        (" per collection", ""),
        ("agent collection: string", "agent collection: u32"),
        (" throws NoSuchCollection", ""),
        ("name: string", "name: bytes"),
        ("module sf1.search", "module sf1.find"),
        ("@oneway touch", "@oneway poke"),
    ],
)
def test_what_changes_a_byte_or_a_name_changes_the_fingerprint(tmp_path: Path, old: str, new: str) -> None:
    assert old in SCHEMA
    changed = service_of(tmp_path, SCHEMA.replace(old, new))
    assert changed.fingerprint != service_of(tmp_path, SCHEMA).fingerprint


def test_a_tier_that_is_asked_for_is_part_of_it(tmp_path: Path) -> None:
    plain = "module m; struct P { x: u32; } service S { f(p: P); }"
    asked = plain.replace("struct P", "@tier(febird) struct P")
    assert service_of(tmp_path, plain).fingerprint != service_of(tmp_path, asked).fingerprint


WHOLE = """module m;
agent shard: Kind;
enum Kind: u8 { a = 0 }
flags Field: u16 { title, url = 3, body }
@tier(archive) struct Config { 6: colour: string; 1: parent: ref<Config>?; 3: part: Part?; }
@tier(custom) @cpp.codec("g.hpp", "g::G", "g::C") struct Geo;
union Value { 2: config: Config; 1: number: f64; }
union ByPlace { a: u8; b: Geo; }
struct Part { 2: field: Field; 1: more: u8; }
service Store {
  put(key: string, value: Value, parts: stream<Part>) -> ByPlace;
  scan(key: u32) -> stream<bytes>;
  @replicated(pattern = one_hop) change(key: u32) -> u64;
}
topic Changes per shard : Part;
topic Values : Value;
"""

WHOLE_DESCRIPTOR = """service m.Store
 method put
  params febird
   key string
   value m.Value
  params_stream m.Part
  results febird
   value m.ByPlace
 method scan
  params memcpy
   key u32
  results memcpy
  results_stream bytes
 method change
  replicated one_hop
  params memcpy
   key u32
  results memcpy
   value u64
type m.ByPlace union febird
 a 1: u8
 b 2: m.Geo
type m.Config struct archive
 parent 1: ref<m.Config>?
 part 3: m.Part?
 colour 6: string
type m.Field flags u16
 title 0
 url 3
 body 4
type m.Geo struct custom
type m.Part struct memcpy
 field m.Field
 more u8
type m.Value union febird
 number 1: f64
 config 2: m.Config
"""

TOPIC_DESCRIPTOR = """topic m.Changes
 per shard m.Kind
 value m.Part
type m.Field flags u16
 title 0
 url 3
 body 4
type m.Kind enum u8 closed
 a 0
type m.Part struct memcpy
 field m.Field
 more u8
"""


def test_the_descriptor_speaks_of_every_construct(tmp_path: Path) -> None:
    assert service_of(tmp_path, WHOLE).descriptor == WHOLE_DESCRIPTOR


def test_a_topic_has_a_descriptor_of_its_own(tmp_path: Path) -> None:
    changes, values = program_of(tmp_path, WHOLE).modules[0].topics
    assert changes.descriptor == TOPIC_DESCRIPTOR
    assert changes.fingerprint == hashlib.sha256(TOPIC_DESCRIPTOR.encode()).digest()[:16]
    assert values.descriptor.startswith("topic m.Values\n value m.Value\ntype m.Config struct archive\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6: colour: string", '@was("color") 6: colour: string = "red"'),
        ("6: colour: string; 1: parent: ref<Config>?;", "1: parent: ref<Config>?; 6: colour: string;"),
        ("3: part: Part?;", "3: part: Part?; reserved 2;"),
        ("2: config: Config; 1: number: f64;", "1: number: f64; 2: config: Config;"),
        ("a: u8; b: Geo;", "1: a: u8; 2: b: Geo;"),
        ("2: field: Field; 1: more: u8;", "field: Field; more: u8;"),
        ('"g::C"', '"g::Other"'),
        ("url = 3, body", "body = 4, url = 3"),
        ("  put(", '  @cpp.name("Put") @was("push") put('),
        ("parts: stream", "chunks: stream"),
    ],
)  # fmt: skip
def test_the_same_bytes_have_the_same_fingerprint(tmp_path: Path, old: str, new: str) -> None:
    assert old in WHOLE
    assert service_of(tmp_path, WHOLE.replace(old, new)).descriptor == WHOLE_DESCRIPTOR


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6: colour", "5: colour"),
        ("ref<Config>?", "ref<Config>"),
        ("2: config: Config", "3: config: Config"),
        ("number: f64", "number: f32"),
        ("url = 3", "url = 5"),
        ("Field: u16", "Field: u32"),
        ("a: u8; b: Geo", "b: Geo; a: u8"),
        ("stream<Part>", "stream<Value>"),
        (" -> stream<bytes>", ""),
        ("one_hop)", "one_hop_ack_client)"),
    ],
)  # fmt: skip
def test_other_bytes_have_another_fingerprint(tmp_path: Path, old: str, new: str) -> None:
    assert old in WHOLE
    changed = service_of(tmp_path, WHOLE.replace(old, new))
    assert changed.fingerprint != service_of(tmp_path, WHOLE).fingerprint
