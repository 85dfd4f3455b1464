"""What `check` accepts, every other command takes too: no exception, whatever odd things it says."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfidl.cli.group import cli
from mfidl.compiler import Exit, check
from tests.compiler.corpus import ROOT

ODD = {
    "nothing": "",
    "empty": "struct S { } error E { } service V { } open enum O: u8 { } flags F: u8 { }",
    "first_of_empty": "struct S { e: O; l: list<O>; a: array<F, 2>; u: U; } open enum O: i64 { }"
    " flags F: u64 { } union U { 1: o: O; }",
    "methods": "error E { } service V { f(); g() -> u8; h(a: O? = []) -> (b: O) throws E; }"
    " flags O: u8 { x }",
    "words": "struct class { def: u8 = 1; int: string? = \"\"; } enum namespace: u8 { None = 1, auto = 0 }",
    "alone": "struct S { s: S?; l: list<S> = []; m: map<u8, S>? = { }; }"
    " const C: S = { l: [], m: { 1: { l: [] } } };",
    "unions": "union U { 1: u: list<U>; 2: s: S; } struct S { u: U? = { u: [{ u: [] }] }; }"
    " service V { f(u: U = { s: { } }) -> U; }",
    "limits": "const A: i64 = -9223372036854775808; const B: u64 = 18446744073709551615;"
    " const T: string = \"\\0\\\\??/\";"
    " struct S { t: timestamp = \"1970-01-01T00:00:00Z\"; d: duration? = 0ns; i: i32 = -2147483648; }",
    "errors": "error E { w: string = \"x\"; l: L; o: list<L>? = [{ }]; } struct L { e: u8 = 1; }"
    " service V { f(a: u8 = 1, b: L, c: list<u8>? = []) throws E; }",
    "tiers": "@tier(archive) struct A { 1: a: A?; 2: r: ref<A>; 4: l: list<u8>? = []; }"
    " struct H { a: list<H?>; } @tier(memcpy) struct M { a: array<u8, 3> = [1, 2, 3]; }",
    "inner": "struct C { struct D { x: u8; enum E: u8 { a = 1 } } }"
    " union U { struct U { u: U?; } 1: u: U; }"
    " @tier(archive) struct A { @tier(archive) struct A { 1: r: ref<A>; } 1: a: A; }"
    " service V { error E { struct V { v: C.D.E; } v: V; } type T = list<C>; flags f_: u8 { x }"
    " f(t: T, c: C.D) -> stream<U.U> throws E; }"
    " service W extends V { struct f_ { x: V.f_ = V.f_.x; } g(f: f_); }"
    " struct int { struct str { list_: u8; } enum None: u8 { int = 0 } str_: str; none: None = None.int; }",
    "topics": "struct P { x: f64 = 1e300; } topic T: P; agent a: string;"
    " service V per a { s(x: stream<P>) -> stream<P>; }",
}  # fmt: skip

_HEAD = """module odd;
open enum Open: u8 { }
enum Rank: i16 { low = -3, high = 7 }
flags Part: u16 { a, b = 9 }
struct Leaf { x: i32 = 1; y: list<u8>? = []; }
union Choice { 3: leaf: Leaf; 9: many: list<Choice>; }
type Row = list<u16>;
"""

_LEAVES = [
    ("bool", ["true"]), ("u8", ["0", "255"]), ("i64", ["-9223372036854775808"]), ("f32", ["0.5", "-0.0"]),
    ("string", ['""', '"a\\0b"', '"??/"']), ("bytes", ['""', '"\\xff"']), ("duration", ["0ns", "-3ms"]),
    ("uuid", ['"123e4567-e89b-12d3-a456-426614174000"']), ("timestamp", ['"2024-02-29T12:30:45.5Z"']),
    ("Rank", ["Rank.low"]), ("Part", ["[]", "[Part.a, Part.b]"]), ("Open", []), ("Row", ["[]", "[1, 2]"]),
    ("Leaf", ["{ }", "{ y: [1] }"]),
    ("Choice", ["{ leaf: { } }", "{ many: [{ leaf: { x: 2 } }, { many: [] }] }"]),
]  # fmt: skip
_KEYS = {"bool", "u8", "i64", "string", "bytes", "uuid", "Rank"}

Typed = tuple[str, str | None]  # a type and a value of it; not all have one that can be written


@st.composite
def _typed(draw: st.DrawFn, depth: int = 2, optional: bool = True) -> Typed:
    if optional and draw(st.booleans()):
        type_, value = draw(_typed(depth, False))
        return f"{type_}?", value
    form = draw(st.sampled_from(["leaf", "list", "set", "array", "map"])) if depth else "leaf"
    if form == "leaf":
        name, values = draw(st.sampled_from(_LEAVES))
        return name, draw(st.sampled_from(values)) if values else None
    if form == "set":
        key, values = draw(st.sampled_from([each for each in _LEAVES if each[0] in _KEYS]))
        return f"set<{key}>", f"[{draw(st.sampled_from(['', *values]))}]"
    type_, value = draw(_typed(depth - 1))
    if form == "array":
        return f"array<{type_}, 2>", None if value is None else f"[{value}, {value}]"
    held = draw(st.integers(0, 2)) if value is not None else 0
    if form == "list":
        return f"list<{type_}>", f"[{', '.join([str(value)] * held)}]"
    key, keys = draw(st.sampled_from([each for each in _LEAVES if each[0] in _KEYS]))
    return f"map<{key}, {type_}>", f"{{ {keys[0]}: {value} }}" if held else "{ }"


@st.composite
def _schemas(draw: st.DrawFn) -> str:
    members = draw(st.lists(st.tuples(_typed(), st.booleans()), min_size=1, max_size=6))
    fields = [
        f"f{at}: {type_}{f' = {value}' if with_default and value is not None else ''}"
        for at, ((type_, value), with_default) in enumerate(members)
    ]
    constants = [
        f"const C{at}: {type_} = {value};" for at, ((type_, value), _) in enumerate(members) if value
    ]
    inside = "; ".join(fields)
    return "\n".join(
        [
            f"{_HEAD}struct S {{ {inside}; own: list<S>; }}",
            f"error E {{ {inside}; }}",
            f"service V {{ f({', '.join(fields)}) -> S throws E; }}",
            *constants,
        ]
    )


def takes(folder: Path, schema: Path) -> None:
    out = folder / "out"
    copy = folder / "copy.mfidl"
    copy.write_bytes(schema.read_bytes())
    paths = ["-I", str(schema.parent), "-I", str(schema.parent / "lib")]
    paths = paths if (schema.parent / "lib").is_dir() else paths[:2]
    for command in (
        ["compile", "--cpp", str(out / "cpp"), "--python", str(out / "python"), *paths, str(schema)],
        ["explain", *paths, str(schema)],
        ["doc", "--out", str(out / "doc"), *paths, str(schema)],
        ["descriptor", "--out", str(out / "descriptor"), *paths, str(schema)],
        ["proto", "--out", str(out / "proto"), *paths, str(schema)],
        ["lint", *paths, str(schema)],
        ["fmt", str(copy)],
    ):
        done = CliRunner().invoke(cli, command, catch_exceptions=False)
        findings = {0, 1} if command[0] == "lint" else {0}
        assert done.exit_code in findings, f"{command[0]}: {done.output}"
    for each in (out / "python").rglob("*.py"):
        compile(each.read_text(), str(each), "exec")


@pytest.mark.parametrize("name", ODD)
def test_odd_schemas(name: str, tmp_path: Path) -> None:
    schema = tmp_path / "odd.mfidl"
    schema.write_text(f"module odd;\n{ODD[name]}\n")
    outcome = check([str(schema)])
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    takes(tmp_path, schema)


SOUND = [path for path in sorted(ROOT.rglob("*.stderr")) if not path.read_text()]


@pytest.mark.parametrize("expected", SOUND, ids=[path.stem for path in SOUND])
def test_sound_schemas_of_the_corpus(expected: Path, tmp_path: Path) -> None:
    takes(tmp_path, expected.with_suffix(".mfidl"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("accepted")


@settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(schema=_schemas())
def test_types_with_defaults_of_every_kind(folder: Path, schema: str) -> None:
    path = folder / "odd.mfidl"
    path.write_text(schema)
    outcome = check([str(path)])
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    takes(folder, path)
