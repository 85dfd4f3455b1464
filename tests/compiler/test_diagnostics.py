"""Diagnostics as a product: bounded, sorted, aligned under what they speak of, and the same as data."""

import json
from pathlib import Path

import pytest

from mfidl.compiler import check
from mfidl.diagnostics import CATALOGUE, Code, Diagnostics, Note
from mfidl.diagnostics.diagnostic import SHOWN_LIMIT
from mfidl.diagnostics.render import render_json, render_text
from mfidl.source import SourceFile, Span


def span_of(line: str, word: str, before: str = "") -> Span:
    text = f"{before}{line}\n"
    start = text.index(word)
    return Span(SourceFile("f", "f.mfidl", text), start, start + len(word))


def rendered(span: Span, *, color: bool = False) -> list[str]:
    sink = Diagnostics()
    sink.error("E0301", span, name="x")
    return render_text(sink.sorted(), color).splitlines()


@pytest.mark.parametrize(
    ("line", "cells_before", "cells_below"),
    [
        ("x: Missing;", 3, 7),
        ("\tx: Missing;", 7, 7),
        ("/* \u691c\u7d22 */ x: Missing;", 14, 7),  # each takes two cells
        ("/* e\u0301 */ x: Missing;", 11, 7),  # the accent takes none
        ("x\u0000: Missing;", 4, 7),
    ],
    ids=["plain", "tab", "wide", "combining", "zero"],
)
def test_carets_stand_under_the_word(line: str, cells_before: int, cells_below: int) -> None:
    caret = rendered(span_of(line, "Missing"))[4]
    assert caret == "  | " + " " * cells_before + "^" * cells_below


def test_a_wide_word_has_carets_of_its_width() -> None:
    assert rendered(span_of("\u691c\u7d22;", "\u691c\u7d22"))[4] == "  | ^^^^"


def test_the_caret_may_stand_behind_the_line() -> None:
    source = SourceFile("f", "f.mfidl", "x: u32\ny: u32;\n")
    assert rendered(Span(source, 6, 6))[3:5] == ["1 | x: u32", "  |       ^"]


def test_a_long_line_is_cut_on_both_sides_and_the_carets_still_fit() -> None:
    lines = rendered(span_of("a" * 500 + " Missing " + "b" * 500, "Missing"))
    source, caret = lines[3], lines[4]
    assert source.startswith("1 | \u2026")
    assert source.endswith("\u2026")
    assert len(source) <= 130
    assert source[caret.index("^") : caret.rindex("^") + 1] == "Missing"


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    source = SourceFile("f", "f.mfidl", "one two\nthree\n")
    assert rendered(Span(source, 4, 12))[4] == "  |     ^^^"


def test_errors_are_red_and_warnings_yellow_and_a_count_tells_them_apart() -> None:
    sink = Diagnostics()
    sink.warning("W0007", None, count=1)
    assert not sink
    sink.error("E0007", None, count=1)
    assert sink
    text = render_text(sink.sorted(), color=True)
    assert "\033[33;1mwarning[W0007]" in text
    assert "\033[31;1merror[E0007]" in text


def test_a_note_in_another_file_shows_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "text.mfidl").write_text("module text;\n// one\n// two\nenum Lang: u8 { en = 0 }\n")
    (tmp_path / "main.mfidl").write_text(
        'module main;\nimport "text.mfidl";\nservice S per text.Lang { f(); }\n'
    )
    [found] = check([str(tmp_path / "main.mfidl")]).diagnostics
    text = render_text([found])
    assert f"--> {tmp_path}/text.mfidl:4:6" in text
    assert "4 | enum Lang: u8 { en = 0 }" in text


def test_a_file_shows_a_hundred_errors_and_then_how_many_more(tmp_path: Path) -> None:
    fields = "".join(f"  f{number}: T{number};\n" for number in range(350))
    (tmp_path / "many.mfidl").write_text(f"module many;\nstruct A {{\n{fields}}}\n")
    found = check([str(tmp_path / "many.mfidl")]).diagnostics
    assert len(found) == SHOWN_LIMIT + 1
    assert [each.code for each in found] == ["E0301"] * SHOWN_LIMIT + ["E0007"]
    assert (found[-1].message, found[-1].counts) == ("250 more errors in this file are not shown", 250)
    lines = [each.span.line() for each in found if each.span]
    assert lines == list(range(3, 3 + SHOWN_LIMIT + 1))


