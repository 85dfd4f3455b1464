"""Bad input, end to end: one clear message each, a documented exit code, and nothing half-written."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mfidl.diagnostics import Diagnostics
from mfidl.emit.output import GeneratedFile
from mfidl.emit.write import OutputTree, write_trees
from tests.compiler.test_cli import GOOD, ROOT, mfidlc

NESTED = "module m;\nstruct A { x: " + "list<" * 100_000 + "u8" + ">" * 100_000 + "; }\n"


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("text", "code", "exit_code"),
    [
        ("", "E0201", 1),
        ("module m;\0", "E0006", 1),
        (NESTED, "E0108", 1),
        ("module m;\nconst A: list<u8> = " + "[" * 100_000, "E0108", 1),
        ("module m;\nstruct A { " + "{" * 100_000, "E0108", 1),
        ("module m;\n" + "f();" * 400_000, "E0008", 1),
    ],
    ids=["empty", "zero_bytes", "types", "lists", "braces", "words"],
)
def test_a_hostile_schema_is_one_clear_error(tmp_path: Path, text: str, code: str, exit_code: int) -> None:
    (tmp_path / "x.mfidl").write_text(text)
    done = mfidlc("compile", "x.mfidl", "--python", "out", cwd=tmp_path)
    assert done.returncode == exit_code
    assert f"error[{code}]" in done.stderr
    assert list(files_below(tmp_path)) == ["x.mfidl"]


def test_fifty_megabytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    with (tmp_path / "big.mfidl").open("wb") as stream:
        stream.truncate(50 << 20)
    done = mfidlc("check", "big.mfidl", cwd=tmp_path)
    assert (done.returncode, "error[E0003]: `big.mfidl`" in done.stderr) == (1, True)


@pytest.mark.parametrize("path", ["/proc/self/mem", "/dev/null/x.mfidl", "no\nsuch.mfidl", "."])
def test_what_cannot_be_read_is_exit_code_3(tmp_path: Path, path: str) -> None:
    done = mfidlc("check", path, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("error[E0001]: cannot read `")
    assert done.stderr.count("\n") == 3


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("command", ["check", "compile", "fmt", "lint"])
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (os.mkfifo, "a pipe"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (lambda path: path.symlink_to("/dev/null"), "a device"),
        (_socket, "a socket"),
    ],
    ids=["pipe", "zero", "null", "socket"],
)
def test_what_is_no_file_is_refused_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object], what: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    make(Path("x.mfidl"))
    done = mfidlc(command, "x.mfidl", *(["--python", "out"] * (command == "compile")), cwd=tmp_path)
    assert done.returncode == 3
    assert f"error[E0001]: cannot read `x.mfidl`: it is {what}, not a regular file" in done.stderr


def test_a_pipe_that_the_caller_hands_over_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    done = _shell(f"cat good.mfidl | {sys.executable} -m mfidl check /dev/stdin", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def _a_file_in_the_way(folder: Path) -> str:
    (folder / "out").write_text("mine")
    return "out"


def _a_file_in_the_way_deep_inside(folder: Path) -> str:
    (folder / "out").mkdir()
    (folder / "out" / "good").write_text("mine")
    return "out"


def _a_folder_in_the_way(folder: Path) -> str:
    (folder / "out" / "good" / "__init__.py").mkdir(parents=True)
    return "out"


@pytest.mark.parametrize(
    "make",
    [
        _a_file_in_the_way,
        _a_file_in_the_way_deep_inside,
        _a_folder_in_the_way,
        lambda _folder: "/proc/nowhere",
        lambda _folder: "/dev/full",
        lambda _folder: "",
    ],
    ids=["file", "deep_file", "folder", "proc", "device", "empty"],
)
def test_output_that_cannot_be_written_is_exit_code_3(tmp_path: Path, make: Callable[[Path], str]) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    out = make(tmp_path)
    before = files_below(tmp_path)
    done = mfidlc("compile", "good.mfidl", "--python", out or "good.mfidl", cwd=tmp_path)
    assert done.returncode == 3
    assert "error[E0004]: cannot write `" in done.stderr
    assert files_below(tmp_path) == before


def test_two_modules_of_one_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.mfidl").write_text("module a.b; struct A { x: u32; }\n")
    (tmp_path / "two.mfidl").write_text("module a.b; struct B { x: u32; }\n")
    done = mfidlc("compile", "one.mfidl", "two.mfidl", "--python", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "error[E0205]" in done.stderr
    assert not (tmp_path / "out").exists()


def test_output_of_another_module_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "one.mfidl").write_text("module same; struct A { x: u32; }\n")
    (tmp_path / "two.mfidl").write_text("module same; struct B { x: u32; }\n")
    assert mfidlc("compile", "one.mfidl", "--python", "out", cwd=tmp_path).returncode == 0
    first = files_below(tmp_path / "out")
    done = mfidlc("compile", "one.mfidl", "two.mfidl", "--python", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert files_below(tmp_path / "out") == first


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a tiny disk can be mounted by root only")
    try:
        fields = "".join(f"  field_{number}: u32;\n" for number in range(200))
        (tmp_path / "big.mfidl").write_text(f"module big;\nstruct A {{\n{fields}}}\n")
        done = mfidlc("compile", "big.mfidl", "--cpp", "disk/out", cwd=tmp_path)
        assert done.returncode == 3
        assert "No space left on device" in done.stderr
        assert files_below(disk) == {}
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_standard_output_is_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    command = f"{sys.executable} -m mfidl check good.mfidl --format json > /dev/full"
    done = _shell(command, tmp_path)
    assert done.returncode == 3
    assert done.stderr == "mfidlc: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize(
    "redirect", ["2>&1 | head -n 1", "--format json | head -n 1", "2>&-", ">&-", ">&- 2>&-"]
)
def test_a_closed_stream_gives_no_traceback(tmp_path: Path, redirect: str) -> None:
    fields = "".join(f"  field_{number}: Missing{number};\n" for number in range(3000))
    (tmp_path / "bad.mfidl").write_text(f"module bad;\nstruct A {{\n{fields}}}\n")
    done = _shell(f"{sys.executable} -m mfidl check bad.mfidl {redirect}", tmp_path)
    assert "Traceback" not in done.stdout + done.stderr
    assert "Exception ignored" not in done.stdout + done.stderr


def test_a_broken_pipe_is_exit_code_141(tmp_path: Path) -> None:
    fields = "".join(f"  field_{number}: Missing{number};\n" for number in range(3000))
    (tmp_path / "bad.mfidl").write_text(f"module bad;\nstruct A {{\n{fields}}}\n")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "mfidl", "check", "bad.mfidl", "--format", "json"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_is_exit_code_130_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "good.mfidl").write_text(GOOD)
    generator = tmp_path / "slow"  # waits once it has the whole request: the interrupt comes meanwhile
    generator.write_text("#!/bin/sh\ncat > request\nmv request told\nexec sleep 300\n")
    generator.chmod(0o755)
    command = [sys.executable, "-m", "mfidl", "compile", "good.mfidl", "--python", "out"]
    command += ["--demo", "out", "--plugin", f"demo={generator}"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    # A shell ignores interrupts for tests in its background, which children inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        while not (tmp_path / "told").exists():
            assert running.poll() is None, "mfidlc ended before its generator"
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, told) == (130, "mfidlc: interrupted; nothing was left half-written\n")
    assert not (tmp_path / "out").exists()


def _shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )


BROKEN = (
    "import sys, mfidl.compiler as c\n"
    "def fail(*_): raise {error}\n"
    "c.check = fail\n"
    "from mfidl.cli import main\n"
    "sys.argv = ['mfidlc', 'check', 'x.mfidl']\n"
    "main()\n"
)


@pytest.mark.parametrize("error", ["KeyError('x\\ny')", "RecursionError('deep')", "MemoryError()"])
def test_a_mistake_of_ours_is_one_line_and_exit_code_70(tmp_path: Path, error: str) -> None:
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}"}
    env.pop("MFIDLC_DEBUG", None)
    command = [sys.executable, "-c", BROKEN.format(error=error)]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 70
    assert done.stderr.startswith(f"mfidlc: internal error: {error.partition('(')[0]}")
    assert "please report it" in done.stderr
    assert done.stderr.count("\n") == 1
    env["MFIDLC_DEBUG"] = "1"
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (70, True)


def test_an_interrupt_while_writing_puts_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "out"
    root.mkdir()
    (root / "kept.py").write_text("old")
    replace, calls = os.replace, 0

    def interrupted(source: str, target: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    files = [GeneratedFile("kept.py", "new", "m"), GeneratedFile("deep/other.py", "new", "m")]
    with pytest.raises(KeyboardInterrupt):
        write_trees([OutputTree("cpp", str(root), files)], ["m"], Diagnostics())
    assert files_below(root) == {"kept.py": b"old"}
    assert [path.name for path in root.iterdir()] == ["kept.py"]
