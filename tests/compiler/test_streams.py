"""What commands read and write that is no file: devices, pipes, links, and streams that are closed."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mfidl.diagnostics import Diagnostics
from mfidl.emit import stream
from mfidl.emit.write import BuildFiles, write_build_files, write_file
from tests.compiler.test_cli import ROOT

A = "encode s.mfidl u8 --json 65 --out"  # writes the byte of that letter
NULL, ZERO, FULL = 3, 5, 7
LIMIT = 128 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`stdout` is what /dev/stdout is; that itself a mistake of ours, run by root, could replace."""
    (tmp_path / "s.mfidl").write_text("module s; @tier(archive) struct A { 1: x: u8; }\n")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    return tmp_path


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`mfidlc` in a command is the compiler. Runs are remembered in a folder of the test's own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MFIDL_CACHE": str(folder / "cache")}
    script = f'mfidlc() {{ "{sys.executable}" -m mfidl "$@"; }}\n{command}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    return done


def device(path: Path, minor: int) -> None:
    """One of our own, where we may make it; never the system's where a mistake could replace that."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    except PermissionError:
        path.symlink_to({NULL: "/dev/null", ZERO: "/dev/zero", FULL: "/dev/full"}[minor])


WRITERS = [
    A,
    "descriptor s.mfidl --out",
    "compile s.mfidl --python out --depfile",
    "compile s.mfidl --python out --outputs",
]


# Output -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [*WRITERS, "compile s.mfidl --python out --stamp"])
def test_a_device_takes_what_is_written_and_stays(folder: Path, command: str) -> None:
    device(folder / "device", NULL)
    done = shell(f"mfidlc {command} device", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stat.S_ISCHR((folder / "device").stat().st_mode)


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_device_is_exit_code_3_and_is_not_read(folder: Path, command: str) -> None:
    device(folder / "device", FULL)
    done = shell(f"mfidlc {command} device", folder)
    assert done.returncode == 3
    assert "error[E0004]: cannot write `device`: No space left on device\n" in done.stderr
    assert stat.S_ISCHR((folder / "device").stat().st_mode)


@pytest.mark.parametrize(
    "command",
    [
        f"mfidlc {A} stdout | cat",
        f"mfidlc {A} stdout > file; cat file",
        f"mfidlc {A} /proc/self/fd/1 > file; cat file",
        f"mfidlc {A} /dev/fd/3 3> file; cat file",
        f"mfidlc {A} /dev/fd/3 3>&1 | cat",
        f"ln -s stdout link; mfidlc {A} link > file; cat file",
        f"exec 3> file; rm file; mfidlc {A} /dev/fd/3; cat /dev/fd/3",
    ],
)
def test_what_the_caller_opened_is_written(folder: Path, command: str) -> None:
    (folder / "file").write_text("old")
    done = shell(command, folder)
    assert (done.returncode, done.stdout) == (0, "A")
    assert "E0004" not in done.stderr


def test_what_the_caller_opened_is_written_where_it_is(folder: Path) -> None:
    done = shell(f"(echo -n '<'; mfidlc {A} stdout; echo -n '>') > file; cat file", folder)
    assert (done.returncode, done.stdout) == (0, "<A>")


def test_a_descriptor_that_is_not_for_writing_is_exit_code_3(folder: Path) -> None:
    done = shell(f"mfidlc {A} /dev/fd/3 3< s.mfidl", folder)
    assert done.returncode == 3
    assert "error[E0004]: cannot write `/dev/fd/3`: Bad file descriptor\n" in done.stderr
    assert (folder / "s.mfidl").read_text().startswith("module s;")


@pytest.mark.parametrize("command", WRITERS)
def test_a_named_pipe_gives_its_reader_all(folder: Path, command: str) -> None:
    os.mkfifo(folder / "pipe")
    done = shell(f"cat pipe > got & mfidlc {command} pipe && wait $!", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "got").stat().st_size > 0
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


def test_a_named_pipe_is_waited_for_but_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    late = threading.Timer(0.1, reader.start)
    late.start()
    assert write_file(str(pipe), b"data" * 100_000, Diagnostics())
    late.join()
    reader.join()
    assert got == [b"data" * 100_000]

    monkeypatch.setattr(stream, "_WAIT", 0)
    diagnostics = Diagnostics()
    assert not write_file(str(pipe), b"data", diagnostics)
    [told] = diagnostics.sorted()
    assert (told.code, told.message) == ("E0004", f"cannot write `{pipe}`: no process reads this pipe")


def test_a_link_stays_and_its_file_keeps_its_permissions(folder: Path) -> None:
    for name in ("link", "there"):
        (folder / name).symlink_to(f"target_of_{name}")
    (folder / "target_of_link").write_text("old")
    (folder / "target_of_link").chmod(0o620)
    for name in ("link", "there"):
        assert shell(f"mfidlc {A} {name}", folder).returncode == 0
        assert (folder / name).is_symlink()
        assert (folder / f"target_of_{name}").read_text() == "A"
    assert stat.S_IMODE((folder / "target_of_link").stat().st_mode) == 0o620
    assert sorted(path.name for path in folder.iterdir()) == [
        *("link", "s.mfidl", "stdout", "target_of_link", "target_of_there", "there")
    ]


def test_links_in_a_circle_are_exit_code_3(folder: Path) -> None:
    (folder / "link").symlink_to("link")
    done = shell(f"mfidlc {A} link", folder)
    assert (done.returncode, "Too many levels of symbolic links" in done.stderr) == (3, True)


def test_a_generated_file_keeps_its_permissions(folder: Path) -> None:
    assert shell("mfidlc compile s.mfidl --python out", folder).returncode == 0
    made = folder / "out" / "s" / "__init__.py"
    made.write_text("edited")
    made.chmod(0o640)
    assert shell("mfidlc compile s.mfidl --python out", folder).returncode == 0
    assert made.read_text() != "edited"
    assert stat.S_IMODE(made.stat().st_mode) == 0o640


def test_a_stream_that_fails_leaves_the_files_of_its_run_as_they_were(tmp_path: Path) -> None:
    device(tmp_path / "full", FULL)
    (tmp_path / "outputs").write_text("old")
    wanted = BuildFiles(depfile=str(tmp_path / "full"), outputs=str(tmp_path / "outputs"))
    diagnostics = Diagnostics()
    assert not write_build_files(wanted, [], ["x"], ["mfidlc"], diagnostics)
    assert [each.code for each in diagnostics.sorted()] == ["E0004"]
    assert (tmp_path / "outputs").read_text() == "old"


def test_a_run_that_wrote_to_a_pipe_does_so_again(folder: Path) -> None:
    command = "mfidlc compile s.mfidl --python out --outputs stdout | grep -c py"
    first, second = (shell(command, folder).stdout for _ in range(2))
    assert first == second != "0\n"


# Closed streams ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "decode s.mfidl u8 --hex 05",
        "encode s.mfidl u8 --json 5",
        "encode s.mfidl u8 --json 5 --hex",
        "annotate s.mfidl u8 --hex 05",
        "vectors s.mfidl",
        "descriptor s.mfidl",
        "proto s.mfidl",
        "explain s.mfidl",
        "check s.mfidl --format json",
        "lint --list",
        "help",
        "--help",
        "--version",
    ],
)
def test_output_to_a_closed_stream_is_exit_code_3(folder: Path, command: str) -> None:
    done = shell(f"mfidlc {command} >&-", folder)
    assert done.returncode == 3
    assert done.stderr == "mfidlc: cannot write to standard output: Bad file descriptor\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("check s.mfidl >&-", 0),
        ("compile s.mfidl --python out >&-", 0),
        (f"{A} file >&- 2>&- <&-", 0),
        ("encode s.mfidl u8 --json 256 2>&-", 1),
        ("encode s.mfidl u8 --json 256 >&- 2>&- <&-", 1),
        ("decode s.mfidl u8 --hex 0505 2>&-", 1),
        ("check none.mfidl 2>&-", 3),
        ("decode s.mfidl u8 <&-", 2),
        ("fmt --stdin s.mfidl <&-", 2),
    ],
)
def test_a_closed_stream_that_is_not_needed_changes_nothing(folder: Path, command: str, code: int) -> None:
    done = shell(f"mfidlc {command}", folder)
    assert (done.returncode, done.stdout) == (code, "")
    assert "internal error" not in done.stderr


# Input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("decode s.mfidl string device", "device"),
        ("annotate s.mfidl string device", "device"),
        ("decode s.mfidl string < device", "standard input"),
        ("encode s.mfidl string < device", "standard input"),
    ],
)
def test_input_without_an_end_is_exit_code_1(folder: Path, command: str, name: str) -> None:
    device(folder / "device", ZERO)
    done = shell(f"mfidlc {command}", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error[budget_exceeded]: this goes on after the {LIMIT} bytes that a message may take\n --> {name}\n"
    )


def test_a_descriptor_and_settings_have_a_bound_too(folder: Path) -> None:
    device(folder / "device", ZERO)
    with (folder / "big.desc").open("wb") as made:
        made.write(b"\x08")
        made.truncate(LIMIT + 1)
    descriptor = shell("mfidlc decode big.desc A --hex 00", folder)
    settings = shell("mfidlc lint s.mfidl --config device", folder)
    assert (descriptor.returncode, " --> big.desc\n" in descriptor.stderr) == (1, True)
    assert (settings.returncode, "cannot read `device`: it goes on after" in settings.stderr) == (2, True)


@pytest.mark.parametrize(
    "command",
    [
        "printf A | mfidlc decode s.mfidl u8",
        "printf A | mfidlc decode s.mfidl u8 /dev/stdin",
        "mfidlc decode s.mfidl u8 <(printf A)",
        "mkfifo pipe; printf A > pipe & mfidlc decode s.mfidl u8 pipe",
    ],
)
def test_bytes_come_through_every_pipe(folder: Path, command: str) -> None:
    done = shell(command, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "65\n", "")


def test_what_cannot_be_read_is_named(folder: Path) -> None:
    done = shell("mfidlc decode s.mfidl u8 /proc/self/mem", folder)
    assert (done.returncode, done.stderr) == (3, "mfidlc: `/proc/self/mem`: Input/output error\n")
