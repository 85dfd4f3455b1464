"""A user's own templates: what they may use, where their files go, and how their mistakes are shown."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = """module a.b;
import "lib.mfidl";
/// A thing.
struct HTTPServer { x: u32; y: list<lib.B?>; }
enum Rank: u8 { one = 1 }
service S { query(t: string) -> u32; }
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.mfidl").write_text(SCHEMA)
    (tmp_path / "lib.mfidl").write_text("module lib;\nstruct B { z: string; }\n")
    (tmp_path / "t").mkdir()
    return tmp_path


def compile_(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mfidl", "compile", "-I", ".", *arguments]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    return done


def render(work: Path, text: str, name: str = "out.txt.j2") -> subprocess.CompletedProcess[str]:
    path = work / "t" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return compile_(work, "a/b.mfidl", "--template", "t", "--out", "out")


def rendered(work: Path, text: str) -> str:
    done = render(work, text)
    assert (done.returncode, done.stderr) == (0, "")
    return (work / "out/out.txt").read_text()


def refused(work: Path, text: str, name: str = "out.txt.j2", code: str = "E0909", exit_code: int = 4) -> str:
    done = render(work, text, name)
    assert f"error[{code}]" in done.stderr, done.stderr
    assert done.returncode == exit_code
    assert not (work / "out").exists()
    return done.stderr


def test_the_example_makes_a_table_of_all_methods(tmp_path: Path) -> None:
    schemas = [ROOT / "tests/vectors/schemas/shapes.mfidl", ROOT / "runtime/idl/mf/controller.mfidl"]
    folder = ROOT / "examples/templates"
    done = compile_(tmp_path, *map(str, schemas), "--template", str(folder), "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    made = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert made == [".mfidl-manifest.json", "controller.md", "index.md", "shapes.md"]
    text = (tmp_path / "out/shapes.md").read_text()
    assert "| `touch` | `doc: u32` |  |  | one-way memcpy |\n" in text
    assert "| `query` | `terms: list<string>`, `limit: u32` | `list<vectors.shapes.Hit>` |" in text


def test_the_model_and_the_filters_are_there(work: Path) -> None:
    text = (
        "{% for m in program.modules %}{{ m.name }} {{ m.requested }} {{ m.path | stem }};{% endfor %}"
        "{% set s = program.module('a.b').structs[0] %}{{ s.name | snake }} {{ 'a_b' | camel }} {{ s.doc }} "
        "{% for f in s.fields %}{{ f.type | spell }} {{ f.type | kind }};{% endfor %}"
        "{% for d in program.module('a.b').declarations %}{{ d | kind }};{% endfor %}"
        "{{ program.struct(s.fields[1].type.element.element).fields[0].name }}"
    )
    assert rendered(work, text) == (
        "lib False lib;a.b True a/b;http_server AB A thing. u32 primitive;list<lib.B?> list;struct;enum;z"
    )


def test_a_name_with_a_placeholder_is_rendered_for_each_module_asked_for(work: Path) -> None:
    (work / "c.mfidl").write_text("module c;\n")
    folder = work / "t/docs/{{ module.name | replace('.', '-') }}"
    folder.mkdir(parents=True)
    (folder / "page.md.j2").write_text("{{ module.name }}\n")
    done = compile_(work, "a/b.mfidl", "c.mfidl", "--template", "t", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert (work / "out/docs/a-b/page.md").read_text() == "a.b\n"
    assert (work / "out/docs/c/page.md").read_text() == "c\n"
    assert not (work / "out/docs/lib").exists()


def test_output_that_no_template_gives_any_more_is_removed_and_equal_output_kept(work: Path) -> None:
    rendered(work, "1")
    (work / "t/other.txt.j2").write_text("2")
    os.utime(work / "out/out.txt", (1, 1))
    rendered(work, "1")
    assert (work / "out/out.txt").stat().st_mtime == 1
    (work / "t/other.txt.j2").unlink()
    rendered(work, "1")
    assert not (work / "out/other.txt").exists()


def test_templates_include_others_and_stand_in_the_depfile(work: Path) -> None:
    (work / "t/_part.j2").write_text("part {{ program.modules | length }}")
    (work / "t/out.txt.j2").write_text("{% include '_part.j2' %} of it\n")
    done = compile_(work, "a/b.mfidl", "--template", "t", "--out", "out", "--depfile", "d")
    assert (done.returncode, done.stderr) == (0, "")
    assert (work / "out/out.txt").read_text() == "part 2 of it\n"
    assert {"t/_part.j2", "t/out.txt.j2"} <= set((work / "d").read_text().split())


@pytest.mark.parametrize(
    ("text", "words", "place", "caret"),
    [
        ("a\n  {{ program.modles }}\n", "Program has no `modles`", "2:14", "^^^^^^"),
        ("{{ progam }}", "`progam` is unknown here", "1:4", "^^^^^^"),
        ("x\n{{ module.name }}", "`module` is unknown here", "2:4", "^^^^^^"),
        ("{{ 'x' | snak }}", "No filter named 'snak'", "1:10", "^^^^"),
        ("{% fro x in y %}", "Encountered unknown tag 'fro'", "1:4", "^^^"),
        ("a\n{% for x in program.modules %}\nb", "Unexpected end of template", "3:1", "^"),
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero", "1:1", "^^^^^^^^^^^"),
        ("{{ program | spell }}", "`spell` takes a type, such as field.type, not a Program", "1:14", "^^^^^"),
        ("{{ 3 | camel }}", "`camel` takes a text, such as field.name, not a int", "1:8", "^^^^^"),
        ("{{ 3 | kind }}", "`kind` takes a type or a declaration, not a int", "1:8", "^^^^"),
        ("{% include 'nope.j2' %}", "there is no template `nope.j2`", "1:13", "^^^^^^^"),
        ("{{ program.__class__.__mro__ }}", "is unsafe\n", "1:12", "^^^^^^^^^"),
        ("{{ program.modules.append(3) }}", "tuple has no `append`", "1:20", "^^^^^^"),
        ("{{ program.module('zzz') }}", "StopIteration", "1:1", "^"),
        ("{% include 'out.txt.j2' %}", "includes itself without end", "1:1", "^"),
        ("{{ range(10000000) }}", "OverflowError", "1:1", "^"),
    ],
)
def test_a_mistake_is_shown_with_its_line(work: Path, text: str, words: str, place: str, caret: str) -> None:
    message = refused(work, text)
    assert words in message
    assert f" --> t/out.txt.j2:{place}\n" in message
    assert f" {caret}" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ program.modles }}", "did you mean `modules`?"),
        ("{{ progam }}", "did you mean `program`?"),
        ("{{ 'x' | snak }}", "did you mean `snake`?"),
        ("{{ module.name }}", "a template whose file name has a placeholder"),
        ("{% include 'ot.txt.j2' %}", "did you mean `out.txt.j2`?"),
    ],
)
def test_a_mistake_comes_with_a_suggestion(work: Path, text: str, words: str) -> None:
    assert f"help: {words}" in refused(work, text)


