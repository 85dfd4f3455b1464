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
