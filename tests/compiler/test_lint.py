"""`mfidlc lint`: each rule finds what it is for, leaves alone what it is not for, and can be quieted."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mfidl.compiler import Exit
from mfidl.diagnostics import Diagnostic
from mfidl.lint import CATALOGUE, OFF, Settings, lint_files
from mfidl.lint.rules import RULES
from mfidl.lint.whole import Whole
from tests.compiler.test_cli import mfidlc

LIBRARY = """module lib.words;
struct Word { text: string; }
@deprecated("use Word") struct Old { text: string; }
@deprecated error Gone { }
const MOST: u32 = 3;
open enum Lang: u16 { en = 0, @deprecated ko = 1 }
@deprecated agent shelf: string;
"""


@dataclass(frozen=True, slots=True)
class Case:
    """`wanted` are the texts under the carets in `hit`."""

    code: str
    hit: str
    wanted: tuple[str, ...]
    miss: str


def case(code: str, hit: str, wanted: str | tuple[str, ...], miss: str) -> Case:
    return Case(code, hit, (wanted,) if isinstance(wanted, str) else wanted, miss)


CASES = [
    case(
        "L0101", "struct search_hit { }", "search_hit", "struct SearchHit { } struct X { } struct HTTP2 { }"
    ),
    case("L0101", "service index { }\nenum E1_x: u8 { a = 0 }", ("index", "E1_x"), "agent shelf: string;"),
    case("L0102", "struct A { docId: u32; }", "docId", "struct A { doc_id: u32; x1: u32; in_: u32; }"),
    case(
        "L0102", "service S { doIt(Arg: u32) -> (R: u32); }", ("doIt", "Arg", "R"), "service S { do_it(); }"
    ),
    case(
        "L0102", "enum E: u8 { ZERO = 0 }\nagent Shelf: string;", ("ZERO", "Shelf"), "enum E: u8 { zero = 0 }"
    ),
    case("L0102", "union U { aB: u32; }", "aB", "union U { a_b: u32; }"),
    case("L0103", "const maxHits: u32 = 1;", "maxHits", "const MAX_HITS: u32 = 1; const A2: u32 = 2;"),
    case("L0104", "module Sf1.search;", "Sf1", "module sf1.search;"),
    case("L0105", "struct String { }\ntype List = u32;", ("String", "List"), "struct Text { }"),
    case(
        "L0106", "enum Rank: u8 { rank_a = 0 }", "rank_a", "enum Rank: u8 { a = 0, ranking = 1, rank_2 = 2 }"
    ),
    case("L0107", "module words;", "words", "module sf1.main;"),
    case(
        "L0108",
        "struct A { }\nstruct QSubscriber { }\ntopic Q : A;",
        "Q",
        "struct A { }\nstruct QReader { }\ntopic Q : A;",
    ),
    case(
        "L0108",
        "struct A { }\ntopic Q : A;\ntopic QAsync : A;",
        "QAsync",
        "struct A { }\ntopic Q : A;\ntopic P : A;",
    ),
    case("L0108", "struct SClient { }\nservice S { }", "S", "struct Client { }\nservice S { }"),
    case("L0201", "service S { }", "S", "/// Does it.\nservice S { }"),
    case("L0202", "service S { f(); }", "f", "service S {\n/// Does it.\nf(); }"),
    case("L0203", "struct A { }\ntype B = u32;", ("A", "B"), "/// It.\nstruct A { }"),
    case("L0204", "struct A { x: u32;\n/// lost\n}", "/// lost", "struct A {\n/// kept\nx: u32; }"),
    case("L0204", "@deprecated\n/// lost\nstruct A { }", "/// lost", "/// kept\n@deprecated struct A { }"),
    case("L0204", "struct A { x:\n/// lost\nu32; }", "/// lost", "service S { f(\n/// kept\nx: u32); }"),
    case("L0205", "struct A {\nx: u32; /// of x?\ny: u32; }", "/// of x?", "struct A { // of x\nx: u32; }"),
    case("L0206", "/// TODO: rename\nstruct A { }", "TODO", "// TODO: rename\n/// Todos.\nstruct A { }"),
    case(
        "L0207",
        "struct A {\n/// how many there are\nx: u32;\n/// how many there are\ny: u32; }",
        "y",
        "struct A {\n/// how many\nx: u32;\n/// how many\ny: u32; }",
    ),
    case("L0301", 'import "lib.mfidl";', '"lib.mfidl"', 'import "lib.mfidl"; struct A { x: words.Word; }'),
    case(
        "L0301",
        'import "lib.mfidl" as words;\nimport "other.mfidl";\nstruct A { x: words.Word; }',
        '"other.mfidl"',
        'import "lib.mfidl" as w; struct A { x: list<u32 @range(..w.MOST)>; y: u16 = 3; }',
    ),
    case(
        "L0301",
        'import "lib.mfidl" as w;\nstruct A { w: u32; }',
        '"lib.mfidl"',
        'import "lib.mfidl"; open enum E: u8 { a = 0 } const L: words.Lang = words.Lang.en;',
    ),
    case("L0302", "error E { }\nservice S { f(); }", "E", "error E { } service S { f() throws E; }"),
    case("L0302", "error E { }\nerror F { }\nservice S { f() throws F; }", "E", "error E { }"),
    case("L0303", "agent a: u32;\nservice S { f(); }", "a", "agent a: u32; service S per a { f(); }"),
    case("L0303", "agent a: u32;\nagent b: u32;\nservice S per b { f(); }", "a", "agent a: u32;"),
    case(
        "L0304",
        'import "lib.mfidl";\nstruct A { x: list<words.Old>; }',
        "words.Old",
        'import "lib.mfidl"; @deprecated struct A { x: words.Old; } struct B { @deprecated y: words.Old; }',
    ),
    case(
        "L0304",
        'import "lib.mfidl" as w;\n'
        "struct A { x: w.Lang = w.Lang.ko; }\nservice S per w.shelf { f() throws w.Gone; }",
        ("w.Lang.ko", "w.shelf", "w.Gone"),
        'import "lib.mfidl" as w; struct A { x: w.Lang = w.Lang.en; }',
    ),
    case("L0401", "enum E: u8 { a = 1 }", "E", "enum E: u8 { a = 1, b = 0x0 } flags F: u8 { a = 1 }"),
    case("L0402", "enum E: u8 { a = 0 }", "E", "open enum E: u8 { a = 0 }"),
    case(
        "L0501", "service S { get_x() -> u32; }", "get_x", "service S { @idempotent get_x() -> u32; gets(); }"
    ),
    case("L0502", "service S { f(); }", "f", "service S { @deadline(1s) f(); @oneway g(); }"),
    case(
        "L0503",
        "service S { f(a: bool, b: bool, c: bool); }",
        "b",
        "service S { f(a: bool, x: u32, b: bool); }",
    ),
    case(
        "L0504",
        "struct D { }\nservice S { add(d: D); add_all(ds: list<D>); }",
        "add_all",
        "struct D { } service S { add(d: D); remove_all(ds: list<D>); put(a: u32); put_all(a: list<u64>); }",
    ),
    case(
        "L0505",
        "agent shelf: string;\nservice S per shelf { f(shelf: string); }",
        "shelf",
        "agent shelf: string; service S per shelf { f(book: string); }",
    ),
    case(
        "L0506",
        "service S { f(a: string, b: list<u32>?); }",
        ("a", "b"),
        "service S { f(a: string @length(..9), b: u32); }",
    ),
    case(
        "L0507",
        f"service S {{ f({', '.join(f'p{i}: u32' for i in range(8))}); }}",
        "f",
        f"service S {{ f({', '.join(f'p{i}: u32' for i in range(7))}); }}",
    ),
    case("L0601", "struct A { a: u8; b: u64; c: u8; }", "A", "struct A { b: u64; a: u8; c: u8; }"),
    case("L0601", "struct A { a: u8; b: u64; c: u8; }", "A", "struct A { a: u8; b: u64; c: u8; d: string; }"),
    case("L0602", "struct A { x: map<u32, list<bool>>; }", "list<bool>", "struct A { x: array<bool, 4>; }"),
    case("L0603", "type B = list<u8>?;", "list<u8>", "type B = list<u8 @range(1..)>; type C = bytes;"),
    case(
        "L0604",
        "struct A { timeout_ms: u32; ttl: i64; }",
        ("timeout_ms", "ttl"),
        "struct A { timeout: duration; items: u32; forms: u32; }",
    ),
    case("L0605", "struct A { x: list<u32>?; }", "x", "struct A { x: list<u32>; y: u32?; }"),
    case(
        "L0606",
        "@tier(archive) struct A { 1: a: u32; 4: b: u32; reserved 2; }",
        "A",
        "@tier(archive) struct A { 1: a: u32; 4: b: u32; reserved 2..3; }",
    ),
    case(
        "L0606",
        "@tier(archive) struct A { 100000: a: u32; }",
        "A",
        "union U { 1: a: u32; 2: b: string; } union V { a: u32; }",
    ),
    case(
        "L0608",
        "struct A { x: u64 = 1; y: f32 = 2; z: u8? = 3; }",
        "A",
        "struct A { x: u8 = 1; y: u8 = 3; } struct B { x: u8 = 1; } struct C { x: u8 = 1; y: u8 = 2; z: u8; }"
        " struct D { 1: x: u8 = 1; 2: y: u8 = 2; }",
    ),
    case(
        "L0607",
        "struct A { x: u32; }",
        "A",
        "@tier(memcpy) struct A { x: u32; } struct B { x: string; } struct C { }",
    ),
]


def lint(folder: Path, text: str, settings: Settings) -> list[Diagnostic]:
    (folder / "lib.mfidl").write_text(LIBRARY)
    (folder / "other.mfidl").write_text("module other;")
    (folder / "main.mfidl").write_text(whole(text))
    outcome = lint_files([str(folder / "main.mfidl")], [], settings)
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    assert outcome.exit is (Exit.SCHEMA if outcome.diagnostics else Exit.OK)
    return outcome.diagnostics


def whole(text: str) -> str:
    return text if re.search("^module ", text, re.MULTILINE) else f"module m;\n{text}"


def only(code: str) -> Settings:
    return Settings(frozenset((code, "L0901", "L0902")))


@pytest.mark.parametrize("each", CASES, ids=lambda each: each.code)
def test_a_rule_finds_what_it_is_for(tmp_path: Path, each: Case) -> None:
    found = lint(tmp_path, each.hit, only(each.code))
    assert [(one.code, one.span.text() if one.span else "") for one in found] == [
        (each.code, text) for text in each.wanted
    ]
    assert {one.severity for one in found} == {"warning"}


@pytest.mark.parametrize("each", CASES, ids=lambda each: each.code)
def test_a_rule_leaves_alone_what_it_is_not_for(tmp_path: Path, each: Case) -> None:
    assert [one.message for one in lint(tmp_path, each.miss, only(each.code))] == []


@pytest.mark.parametrize("above", [True, False], ids=["line above", "same line"])
@pytest.mark.parametrize("each", CASES, ids=lambda each: each.code)
def test_a_comment_allows_what_a_rule_finds(tmp_path: Path, each: Case, above: bool) -> None:
    found = lint(tmp_path, each.hit, only(each.code))
    rows = whole(each.hit).split("\n")
    for line in sorted({one.span.line() for one in found if one.span}, reverse=True):
        if above:
            rows.insert(line - 1, f"// lint: allow({each.code})")
        elif "//" in rows[line - 1]:
            return  # a doc comment goes to the end of its line
        else:
            rows[line - 1] += f" // lint: allow(L0000, {each.code})"
    quiet = lint(tmp_path, "\n".join(rows), only(each.code))
    assert [one.code for one in quiet if one.code != "L0901"] == []


def test_every_rule_is_in_the_catalogue_and_has_its_cases() -> None:
    assert list(CATALOGUE) == [*RULES, "L0901", "L0902"]
    assert {each.code for each in CASES} == set(RULES)
    assert set(CATALOGUE) > OFF
    for row in CATALOGUE.values():
        assert row.title
        assert row.explanation
        assert ("Off unless asked for." in row.explanation) == (row.code in OFF)


# Suppression ------------------------------------------------------------------------------------------------


def test_an_allowance_reaches_over_doc_comments_and_annotations(tmp_path: Path) -> None:
    text = """service S {
      // lint: allow(L0503)
      /// Opens it.
      @idempotent
      @deadline(1s)
      open(read: bool, write: bool);
      close(read: bool, write: bool);
    }"""
    [found] = lint(tmp_path, text, only("L0503"))
    assert found.span is not None
    assert found.span.line() == 8


def test_an_unknown_code_in_an_allowance_is_answered_with_the_nearest(tmp_path: Path) -> None:
    [found] = lint(tmp_path, "struct A { } // lint: allow(L0O503)", only("L0503"))
    assert (found.code, found.help) == ("L0901", "did you mean `L0503`?")
    assert found.span is not None
    assert found.span.text() == "L0O503"


def test_an_allowance_for_nothing_is_reported_if_its_rule_ran(tmp_path: Path) -> None:
    text = "struct A { } // lint: allow(L0503, L0602)"
    assert [each.code for each in lint(tmp_path, text, only("L0503"))] == ["L0902"]
    assert lint(tmp_path, text, Settings(frozenset(("L0901", "L0902")))) == []


def test_text_in_a_string_allows_nothing(tmp_path: Path) -> None:
    text = 'struct A { x: string = "// lint: allow(L0602)"; y: list<bool>; }'
    assert [each.code for each in lint(tmp_path, text, only("L0602"))] == ["L0602"]


# Settings and the command line ------------------------------------------------------------------------------


def run(folder: Path, *arguments: str) -> tuple[int, list[str], str]:
    done = mfidlc("lint", "--format", "json", *arguments, cwd=folder)
    codes = [each["code"] for each in json.loads(done.stdout)["diagnostics"]] if done.stdout else []
    return done.returncode, codes, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.mfidl").write_text("module a; struct bad_name { x: list<bool>; }")
    (tmp_path / "good.mfidl").write_text("module good; struct Good { x: u32; }")
    return tmp_path


def test_findings_are_exit_code_1_and_none_is_0(folder: Path) -> None:
    assert run(folder, "a.mfidl") == (1, ["L0101", "L0602"], "")
    assert run(folder, "good.mfidl") == (0, [], "")


def test_findings_are_shown_with_carets_and_counted_as_warnings(folder: Path) -> None:
    done = mfidlc("lint", "a.mfidl", cwd=folder)
    assert done.returncode == 1
    assert "warning[L0602]: each element of `list<bool>` takes a byte\n --> a.mfidl:1:32\n" in done.stderr
    assert "help: call it `BadName`" in done.stderr
    assert "2 warnings" in done.stderr


def test_rules_are_switched_by_options_and_by_a_file(folder: Path) -> None:
    assert run(folder, "--disable", "l0101", "a.mfidl")[1] == ["L0602"]
    assert run(folder, "--enable", "L0203", "good.mfidl")[1] == ["L0203"]
    assert run(folder, "--enable", "all", "good.mfidl")[1] == ["L0203", "L0607"]
    (folder / "mfidl.toml").write_text('[lint]\ndisable = ["L0101"]\nenable = ["L0203"]\n[other]\nx = 1\n')
    assert run(folder, "a.mfidl")[1] == ["L0203", "L0602"]
    assert run(folder, "--disable", "L0203", "a.mfidl")[1] == ["L0602"]
    (folder / "none.toml").write_text("")
    assert run(folder, "--config", "none.toml", "a.mfidl")[1] == ["L0101", "L0602"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[lint]\ndisabel = ["L0101"]', "no setting `disabel`. Did you mean `disable`?"),
        ('[lint]\ndisable = ["L0100"]', "no rule `L0100`. Did you mean `L0101`?"),
        ('[lint]\ndisable = "L0101"', "`disable` is a list of codes"),
        ("lint = 3", "`lint` is a table"),
        ("[lint", "mfidl.toml: "),
        ("\udcff", "not UTF-8"),
    ],
)
def test_a_setting_that_means_nothing_is_wrong_use(folder: Path, text: str, said: str) -> None:
    (folder / "mfidl.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    code, _, stderr = run(folder, "a.mfidl")
    assert (code, said in stderr) == (2, True), stderr


def test_an_unknown_code_on_the_command_line_is_wrong_use(folder: Path) -> None:
    code, _, stderr = run(folder, "--disable", "L9101", "a.mfidl")
    assert code == 2
    assert "Did you mean `L0101`?" in stderr
    assert run(folder, "--config", "nowhere.toml", "a.mfidl")[0] == 2


def test_mistakes_come_before_findings(folder: Path) -> None:
    (folder / "bad.mfidl").write_text("module bad; struct bad_name { x: nothing; }")
    assert run(folder, "bad.mfidl")[:2] == (1, ["E0301"])
    assert run(folder, "nowhere.mfidl")[:2] == (3, ["E0001"])


def test_only_what_is_named_is_linted(folder: Path) -> None:
    (folder / "b.mfidl").write_text('module b; import "a.mfidl"; struct B { x: a.bad_name; }')
    assert run(folder, "b.mfidl")[:2] == (0, [])


def test_help_explains_a_rule_and_the_list_has_all(tmp_path: Path) -> None:
    assert "off unless asked for" in mfidlc("lint", "--list", cwd=tmp_path).stdout
    assert mfidlc("lint", "--list", cwd=tmp_path).stdout.count("\n") == len(CATALOGUE)
    done = mfidlc("help", "l0503", cwd=tmp_path)
    assert done.stdout.startswith("L0503: bool parameters in a row\n")


def test_the_whole_program_is_looked_through_once_however_many_modules_are_linted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []
    names = ("thrown", "agents", "deprecated", "cpp_names", "python_names")
    for name in names:
        known = vars(Whole)[name]
        original = known.func

        def counted(whole: Whole, of: Callable[[Whole], object] = original) -> object:
            looked.append(of)
            return of(whole)

        monkeypatch.setattr(known, "func", counted)
    for number in range(5):
        text = f"module m{number}; agent a: u32; error E {{ }} service S per a {{ f() throws E; }}\n"
        (tmp_path / f"m{number}.mfidl").write_text(text)
    lint_files([str(tmp_path / f"m{number}.mfidl") for number in range(5)], [], Settings())

    assert len(looked) == len(names)


def test_many_findings_are_counted_by_rule_the_most_frequent_first(tmp_path: Path) -> None:
    fields = " ".join(f"fieldNo{number}: u32;" for number in range(12))
    (tmp_path / "m.mfidl").write_text(f"module m; struct Hit {{ {fields} seen: list<bool>; }}")
    done = mfidlc("lint", "m.mfidl", cwd=tmp_path)

    assert done.stderr.endswith(
        "L0102     12  name not in snake_case\nL0602      1  list of bool\n\n"
        "13 warnings; see: mfidlc help L0102\n"
    )
