"""Writes tests/vectors/schemas/wide.mfidl: every type of the language at every place, in every tier; and
tests/cpp/codec/wide_types.inc, its types for the C++ test.

    python tests/vectors/wide/make_schema.py

A struct a scalar and tier: `MemcpyU16`, `FebirdU16`, `ArchiveU16`. What no loop makes (unions, recursion,
graphs, tiers in each other) stands in HAND below.
"""

import re
from pathlib import Path

SCHEMA = Path(__file__).parents[1] / "schemas/wide.mfidl"
CPP_TYPES = Path(__file__).parents[2] / "cpp/codec/wide_types.inc"

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
ENUMS = ["Rank", "Sign", "Lang", "Serial"]
FLAGS = ["Part", "Wide"]
FIXED = ["bool", *INTEGERS, "f32", "f64", "timestamp", "duration", "uuid", *ENUMS, *FLAGS]
TEXTS = ["string", "bytes"]
NO_KEYS = {"f32", "f64", "timestamp", "duration", *FLAGS}

HEAD = """/// Every type of the language at every place, in every tier.
/// Made by tests/vectors/wide/make_schema.py.
module vectors.wide;

enum Rank: u8 { bm25 = 0, pagerank = 1, both = 7 }
enum Sign: i32 { minus = -1, zero = 0, plus = 1, least = -2147483648, most = 2147483647 }
open enum Lang: u16 { en = 0, ko = 300, last = 65535 }
open enum Serial: i64 { first = 0, least = -9223372036854775808, most = 9223372036854775807 }
flags Part: u8 { title, body, url = 7 }
flags Wide: u64 { low, middle = 31, high = 63 }
"""

HAND = """
/// 0 x, 4 y; 8 in all.
@tier(memcpy) struct Point { x: f32; y: f32; }

/// 0 flag, 1 rank, 2 padding, 4 id, 8 pair (16 bytes), 24 flags, 27 padding; 28 in all.
@tier(memcpy) struct Row { flag: bool; rank: Rank; id: u32; pair: array<Point, 2>; flags: array<bool, 3>; }

@tier(memcpy) struct Nothing {}

@tier(febird) struct Blank {}

/// Contains itself through a list, a map, an optional.
@tier(febird) struct Tree { value: i32; children: list<Tree>; named: map<string, Tree>; next: Tree?; }

@tier(febird) union Value {
  1: number: f64;
  2: text: string;
  3: points: list<Point>;
  200: nested: list<Value>;
  5: part: Part;
  6: named: map<string, Value>;
  7: blank: Blank;
}

/// Containers in containers.
@tier(febird) struct Nested {
  rows: list<list<u16>>;
  maybes: list<i64?>;
  texts: map<u8, list<string?>>;
  fixed: array<array<i32, 2>, 2>;
  sets: list<set<i16>>;
  points: list<Point>;
  table: list<Row>;
  maybe_rows: list<u32>?;
  flags: list<bool>;
  trees: map<string, Tree>;
  values: array<Value, 2>;
  long: list<u64>;
}

/// Maps of integers to integers, which lie in blocks; `ranks` and the outer one of `nested` lie in pairs.
@tier(febird) struct Blocks {
  ints: map<i32, i32>;
  shorts: map<u16, i64>;
  longs: map<u64, i16>;
  waits: map<Sign, duration>;
  signs: map<i64, Sign>;
  bits: map<Lang, Wide>;
  serials: map<Serial, u32>;
  words: map<i16, Lang>;
  ranks: map<u16, Rank>;
  nested: map<u32, map<i16, u16>>;
}

/// Elements that take no bytes.
@tier(febird) struct Empties { nothings: list<Nothing>; blanks: list<Blank>; }

@tier(febird) struct Defaulted {
  number: i32 = -7;
  text: string = "text";
  list: list<u32> = [1, 2];
  rank: Rank = Rank.both;
  wait: duration = 30s;
  maybe: u8? = 5;
}

@tier(archive) union Contact {
  1: mail: string;
  2: number: u64;
  4: numbers: list<u32>;
  5: row: Row;
  6: person: Person;
  7: rank: Rank;
  9: others: list<Contact>;
}

@tier(archive) struct Person {
  1: name: string;
  2: age: u8?;
  15: tags: map<string, string>;
  16: contact: Contact?;
}

/// Numbers out of order, defaults, optionals, containers in containers, other tiers within.
@tier(archive) struct Config {
  3: owner: Person?;
  1: name: string;
  2: ttl: duration = 30s;
  4: ratio: f32 = 0.25;
  5: rank: Rank = Rank.both;
  6: people: list<Person>;
  7: by_id: map<u64, Person>;
  8: nested: list<list<u16>>;
  9: maybes: list<string?>;
  10: maybe_list: list<i32>?;
  11: by_uuid: map<uuid, u8>;
  12: row: Row;
  13: rows: list<Row>;
  14: tree: Tree;
  20: value: Value?;
  21: contacts: array<Contact, 2>;
  22: pairs: array<i16, 2> = [1, -1];
  23: names: set<string>;
  24: points: map<Rank, Point>;
  25: child: Config?;
  26: by_rank: map<Rank, list<u32>>;
  27: by_text: map<string, list<u32>>;
  28: deep: map<uuid, map<string, u8?>>;
  29: signs: map<u8, Sign>;
  30: choices: map<bool, Contact>;
  reserved 17 .. 19, "colour";
}

/// The other way round: archive inside febird.
@tier(febird) struct Envelope {
  id: u32;
  config: Person;
  contacts: list<Contact>;
  by_name: map<string, Person>;
  maybe: Person?;
  behind: u16;
}

/// A graph: objects that are shared, and refer to each other and to themselves.
@tier(archive) struct Node {
  1: name: string;
  2: next: ref<Node>?;
  3: others: list<ref<Node>>;
  4: place: Place?;
  5: by_name: map<string, ref<Site>>;
}

@tier(archive) struct Site { 1: name: string; 2: owner: ref<Node>; }

@tier(archive) union Place { 1: site: ref<Site>; 2: node: ref<Node>; 3: text: string; }

/// Refers, but nobody refers to it.
@tier(archive) struct Map { 1: title: string; 2: start: ref<Node>; 3: home: Place; }

@tier(febird) struct Atlas { title: string; maps: list<Map>; node: Node?; }

error Refused { why: Value; config: Person; }
error Gone {}

service Everything {
  nothing();
  @oneway touch(id: u32);
  one(value: i32) -> i32;
  put(config: Config, maps: list<Map> = []) -> (id: u64, value: Value) throws Refused, Gone;
  rows(rows: list<Row>, numbers: list<i64>) -> list<Row>;
}
"""


