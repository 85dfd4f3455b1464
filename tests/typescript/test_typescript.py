"""A generator that uses only the descriptor of mfidlc: TypeScript, checked against the vectors with Node."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mf.codec.fault import Fault

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests/vectors"
GENERATOR = ROOT / "examples/typescript"
HARNESS = Path(__file__).parent / "harness.mjs"

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="needs nodejs, which tools/bootstrap test installs"
)


def generate(out: Path, *schemas: Path, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mfidl",
        "compile",
        *map(str, schemas),
        "--typescript",
        str(out),
        *options,
    ]
    path = os.pathsep.join([str(GENERATOR), os.environ["PATH"]])
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0:
        (out / "package.json").write_text('{"type": "module"}\n')
    return done


def node(out: Path, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    command = ["node", str(HARNESS), str(out)]
    given = json.dumps(cases)
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


# The tiers that this generator supports; two schemas of the vectors have the others too.
LEFT_OUT = re.compile(
    r"W0908]: typescript: [a-z ]+ `[\w.]+` (has no codec|is left out|is of an unknown type)",
)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("typescript")
    done = generate(out, *sorted((VECTORS / "schemas").glob("*.mfidl")))
    warnings = [line for line in done.stderr.splitlines() if line.startswith(("warning[", "error["))]
    assert done.returncode == 0, done.stderr
    assert [line for line in warnings if not LEFT_OUT.search(line)] == []
    assert not any("`FebirdU32`" in line or "`Scalars`" in line for line in warnings)
    return out


def vectors() -> list[dict[str, Any]]:
    return [
        each for file in sorted((VECTORS / "codec").glob("*.json")) for each in json.loads(file.read_text())
    ]


def case(vector: dict[str, Any]) -> dict[str, Any]:
    name = vector.get("type") or vector["method"]
    schema = Path(vector["schema"]).stem
    return {"file": f"vectors/{schema}.js", "type": name, "hex": vector["hex"].replace(" ", "")}


# Of tier febird, but with archive values inside.
HOLDERS = re.compile(r"vectors\.wide\.(Envelope|Atlas|Refused|Everything\.put\.(params|results))")


def is_left_out(vector: dict[str, Any]) -> bool:
    name = vector.get("type") or vector["method"]
    return vector["tier"] in ("archive", "custom") or HOLDERS.fullmatch(name) is not None


def same(expected: Any, found: Any) -> bool:
    """Whether a value that Node decoded is the vector's."""
    if isinstance(found, dict) and found.keys() == {"big"}:
        return bool(int(found["big"]) == expected)
    if isinstance(expected, dict):
        if isinstance(found, dict) and found.keys() == {"kind", "value"} and len(expected) == 1:
            ((name, inner),) = expected.items()
            return bool(name == found["kind"] and same(inner, found["value"]))
        return expected.keys() == set(found) and all(same(expected[name], found[name]) for name in expected)
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    if isinstance(expected, str) and re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(found)):
        return expected == str(found).replace("-", "")
    return bool(expected == found)


def test_every_vector_is_read_and_written(generated: Path) -> None:
    wanted = vectors()
    read = 0
    for vector, result in zip(wanted, node(generated, [case(each) for each in wanted]), strict=True):
        if "absent" in result:
            assert is_left_out(vector), vector["name"]
            continue
        read += 1
        assert "error" not in result, (vector["name"], result)
        assert same(vector["value"], result["value"]), (vector["name"], vector["value"], result["value"])
        assert result["hex"] == case(vector)["hex"], vector["name"]
    assert read >= 416


