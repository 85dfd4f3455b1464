"""`mfidlc compile` with nothing to do ends early, and never when there is something to do."""

import marshal
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mfidl import cache

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = ("compile", "a.mfidl", "-I", "first", "-I", "second", "--cpp", "cpp", "--python", "py")
SCHEMA = 'module a; import "b.mfidl"; struct A { b: b.B; } service S { go(a: A); }\n'
BUILD = ("--depfile", "a.d", "--stamp", "a.stamp", "--outputs", "a.outputs")
# A run is early if neither the parser nor Click was imported.
SCRIPT = """\
import sys
from mfidl.cli.guard import guarded
if code := guarded(sys.argv[1:]):
    raise SystemExit(code)
print("late" if {"click", "mfidl.compiler"} & set(sys.modules) else "early")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    (tmp_path / "second/b.mfidl").write_text("module b; struct B { x: u32; }\n")
    (tmp_path / "a.mfidl").write_text(
        'module a; import "b.mfidl"; struct A { b: b.B; } service S { go(a: A); }\n'
    )
    return tmp_path


def compile_in(folder: Path, *more: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MFIDL_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *ARGUMENTS, *BUILD, *more],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout.strip() + done.stderr


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for root in (folder / "cpp", folder / "py")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_the_second_run_is_early_and_touches_its_stamp_only(project: Path) -> None:
    assert compile_in(project) == "late"
    before = files(project)
    for path in (*project.rglob("*.hpp"), project / "a.stamp", project / "a.d"):
        os.utime(path, (1, 1))

    assert compile_in(project) == "early"
    assert files(project) == before
    assert (project / "a.stamp").stat().st_mtime != 1
    assert (project / "a.d").stat().st_mtime == 1


def edited(name: str, text: str) -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        path = folder / name
        before = path.stat()
        path.write_text(text)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # times prove nothing

    return edit


def damaged(folder: Path) -> None:
    [run] = (folder / "cache").glob("*.run")
    run.write_bytes(run.read_bytes()[:-1])


CHANGES: dict[str, Callable[[Path], object]] = {
    "a schema": edited("a.mfidl", SCHEMA.replace("b: b.B", "c: b.B")),
    "an imported schema": edited("second/b.mfidl", "module b; struct B { y: u32; }\n"),
    "an import before another": lambda at: (at / "first/b.mfidl").write_text(
        "module b; struct B { z: u32; }\n"
    ),
    "an output edited by hand": edited("cpp/a.hpp", "mine\n"),
    "an output deleted": lambda at: (at / "py/a/_types.py").unlink(),
    "the manifest deleted": lambda at: (at / "cpp/.mfidl-manifest.json").unlink(),
    "the depfile deleted": lambda at: (at / "a.d").unlink(),
    "a record cut short": damaged,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(project: Path, change: str) -> None:
    compile_in(project)
    CHANGES[change](project)

    assert compile_in(project) == "late"
    made = files(project)
    assert compile_in(project) == "early"
    for name in ("cpp", "py", "cache"):
        subprocess.run(["rm", "-r", str(project / name)], check=True)
    assert compile_in(project) == "late"
    assert files(project) == made


def test_other_options_are_another_run(project: Path) -> None:
    compile_in(project)

    assert compile_in(project, "--python-package", "acme") == "late"
    assert (project / "py/acme/a/__init__.py").exists()
    assert not (project / "py/a").exists()
    assert compile_in(project) == "late"
    assert (project / "py/a").exists()


def test_warnings_are_said_again(project: Path) -> None:
    (project / "a.mfidl").write_text('module a; @tier(custom) @cpp.codec("geo.hpp", "A", "C") struct A;\n')
    first = compile_in(project)
    again = compile_in(project)

    assert "warning[W0801]" in first
    assert again == first.replace("late", "early")


def test_a_run_with_mistakes_is_not_remembered(project: Path) -> None:
    (project / "a.mfidl").write_text("module a; struct A { x: u33; }\n")

    assert "E0301" in compile_in(project)
    assert compile_in(project) == compile_in(project)
    assert list(project.glob("cache/*")) == []


def test_the_cache_forgets_the_oldest(project: Path) -> None:
    (project / "cache").mkdir()
    old = time.time() - 1000
    for number in range(501):
        path = project / "cache" / f"{number}.run"
        path.touch()
        os.utime(path, (old + number, old + number))
    compile_in(project)

    kept = {path.name for path in (project / "cache").glob("*.run")}
    assert len(kept) == 251
    assert "0.run" not in kept
    assert "500.run" in kept


def test_without_a_cache_everything_works(project: Path) -> None:
    (project / "cache").write_text("a file where the folder would be")

    assert compile_in(project) == "late"
    assert compile_in(project) == "late"


def test_a_cache_that_others_could_change_is_not_used(project: Path) -> None:
    (project / "cache").mkdir()
    (project / "cache").chmod(0o777)

    for _ in range(2):
        said = compile_in(project)
        assert said.startswith("late")
        assert said.count("is not used, because other users may write to") == 1
    assert [each.name for each in (project / "cache").iterdir()] == []


def test_folders_of_the_cache_are_for_this_user_alone(project: Path) -> None:
    compile_in(project)

    assert stat.S_IMODE((project / "cache").stat().st_mode) == 0o700


@pytest.mark.parametrize("named", [[], ["cpp/.mfidl-manifest.json"]])
def test_a_record_that_names_no_output_of_a_root_is_not_used(project: Path, named: list[str]) -> None:
    compile_in(project)
    [path] = (project / "cache").glob("*.run")
    compiler, *fields = marshal.loads(path.read_bytes()[16:])
    run = cache.Run(*fields)
    kept = [(name, content) for name, content in run.outputs if name in named]
    body = marshal.dumps((compiler, *run._replace(outputs=kept)))
    path.write_bytes(cache.digest(body) + body)
    shutil.rmtree(project / "py")

    assert compile_in(project) == "late"
    assert (project / "py/a/_types.py").exists()


@pytest.mark.parametrize(
    "fields", [(), (1,), ([], [], [], 1, "", "", True), ([("a",)], [], [], None, "", "", True)]
)
def test_a_record_whose_fields_are_others_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: tuple[Any, ...]
) -> None:
    monkeypatch.setenv("MFIDL_CACHE", str(tmp_path))
    body = marshal.dumps((cache._compiler_digest(), *fields))
    Path(cache._path(str(tmp_path), ARGUMENTS)).write_bytes(cache.digest(body) + body)

    assert cache.recall(ARGUMENTS, []) is None
