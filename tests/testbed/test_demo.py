"""The demo with few documents: its answers are right, and it leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = [sys.executable, str(ROOT / "examples" / "testbed" / "demo.py")]
SMALL = ["--per-collection", "200", "--limit", "20", "--rounds", "1", "--seconds", "100"]


@contextmanager
def demo(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*DEMO, *SMALL],
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"the demo never said '{words}'")


def processes_in(folder: Path) -> list[str]:
    """The processes that work in the folder; the demo's children all do, also after it was removed."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str((process / "cwd").readlink()).startswith(str(folder)):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it has ended meanwhile
    return found


def test_all_answers_are_right_and_nothing_stays(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        out, errors = process.communicate(timeout=110)

    assert process.returncode == 0, out + errors
    assert "none failed" in out
    assert "others skipped" in out
    assert "others resumed" in out
    assert "All answers are those of the plain index." in out
    assert list(tmp_path.iterdir()) == []
    assert processes_in(tmp_path) == []


@pytest.mark.parametrize("moment", ["documents from WordNet", "Building the index", "kill -9", "light:"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_and_nothing_stays(
    tmp_path: Path, moment: str, number: signal.Signals
) -> None:
    with demo(tmp_path) as process:
        read_until(process, moment)

        process.send_signal(number)
        out, errors = process.communicate(timeout=20)

    assert process.returncode == 130, out + errors
    assert errors.strip() == "stopped"
    assert list(tmp_path.iterdir()) == []
    assert processes_in(tmp_path) == []


def test_no_child_survives_a_killed_driver(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        read_until(process, "Building the index")
        assert processes_in(tmp_path) != []

        process.kill()

    end = time.monotonic() + 10
    while processes_in(tmp_path) and time.monotonic() < end:
        time.sleep(0.05)
    assert processes_in(tmp_path) == []


def test_a_missing_build_is_named(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "MF_BUILD_DIR": "/nowhere"}

    done = subprocess.run([*DEMO, *SMALL], env=environment, capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert "mf-controller is not built; run make demo" in done.stderr
    assert list(tmp_path.iterdir()) == []
