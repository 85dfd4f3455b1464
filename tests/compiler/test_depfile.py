"""make and ninja follow the depfile, whatever folders are called, or the compiler says that they cannot."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mfidl.cli.guard import guarded
from mfidl.emit import depfile

SCHEMA = "module s; struct A { x: u32; }\n"
FOLLOWED = [
    "a:b", ":a", "a:", "e=q", "=a", "+=a", "a:=b", "a#b", "#a", "a$b", "a$$b", "$", "a b", "a  b", " a",
    "a%b", "%", "a\\b", "b\\", "a\\ b", "a\\\\ b", "a[b]", "a(b)", "a{b}", "a,b", "a!b", "a@b", "-a", "é",
]  # fmt: skip
NOT_BY_BOTH = ["a;b", "a|b", "|"]
NOT_BY_NINJA = ["a&b", "a*b", "a?b", "a'b", 'a"b', "a^b", "a<b", "a>b", "a`b", "a\\#b", "a\\:b", "a\\$b"]
NOT_BY_MAKE_IN_TARGETS = ["e=q", "a%b", "a;b"]


def compiled(folder: Path, schema: str, stamp: str) -> int:
    os.chdir(folder)
    Path(schema).parent.mkdir(parents=True, exist_ok=True)
    Path(stamp).parent.mkdir(parents=True, exist_ok=True)
    Path(schema).write_text(SCHEMA)
    return guarded(["compile", f"./{schema}", "--python", "py", "--depfile", "x.d", "--stamp", stamp])


def aged(path: str, seconds: int) -> None:
    os.utime(path, (1_700_000_000 - seconds,) * 2)


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def made_by_make(schema: str, stamp: str) -> list[bool]:
    """Whether make rebuilds the stamp: with an older schema, and with a newer one."""
    lines = Path("x.d").read_text() + "\t@echo REGENERATED\n"
    Path("Makefile").write_text(f"{lines}\n%.py %.j2 %.mfidl:\n\t@true\n")
    return made("make", schema, stamp)


def made_by_ninja(schema: str, stamp: str) -> list[bool]:
    escaped = stamp.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")
    copy = (
        " command = cp x.d y.d && echo REGENERATED && touch -- $$(cat stamp)\n depfile = y.d\n deps = gcc\n"
    )
    Path("build.ninja").write_text(f"rule r\n{copy}build {escaped}: r\n")
    Path("stamp").write_text(stamp)
    Path(stamp).unlink()
    output("ninja")
    return made("ninja", schema, stamp)


def made(program: str, schema: str, stamp: str) -> list[bool]:
    found = []
    for age in (200, 0):
        aged(schema, age)
        aged(stamp, 100)
        said = output(program, "--", stamp) if program == "make" else output(program)
        found.append("REGENERATED" in said)
    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Without the hundreds of files of the compiler, and without a cache."""
    monkeypatch.setenv("MFIDL_CACHE", "")
    monkeypatch.chdir(tmp_path)
    known = tmp_path / "compiler.py"
    known.touch()
    aged(str(known), 1000)
    monkeypatch.setattr("mfidl.compiler.compiler_files", lambda: ["compiler.py"])
    return tmp_path


@pytest.mark.parametrize("name", FOLLOWED)
def test_make_follows_a_schema_in_a_folder_called(
    name: str, quick: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert compiled(quick, f"{name}/s.mfidl", "x.stamp") == 0
    assert capfd.readouterr().err == ""
    assert made_by_make(f"{name}/s.mfidl", "x.stamp") == [False, True]


@pytest.mark.parametrize("name", FOLLOWED)
def test_ninja_follows_a_schema_in_a_folder_called(name: str, quick: Path) -> None:
    if shutil.which("ninja") is None:
        pytest.fail("ninja is not installed")
    assert compiled(quick, f"{name}/s.mfidl", "x.stamp") == 0
    assert made_by_ninja(f"{name}/s.mfidl", "x.stamp") == [False, True]


@pytest.mark.parametrize("name", [name for name in FOLLOWED if "=" not in name and "%" not in name])
def test_make_follows_outputs_in_a_folder_called(name: str, quick: Path) -> None:
    assert compiled(quick, "s.mfidl", f"{name}/x.stamp") == 0
    assert made_by_make("s.mfidl", f"{name}/x.stamp") == [False, True]


@pytest.mark.parametrize(
    ("schema", "stamp", "programs"),
    [
        *((f"{name}/s.mfidl", "x.stamp", "make and ninja") for name in NOT_BY_BOTH),
        *((f"{name}/s.mfidl", "x.stamp", "ninja") for name in NOT_BY_NINJA),
        *(("s.mfidl", f"{name}/x.stamp", "make") for name in NOT_BY_MAKE_IN_TARGETS),
        ("s.mfidl", "a|b/x.stamp", "ninja"),
        ("s.mfidl", "~root/x.stamp", "make"),
        ("~root/s.mfidl", "x.stamp", "make"),
    ],
)
def test_a_name_that_a_program_cannot_follow_is_reported(
    schema: str, stamp: str, programs: str, quick: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert compiled(quick, schema, stamp) == 0
    assert f"warning[W0009]: {programs} cannot follow" in capfd.readouterr().err


def test_a_name_with_an_equals_sign_is_reported_where_no_other_can_come_first() -> None:
    assert depfile.rule(["out"], ["a=b", "c"], "x=y") == "out: c a=b\n"
    assert depfile.not_followed(["out"], ["a=b", "c"], "x=y") is None
    assert depfile.rule(["out"], ["a=b"], "known") == "out: known a=b\n"
    assert depfile.not_followed(["out"], ["a=b"], "known") is None
    assert depfile.not_followed(["out"], ["a=b"], "x=y") == ("a=b", "=", "make")


@pytest.mark.parametrize("option", ["--depfile", "--outputs"])
def test_an_output_folder_with_a_line_break_is_refused_where_a_file_names_it(
    option: str, quick: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("s.mfidl").write_text(SCHEMA)

    assert guarded(["compile", "s.mfidl", "--python", "a\nb", option, "x"]) == 3
    assert "its name holds a line break" in capfd.readouterr().err
    assert not (quick / "x").exists()