def test_a_mistake_in_an_included_template_is_shown_there(work: Path) -> None:
    (work / "t/_part.j2").write_text("one\n{% macro m(x) %}{{ x.nme }}{% endmacro %}\n")
    text = "{% import '_part.j2' as p %}{{ p.m(program.modules[0]) }}"
    assert " --> t/_part.j2:2:22\n" in refused(work, text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("{{ modul.name }}.j2", "template `{{ modul.name }}.j2`: `modul` is unknown here"),
        ("{{ module.name.j2", "template `{{ module.name.j2`:"),
        ("{{ '..' }}/x.j2", "becomes `../x`, which has an empty part, `.` or `..`"),
        ("{{ '' }}.j2", "becomes ``, which is empty"),
        ("{{ '/etc' }}.j2", "becomes `/etc`, which is not a relative path"),
    ],
)
def test_a_file_name_that_leads_nowhere_is_refused(work: Path, name: str, words: str) -> None:
    assert words in refused(work, "x", name)


def test_two_modules_cannot_make_the_same_file(work: Path) -> None:
    (work / "c.mfidl").write_text("module c;\n")
    (work / "t/{{ 'same' }}.j2").write_text("x")
    done = compile_(work, "a/b.mfidl", "c.mfidl", "--template", "t", "--out", "out")
    assert (done.returncode, "error[E0005]" in done.stderr) == (3, True)


def test_a_folder_without_templates_or_no_folder_is_said(work: Path) -> None:
    (work / "t/readme.txt").write_text("x")
    assert "there are no templates (`*.j2`) below `t`" in refused(work, "x", "_only.j2", "E0910")
    done = compile_(work, "a/b.mfidl", "--template", "none", "--out", "out")
    assert (done.returncode, "error[E0001]: cannot read `none`" in done.stderr) == (3, True)


def test_a_template_that_is_not_utf8_is_said(work: Path) -> None:
    (work / "t/x.j2").write_bytes(b"\xff\xfe")
    done = compile_(work, "a/b.mfidl", "--template", "t", "--out", "out")
    assert (done.returncode, "error[E0002]: `t/x.j2` is not UTF-8" in done.stderr) == (3, True)


def test_template_and_out_go_together(work: Path) -> None:
    for arguments in (["--template", "t"], ["--out", "o"]):
        done = compile_(work, "a/b.mfidl", *arguments)
        assert (done.returncode, "--template DIR and --out OUT go together" in done.stderr) == (2, True)