def test_a_hidden_warning_hides_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE, "W9999", Code("W9999", "", "warning {count}", ""))
    sink = Diagnostics()
    source = SourceFile("f", "f.mfidl", "x" * 1000)
    for at in range(300):
        sink.warning("W9999", Span(source, at, at + 1), count=at)
    sink.error("E0007", Span(source, 999, 1000), count=5)
    shown = sink.sorted()
    assert [each.code for each in shown].count("W9999") == SHOWN_LIMIT
    assert shown[-1].code == "E0007"
    assert any(each.code == "W0007" and each.counts == 200 for each in shown)


def test_the_same_mistake_is_taken_once_and_files_come_in_order() -> None:
    sink = Diagnostics()
    first, second = SourceFile("a", "a.mfidl", "x y"), SourceFile("b", "b.mfidl", "x y")
    for span in (Span(second, 0, 1), Span(first, 2, 3), Span(first, 0, 1), Span(second, 0, 1)):
        sink.error("E0301", span, name="x")
    places = [(each.span.file.name, each.span.start) for each in sink.sorted() if each.span]
    assert places == [("a.mfidl", 0), ("a.mfidl", 2), ("b.mfidl", 0)]


def test_json_has_every_field_of_the_documented_schema() -> None:
    sink = Diagnostics()
    span = span_of("/* \u691c\U0001f600 */ x: Missing;", "Missing", before="module m;\n")
    sink.error("E0301", span, notes=[Note("bare"), Note("there", span)], help="write it", fix="u32", name="x")
    sink.error("E0001", None, path="a", reason="b")
    missing, unknown = json.loads(render_json(sink.sorted()))["diagnostics"]
    fields = ["code", "severity", "message", "file", "line", "column", "end_line", "end_column"]
    assert list(unknown) == [*fields, "notes", "help", "fix"] == list(missing)
    assert (unknown["line"], unknown["column"], unknown["end_column"]) == (2, 13, 20)  # code points
    assert unknown["notes"][0]["file"] is None
    assert unknown["notes"][1]["column"] == 13
    assert unknown["fix"]["replacement"] == "u32"
    assert [missing[field] for field in fields[3:]] == [None] * 5


@pytest.mark.parametrize(
    "text",
    [
        "module m;\nstruct Document { x: u32; }\nstruct A { d: Documnt; }\n",
        "module m\nstruct A { x: u32; }\n",
        "module m;\nstruct A { x: u32 y: u32; }\n",
        "module m;\nenum E: u8 { a = 0 b = 1 }\n",
        "module m;\nconst A: string = 'text';\n",
        "module m;\nstruct A { x: u32\uff1b }\n",
        "module m;\nstrct A { x: u32; }\n",
        "module m;\n# a comment\nstruct A { x: u32; }\n",
        "module m;\nstruct A { x: int32; }\n",
        "module m;\nstruct A { x: u32;\u00a0y: u32; }\n",
        "module m;\nconst A: i32 = \u22125;\n",
        "module m;\nservice S { @batch(mx = 5) f(a: u32) -> u32; }\n",
        "module m;\nconst MAX: u32 = 1;\nstruct A { x: u32 = MXA; }\n",
        "module m;\nerror Lost { }\nservice S { f() throws Lst; }\n",
    ],
)
def test_a_fix_mends_what_it_is_for(text: str, tmp_path: Path) -> None:
    path = tmp_path / "main.mfidl"
    path.write_text(text)
    [found] = check([str(path)]).diagnostics
    assert found.fix is not None
    start, end = found.fix.span.start, found.fix.span.end
    path.write_text(text[:start] + found.fix.replacement + text[end:])
    assert check([str(path)]).diagnostics == []
