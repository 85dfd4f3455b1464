"""A file name or a text of a schema never becomes code or markup of what is generated."""

import ast
import subprocess
from pathlib import Path

import pytest

from mfidl.cli.guard import guarded

REFUSED = [
    "\n", "\r", "\t", "\x01", "\x0b", "\x0c", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\u202e",
]  # fmt: skip
QUOTING = [
    "*/", '"""', "'''", "\\", "??/", "\\n", "{{x}}", "{% x %}", "<script>alert(1)</script>", "--><b>", "$(x)",
    "%s", "#", "//", "/*", "`", "${x}", "\\u000aimport os", "\N{SNOWMAN}",
]  # fmt: skip
TEXT = """\
module s;
/// {doc}
struct A {{ /// {doc}
x: string = {value}; }}
/// {doc}
service S {{ /// {doc}
f(); }}
"""
EVIL = "import os; os._exit(99)"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MFIDL_CACHE", "")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("character", REFUSED)
@pytest.mark.parametrize("command", ["check", "compile", "doc", "descriptor"])
@pytest.mark.parametrize("place", ["{0}s.mfidl", "a{0}{1}/s.mfidl"])
def test_a_name_of_more_than_one_line_is_refused(
    command: str, place: str, character: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = Path(place.format(f"x{character}", EVIL))
    path.parent.mkdir(exist_ok=True)
    path.write_text("module s; struct A { x: u32; }\n")
    more = {"compile": ["--python", "out"], "doc": ["--out", "out"], "descriptor": ["--out", "out"]}.get(
        command, []
    )

    assert guarded([command, str(path), *more]) == 3
    told = capfd.readouterr().err
    assert f"its name holds U+{ord(character):04X}" in told
    assert told.count("\n") <= 3
    assert character == "\n" or character not in told
    assert not Path("out").exists()


def test_an_imported_name_of_more_than_one_line_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a\nb.mfidl").write_text("module b; struct B { x: u32; }\n")
    Path("s.mfidl").write_text('module s; import "a\\nb.mfidl"; struct A { b: b.B; }\n')

    assert guarded(["compile", "s.mfidl", "--python", "out"]) == 3
    assert "its name holds U+000A, a line break" in capfd.readouterr().err


def generated(name: str, doc: str, value: str) -> list[Path]:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT.format(doc=doc, value=value), encoding="utf-8", newline="")
    assert guarded(["compile", name, "-I", ".", "--python", "py", "--cpp", "cpp"]) == 0
    assert guarded(["doc", name, "-I", ".", "--out", "doc"]) == 0
    assert guarded(["descriptor", name, "-I", ".", "--out", "d"]) == 0
    return sorted(each for each in Path().rglob("*") if each.is_file())


def check_python(files: list[Path]) -> None:
    """Each statement is one that the generator writes at the top of a module."""
    for path in files:
        if path.suffix == ".py":
            tree = ast.parse(path.read_text())
            names = {
                alias.name for each in ast.walk(tree) if isinstance(each, ast.Import) for alias in each.names
            }
            assert "os" not in names, path


def check_cpp() -> None:
    """What the preprocessor leaves has no word of a comment."""
    for path in sorted(Path("cpp").glob("s.*pp")):
        done = subprocess.run(
            ["g++", "-std=c++20", "-E", "-P", "-nostdinc", "-fpreprocessed", "-Werror=comment", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "os._exit" not in done.stdout, path


def check_all(files: list[Path]) -> None:
    check_python(files)
    check_cpp()
    pages = [path.read_text() for path in files if path.suffix == ".html"]
    assert pages
    assert not any("<script>alert" in page or "--><b>" in page for page in pages)


@pytest.mark.parametrize("text", QUOTING)
def test_a_name_does_not_end_a_comment_or_a_string(text: str) -> None:
    files = generated(f"d{text.replace('/', 'I')}/{EVIL} {text.replace('/', 'I')}.mfidl", "Plain.", '"plain"')

    check_all(files)


@pytest.mark.parametrize("text", [*QUOTING, "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_a_comment_does_not_end_what_it_is_placed_in(text: str) -> None:
    files = generated("s.mfidl", f"{text}{EVIL}{text}", '"plain"')

    check_all(files)
