"""`mfidlc` as its users meet it: exit codes, streams, formats, and no tracebacks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = "module good; struct A { x: u32; }\n"


def mfidlc(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mfidl", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_a_schema_in_order_is_silent(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    done = mfidlc("check", "good.mfidl", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_errors_go_to_standard_error_with_a_count_and_without_colour(tmp_path: Path) -> None:
    (tmp_path / "bad.mfidl").write_text("module bad; struct A { x: u33; y: v; }\n")
    done = mfidlc("check", "bad.mfidl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[E0301]: unknown type `u33`\n --> bad.mfidl:1:27\n" in done.stderr
    assert "help: did you mean `u32`?" in done.stderr or "help: did you mean `u" in done.stderr
    assert done.stderr.endswith("2 errors; see: mfidlc help E0301\n")
    assert "\033" not in done.stderr


def test_colour_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "bad.mfidl").write_text("module bad; struct A { x: v; }\n")
    assert "\033[31;1merror" in mfidlc("check", "--color", "always", "bad.mfidl", cwd=tmp_path).stderr


def test_json_is_one_object_on_standard_output(tmp_path: Path) -> None:
    (tmp_path / "bad.mfidl").write_text("module bad;\nstruct A { x: u32; x: u32; }\n")
    done = mfidlc("check", "--format", "json", "bad.mfidl", cwd=tmp_path)
    [error] = json.loads(done.stdout)["diagnostics"]
    assert (error["code"], error["file"]) == ("E0304", "bad.mfidl")
    assert (error["line"], error["column"], error["end_line"], error["end_column"]) == (2, 20, 2, 21)
    assert error["notes"][0]["column"] == 12
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("make", "code", "exit_code"),
    [
        (lambda _path: None, "E0001", 3),
        (lambda path: path.mkdir(), "E0001", 3),
        (lambda path: path.write_bytes(b"module m;\n\xff"), "E0002", 1),
        (lambda path: path.write_bytes(b"/" * (5 << 20)), "E0003", 1),
    ],
    ids=["missing", "folder", "not_utf8", "too_large"],
)
def test_a_file_that_is_no_schema_is_named(tmp_path: Path, make, code: str, exit_code: int) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "x.mfidl")
    done = mfidlc("check", "x.mfidl", cwd=tmp_path)
    assert done.returncode == exit_code
    assert f"error[{code}]" in done.stderr
    assert "x.mfidl" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["chek", "good.mfidl"],
        ["check", "--no-such-option", "good.mfidl"],
        ["compile", "good.mfidl"],
        ["compile", "good.mfidl", "--python", "out", "--python-package", "1bad"],
        ["compile", "good.mfidl", "--python", "out", "--python-package", "a.class"],
    ],
)
def test_wrong_use_is_exit_code_2(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    assert mfidlc(*arguments, cwd=tmp_path).returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.mfidl"]


def test_a_misspelled_command_is_answered_with_the_right_one(tmp_path: Path) -> None:
    assert "Did you mean `check`?" in mfidlc("chek", "x", cwd=tmp_path).stderr


def test_the_version_is_told_without_importing_click_or_the_parser(tmp_path: Path) -> None:
    script = (
        "import sys; from mfidl.cli.guard import guarded; guarded(['--version']);"
        "assert not {'click', 'antlr4', 'jinja2'} & set(sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("mfidlc ")


def test_check_does_not_import_generators(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    script = (
        "import sys; from mfidl.compiler import check; assert check(['good.mfidl']).program;"
        "assert not {'jinja2', 'mfidl.emit'} & set(sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, timeout=60, check=True)


def test_a_schema_with_mistakes_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.mfidl").write_text("module bad; struct A { x: v; }\n")
    done = mfidlc("compile", "bad.mfidl", "--python", "out", "--cpp", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.mfidl"]


def test_compile_writes_both_languages_once_and_then_leaves_them_alone(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    arguments = ["compile", "good.mfidl", "--cpp", "out/cpp", "--python", "out/py", "--depfile", "good.d"]
    assert mfidlc(*arguments, cwd=tmp_path).returncode == 0
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".hpp", ".py"}
    for path in files:
        os.utime(path, (1, 1))
        assert str(tmp_path).encode() not in path.read_bytes()
    assert (tmp_path / "good.d").read_text().endswith(": good.mfidl\n")
    assert mfidlc(*arguments, cwd=tmp_path).returncode == 0
    assert {path.stat().st_mtime for path in files} == {1}


def test_the_same_schema_gives_the_same_files_from_any_folder(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "deep" / "good.mfidl").write_text(GOOD)
    path = tmp_path / "two" / "deep" / "good.mfidl"
    assert mfidlc("compile", "deep/good.mfidl", "--cpp", "out", cwd=tmp_path / "one").returncode == 0
    assert mfidlc("compile", path, "--cpp", tmp_path / "two" / "out", cwd=tmp_path).returncode == 0
    written = [sorted((tmp_path / folder / "out").rglob("*")) for folder in ("one", "two")]
    contents = [[(path.name, path.read_bytes()) for path in files if path.is_file()] for files in written]
    assert contents[0] == contents[1]


def test_an_output_folder_that_cannot_be_is_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    (tmp_path / "out").write_text("a file")
    done = mfidlc("compile", "good.mfidl", "--python", "out", cwd=tmp_path)
    assert done.returncode == 3
    assert "error[E0004]: cannot write `out" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.mfidl", "out"]


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.mfidl")).write_text(GOOD)
    done = mfidlc("check", os.fsdecode(b"\xff.mfidl"), cwd=tmp_path)
    assert (done.returncode, "its name is not UTF-8" in done.stderr) == (3, True)