def run_wide(generated: Path, file: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Vectors of every type of the language, and what became of those that TypeScript has a codec for."""
    loaded = json.loads((VECTORS / f"wide/{file}.json").read_text())
    wanted = [each for each in loaded if each["tier"] in ("memcpy", "febird")]
    cases = [
        {"file": "vectors/wide.js", "type": each["type"], "hex": each["hex"].replace(" ", "")}
        for each in wanted
    ]
    pairs = list(zip(wanted, node(generated, cases), strict=True))
    assert all(is_left_out(vector) for vector, result in pairs if "absent" in result)
    return [pair for pair in pairs if "absent" not in pair[1]]


@pytest.mark.parametrize(("file", "least"), [("memcpy", 300), ("febird", 600)])
def test_every_type_at_every_place_is_read_and_written(generated: Path, file: str, least: int) -> None:
    pairs = run_wide(generated, file)

    wrong = [(vector["name"], result) for vector, result in pairs if result.get("hex") != vector["hex"]]
    assert wrong == []
    assert len(pairs) >= least


def test_hostile_bytes_have_the_fault_the_offset_and_the_path_of_the_law(generated: Path) -> None:
    pairs = run_wide(generated, "hostile")

    for vector, result in pairs:
        found = (result.get("fault"), result.get("offset"), result.get("path"))
        assert found == (Fault[vector["fault"].upper()], vector["offset"], vector["path"]), vector["name"]
    assert len(pairs) >= 70


def test_damaged_bytes_end_in_typed_errors_and_no_prefix_is_a_value(generated: Path) -> None:
    wanted = [each for each in vectors() if each["by"] == "hand"]
    results = node(generated, [{**case(each), "damage": 200} for each in wanted])
    assert sum(result["prefixes"] for result in results) == 0
    assert sum(result["refused"] for result in results) > 1000


@pytest.mark.parametrize(
    ("type_", "data", "fault", "message"),
    [
        ("Hit", "", "truncated", "Hit.doc, at byte 0: the bytes end inside a number"),
        ("Hit", "8000 0000803f 00 00", "malformed_number", "Hit.doc, at byte 0: a number is not in its"),
        ("Hit", "ffffffff1f 0000803f 00 00", "number_out_of_range", "Hit.doc, at byte 0: a number does not"),
        ("Hit", "ffffffffffffffffffff01", "malformed_number", "Hit.doc, at byte 0: a number is longer than"),
        ("Hit", "01 0000803f 02 c328 00", "invalid_utf8", "Hit.title, at byte 6: text is not UTF-8"),
        ("Hit", "01 0000803f 05 c3a9 eda080 00", "invalid_utf8", "Hit.title, at byte 8: text is not UTF-8"),
        ("Hit", "01 0000803f 09 6161", "count_too_large", "Hit.title, at byte 5: length 9, but 2 bytes left"),
        (
            "Hit",
            "01 0000803f 00 10 010203",
            "count_too_large",
            "Hit.positions, at byte 6: 4 elements need at",
        ),
        (
            "Hit",
            "01 0000803f 00 12 01020304050607",
            "truncated",
            "Hit.positions, at byte 7: 16 bytes expected",
        ),
        (
            "Hit",
            "01 0000803f 00 0f 0102030405060708",
            "number_out_of_range",
            "Hit.positions, at byte 6: integ",
        ),
        ("Hit", "01 0000803f 00 fcffffff3f", "count_too_large", "Hit.positions, at byte 6: 4294967295 elem"),
        ("Hit", "01 0000803f 00 8080808040", "number_out_of_range", "Hit.positions, at byte 6: 4294967296 e"),
        (
            "Hit",
            "01 0000803f 00 00 00",
            "trailing_bytes",
            "Hit, at byte 7: 1 byte after the end of the value",
        ),
        (
            "Integers",
            "02 00 00 00 00 00 00 00 00",
            "invalid_bool",
            "Integers.a, at byte 0: bool byte 2 is ne",
        ),
        (
            "Posting",
            "01000000 0200 07 00",
            "unknown_enum_value",
            "Posting.rank, at byte 6: 7 is not a member",
        ),
        ("Posting", "01000000 0200", "truncated", "Posting, at byte 0: 8 bytes expected, 6 left"),
        ("Texts", "00 00 02", "invalid_bool", "Texts.name, at byte 2: presence byte 2 is neither 0 nor 1"),
        (
            "Maps",
            "02 0161 00 0161 00 00000000000000",
            "keys_not_ascending",
            "Maps.counts[1], at byte 4: keys are",
        ),
        (
            "Maps",
            "00 00 00 00 00 08 01 00 00 00",
            "keys_not_ascending",
            "Maps.signs[1], at byte 7: keys are not",
        ),
        (
            "Maps",
            "00 00 00 00 00 08 00 05 00 00",
            "unknown_enum_value",
            "Maps.signs[1], at byte 7: 5 is not a",
        ),
        ("Maps", "00 00 00 00 00 01 00 00 00", "malformed_number", "Maps.signs, at byte 5: an empty row has"),
        ("Tree", "00000001" * 64 + "00000000", "depth_exceeded", "nested deeper than 64"),
        ("Bounded", "00 00 00 00 00", None, "Bounded.limit: 0 is not in 1..1000"),
    ],
)
def test_wrong_bytes_are_located(
    generated: Path, type_: str, data: str, fault: str | None, message: str
) -> None:
    name = f"vectors.shapes.{type_}"
    wrong = {"file": "vectors/shapes.js", "type": name, "hex": data.replace(" ", "")}
    [result] = node(generated, [wrong])
    assert message in result.get("message", str(result))
    assert result["error"] == ("ValueError" if fault is None else "DecodeError")
    assert fault is None or result["fault"] == Fault[fault.upper()]


@pytest.mark.parametrize(
    ("type_", "expression", "message"),
    [
        ("Hit", "{doc: -1, score: 1, title: '', positions: []}", "Hit.doc: -1 does not fit in u32"),
        ("Hit", "{doc: 1.5, score: 1, title: '', positions: []}", "Hit.doc: expected u32, got 1.5"),
        ("Hit", "{doc: 1, score: 1e39, title: '', positions: []}", "Hit.score: 1e+39 does not fit in f32"),
        (
            "Hit",
            "{doc: 1, score: 1, title: '\\ud800', positions: []}",
            "Hit.title: text with a lone surrogate",
        ),
        (
            "Hit",
            "{doc: 1, score: 1, title: 'a', positions: [1, null]}",
            "Hit.positions[1]: expected u32, got null",
        ),
        ("Hit", "{doc: 1}", "Hit.score: expected f32, got undefined"),
        ("Posting", "{doc: 1, tf: 1, rank: 9}", "Posting.rank: 9 is not a member of vectors.shapes.Rank"),
        (
            "Integers",
            "{...m.Integers.decode(new Uint8Array(9)), e: 5}",
            "Integers.e: expected i64 (a bigint), got 5",
        ),
        (
            "Tree",
            "{value: 0, children: [, {value: 1, children: [], named: new Map()}], named: new Map()}",
            "Tree.children[0]: expected a vectors.shapes.Tree, got undefined",
        ),
        (
            "Tree",
            "(() => { const t = {value: 0, children: [], named: new Map()}; t.next = t; return t; })()",
            "nested",
        ),
    ],
)
def test_wrong_values_are_named_and_not_written(
    generated: Path, type_: str, expression: str, message: str
) -> None:
    [result] = node(
        generated,
        [{"file": "vectors/shapes.js", "type": f"vectors.shapes.{type_}", "expression": expression}],
    )
    assert result["error"] == "ValueError"
    assert message in result["message"]


def test_defaults_fill_what_is_not_given(generated: Path) -> None:
    hit = "{doc: 1, score: 0, title: '', positions: []}"
    asked = {"file": "vectors/shapes.js", "type": "vectors.shapes.Defaults"}
    [result] = node(generated, [{**asked, "expression": f"m.Defaults.make({{hit: {hit}, title: 'mine'}})"}])
    assert result["value"]["limit"] == 1000
    assert result["value"]["stop_words"] == ["a", "the"]
    assert result["value"]["wait"] == {"big": "30000000000"}
    assert result["value"]["title"] == "mine"


ROWS = """
module rows;
open enum Wide: u64 { all = 18446744073709551615 }
enum Sign: i16 { minus = -1, plus = 1 }
struct Rows {
  numbers: list<i64>;
  checked: list<u32 @range(..300)>;
  signs: array<Sign, 2>;
  wides: set<Wide>;
  times: list<timestamp>;
  waits: list<duration>;
  rows: list<array<u16, 257>>;
}
"""


def test_rows_take_the_width_that_each_block_needs(tmp_path: Path) -> None:
    (tmp_path / "rows.mfidl").write_text(ROWS)
    assert generate(tmp_path / "out", tmp_path / "rows.mfidl").returncode == 0
    rest = (
        "checked: [300], signs: [m.Sign.plus, m.Sign.minus], wides: new Set([256n, m.Wide.all]), times: [1n]"
    )
    many = "Array.from({length: 257}, (_, at) => at)"
    all_ = f"{{numbers: {many}.map((at) => BigInt(at - 128)), {rest}, waits: [-1n, 65536n], rows: [{many}]}}"
    wrong = all_.replace("[300]", "[1, 301]")
    at = {"file": "rows.js", "type": "rows.Rows"}
    good, bad = node(tmp_path / "out", [{**at, "expression": each} for each in (all_, wrong)])
    expected = [
        "8408 01"
        + bytes(each % 256 for each in range(-128, 128)).hex()
        + "8000",  # 257 x 4 + 0; code 1 behind
        "05 2c01",
        "00 01 ff",
        "0b 0001000000000000 ffffffffffffffff",
        "01 0100000000000000",
        "0a ffffffff 00000100",
        "01 04" + bytes(range(256)).hex() + "0001",
    ]
    assert good["hex"] == "".join(expected).replace(" ", "")
    assert bad["message"] == "Rows.checked[1]: 301 is not in ..300"


NASTY = """
module nasty.class;
import "other.mfidl" as o;
/// Ends */ early?
struct Map { __proto__: u32; constructor: string; class: map<string, o.Uint8Array>; hasOwnProperty: bool?; }
struct delete { x: list<i64?>; y: set<string>; z: map<u64, list<delete>>; }
flags Bits: u64 { low, high = 63, __proto__ = 2 }
flags Word: u32 { top = 31 }
enum Sign: i64 { least = -9223372036854775808, most = 9223372036854775807 }
open enum Wide: u64 { all = 18446744073709551615 }
/// One of many.
union any { 1: number: f64; 7: text: string @length(..4); 300: many: list<any>; nothing: o.Nothing; }
struct Uses { bits: Bits; word: Word; sign: Sign; wide: Wide; any: any; deep: array<array<o.Pair, 2>, 2>; }
const SIGN: Sign = Sign.least;
const EVERYTHING: Bits = [Bits.low, Bits.high];
const HUGE: u64 = 18446744073709551615;
const NAMES: map<string, list<u8>> = {"a": [1, 2], "b": []};
const ONE: any = { text: "t" };
const RAW: bytes = "\\xff\\x00";
@deprecated("use nothing")
service Service {
  delete(new: Map, class: delete) -> (function: any, mf: u8);
  Map();
  @oneway await(x: u8 = 3);
}
service ServiceDelete {}
struct ServiceDeleteParams { x: u8; }
"""
OTHER = """
module other;
struct Nothing {}
struct Pair { a: u8; b: u32; }
@tier(febird) struct Uint8Array { data: bytes; pairs: list<Pair>; }
"""


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    (folder / "nasty.mfidl").write_text(NASTY.replace("nothing: o.", "4: nothing: o."))
    (folder / "other.mfidl").write_text(OTHER)
    done = generate(folder / "out", folder / "nasty.mfidl", folder / "other.mfidl")
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out"


def test_names_of_the_language_and_large_numbers_survive(nasty: Path) -> None:
    at = {"file": "nasty/class.js"}
    pair = "[{a: 1, b: 2}, {a: 3, b: 4}]"
    uses = (
        f"{{bits: 1n << 63n, word: m.Word.top, sign: m.SIGN, wide: 5n, any: m.ONE, deep: [{pair}, {pair}]}}"
    )
    own = "Object.assign(JSON.parse('{\"__proto__\": 7}'), {constructor: 'c', class: new Map()})"
    results = node(
        nasty,
        [
            {**at, "type": "nasty.class.Uses", "expression": uses},
            {
                **at,
                "type": "nasty.class.any",
                "expression": "{kind: 'many', value: [m.ONE, {kind: 'nothing', value: {}}]}",
            },
            {**at, "type": "nasty.class.Map", "expression": own},
            {**at, "type": "nasty.class.any", "hex": "05"},
            {**at, "type": "nasty.class.any", "expression": "{kind: 'text', value: 'longer'}"},
            {**at, "type": "nasty.class.Service.delete.results", "hex": "0100000000000000000c"},
            {
                **at,
                "type": "nasty.class.delete",
                "expression": "{x: [], y: new Set(['\\u{10000}', '\\uffff']), z: new Map()}",
            },
        ],
    )
    pairs = "01000000 02000000 03000000 04000000".replace(" ", "") * 2
    least = "ff" * 9 + "01"
    assert results[0]["hex"] == "80" * 9 + "01" + "8080808008" + least + "05" + "070174" + pairs
    assert results[1]["hex"] == "ac02" + "02" + "070174" + "04"
    assert results[2]["hex"] == "07" + "0163" + "00" + "00"
    assert results[3]["message"] == "any, at byte 0: 5 is not an alternative of nasty.class.any"
    assert results[4]["message"] == "any.text: length 6 is not in 0..4"
    assert results[5]["value"] == {"function": {"kind": "number", "value": 0}, "mf": 12}
    assert results[6]["value"]["y"] == ["\uffff", "\U00010000"], "keys are in the order of their UTF-8 bytes"


MISUSES = {
    "m.Service.methods.delete.params.encode({})": "TS2345",
    "m.Uses.decode('x')": "TS2345",
    "const sign: m.Sign = 5n": "TS2322",
    "const one: m.any_ = { kind: 'none', value: 1 }": "TS2322",
    "const n: number = m.HUGE": "TS2322",
    "m.ServiceAwaitParams.make({ y: 1 })": "TS2345",
}


@pytest.mark.skipif(
    shutil.which("tsc") is None, reason="needs node-typescript, which tools/bootstrap test installs"
)
def test_the_types_are_right_for_the_compiler_of_typescript(nasty: Path, generated: Path) -> None:
    good = (
        "const p = m.ServiceAwaitParams.make({}); const x: number = p.x;"
        " const any: m.any_ = m.ONE; any.kind === 'text' && any.value.length"
    )
    lines = ['import * as m from "./nasty/class.js";', good, *MISUSES]
    (nasty / "use.ts").write_text(";\n".join(lines) + ";\n")
    shutil.copytree(generated / "vectors", nasty / "vectors", dirs_exist_ok=True)
    command = [
        "tsc",
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--target",
        "es2020",
        "--module",
        "node16",
    ]
    command += [
        "--moduleResolution",
        "node16",
        "use.ts",
        *(str(path) for path in sorted(nasty.rglob("*.d.ts"))),
    ]
    done = subprocess.run(command, cwd=nasty, capture_output=True, text=True, timeout=100, check=False)
    found = re.findall(r"^(\S+)\((\d+),\d+\): error (TS\d+)", done.stdout, re.MULTILINE)
    expected = [("use.ts", str(number), code) for number, code in enumerate(MISUSES.values(), 3)]
    assert found == expected, done.stdout


def test_what_typescript_cannot_have_is_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "s.mfidl").write_text(
        'module s;\nstruct A { name: string @pattern("a+"); all: map<string, list<string @pattern("b")>>; }\n'
        "@tier(archive) struct Stored { 1: name: string; }\n"
        "struct Holder { all: map<u8, list<Stored?>>; }\n"
        "error Lost { stored: Stored; }\n"
        "service S { keep(stored: Stored); name(a: A) -> A; fail() throws Lost; }\n"
    )
    done = generate(tmp_path / "out", tmp_path / "s.mfidl")
    assert done.returncode == 0, done.stderr
    assert "warning[W0908]: typescript: the @pattern of `name` is not checked in TypeScript" in done.stderr
    assert "the @pattern of `all` is not checked" in done.stderr
    assert "s.mfidl:2:12" in done.stderr
    assert "struct `Stored` has no codec, because it is of tier archive" in done.stderr
    assert "struct `Holder` has no codec, because `all` holds `Stored`" in done.stderr
    assert (
        "method `S.keep` is left out: `stored` holds `Stored`, which TypeScript has no codec" in done.stderr
    )
    assert "method `S.fail` is left out: it throws `Lost`" in done.stderr
    text = (tmp_path / "out/s.d.ts").read_text()
    assert "export interface Stored" in text
    assert "Codec<Stored>" not in text
    assert "keep" not in text


def test_an_unknown_option_is_refused_by_the_generator(tmp_path: Path) -> None:
    (tmp_path / "s.mfidl").write_text("module s;\n")
    done = generate(tmp_path / "out", tmp_path / "s.mfidl", options=("--typescript-opt", "runtme=x"))
    assert done.returncode == 1
    assert "error[E0908]: typescript: unknown option `runtme`" in done.stderr
    assert not (tmp_path / "out").exists()
    done = generate(tmp_path / "out", tmp_path / "s.mfidl", options=("--typescript-opt", "runtime=@acme/mf"))
    assert 'from "@acme/mf"' in (tmp_path / "out/s.js").read_text()
    assert not (tmp_path / "out/mf.js").exists()