def camel(word: str) -> str:
    return word[0].upper() + word[1:]


def fields(word: str) -> list[str]:
    made = [
        f"one: {word}",
        f"maybe: {word}?",
        f"many: list<{word}>",
        f"fixed: array<{word}, 3>",
        f"named: map<string, {word}>",
    ]
    if word not in NO_KEYS:
        made += [f"distinct: set<{word}>", f"keyed: map<{word}, bool>"]
    return made


def structs(word: str) -> str:
    lines = []
    if word in FIXED:
        lines.append(
            f"@tier(memcpy) struct Memcpy{camel(word)} "
            f"{{ first: bool; one: {word}; fixed: array<{word}, 3>; last: u8; }}"
        )
    lines.append(f"@tier(febird) struct Febird{camel(word)} {{ {'; '.join(fields(word))}; }}")
    numbered = "; ".join(f"{number}: {field}" for number, field in enumerate(fields(word), 1))
    lines.append(f"@tier(archive) struct Archive{camel(word)} {{ {numbered}; }}")
    return "\n".join(lines) + "\n"


def cpp_types(schema: str) -> str:
    """`MF_WIDE(febird, Tree)`; `MF_WIDE(graph, Node)` where a value is the handle of a graph."""
    named = re.findall(r"(?:@tier\((\w+)\) )?(?:struct|union|error) (\w+)", schema)
    graphs = {"Node", "Site", "Place", "Map"}
    lines = [f"MF_WIDE({'graph' if name in graphs else tier or 'febird'}, {name})" for tier, name in named]
    return "// Made by tests/vectors/wide/make_schema.py.\n" + "\n".join(lines) + "\n"


def main() -> None:
    # `mfidlc fmt` lays it out.
    schema = HEAD + "\n" + "\n".join(structs(word) for word in [*FIXED, *TEXTS]) + HAND
    SCHEMA.write_text(schema)
    CPP_TYPES.write_text(cpp_types(schema))


if __name__ == "__main__":
    main()
