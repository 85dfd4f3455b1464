"""Which types the generated C++ looks at before it writes them: those that can hold what readers refuse, and
no others (mf/codec/readable.hpp).
"""

import re
from pathlib import Path

from mfidl.compiler import check
from mfidl.emit.cpp import generate
from mfidl.emit.output import EmitOptions


def asked(folder: Path, text: str) -> set[str]:
    """The types of the schema that are looked at."""
    source = folder / "m.mfidl"
    source.write_text(f"module m;\n{text}")
    outcome = check([str(source)])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    files = {each.path: each.text for each in generate(outcome.program, EmitOptions())}
    text = files["m.hpp"]
    return set(re.findall(r"^struct Readable<::m::(\w+)>", text, re.MULTILINE))


def test_numbers_alone_are_not(tmp_path: Path) -> None:
    assert not asked(
        tmp_path,
        """
open enum Lang: u16 { en = 0 }
flags Part: u8 { title }
@tier(custom) @cpp.codec("g.hpp", "g::Geo", "g::Codec") struct Geo;
struct Fixed { x: u32; flag: bool; lang: Lang; part: Part; axes: array<f64, 3>; id: uuid; }
struct Row { rows: list<Fixed>; named: map<u32, bytes?>; at: timestamp; geo: Geo; }
@tier(archive) struct Stored { 1: row: Row; 2: ids: set<i64>; }
union Either { 1: row: Row; 2: wait: duration; }
service S { f(rows: list<Row>, either: Either) -> (a: Fixed, b: list<u8>); }
""",
    )


def test_text_closed_enums_and_references_are_wherever_they_stand(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        """
enum Rank: u8 { a = 0 }
struct Plain { x: u32; }
struct Fixed { x: u32; rank: Rank; }
struct Holder { many: list<map<u32, Fixed?>>; plain: Plain; }
error Why { text: string; }
union Either { 1: plain: Plain; 2: keys: set<string>; }
@tier(archive) struct Node { 1: next: ref<Node>?; }
struct Graph { node: Node; }
@tier(memcpy) struct Nothing {}
struct Empty { row: list<Nothing>; }
service S { f(plain: Plain) -> (either: Either, x: u32); g(name: string); }
""",
    )
    assert found == {"Fixed", "Holder", "Why", "Either", "Node", "Graph", "Empty", "SFResult", "SGRequest"}


def test_what_nests_without_a_bound_or_deep_is(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        """
struct Tree { x: u32; kids: list<Tree>; }
struct Even { odd: Odd?; }
struct Odd { even: list<Even>; }
union Chain { 1: end: bool; 2: more: list<Chain>; }
struct Leaf { x: u32; }
"""
        + "".join(f"struct S{i} {{ next: list<S{i + 1}>; }}\n" for i in range(11))
        + "struct S11 { bytes: list<u8>; }\n",
    )
    assert found == {"Tree", "Even", "Odd", "Chain", "S0", "S1", "S2", "S3"}  # S4 has 16 levels
