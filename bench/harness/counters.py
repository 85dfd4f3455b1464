"""What a process has used, measured from outside: processor time, memory, system calls."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Protocol

_ATTACH_SECONDS = 10.0


def cpu_seconds(pid: int) -> float:
    """Processor time of all threads, including ended ones, to the nanosecond (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def resident_kb(pid: int) -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


class Counter(Protocol):
    def stop(self) -> int | None:
        """How many system calls the process has made since; None if this machine cannot count them."""


class _Perf:
    """The kernel's own counter, which hardly disturbs what it counts."""

    def __init__(self, pid: int) -> None:
        control_read, self._control = os.pipe()
        self._answer, answer_write = os.pipe()
        self._process = subprocess.Popen(
            [
                "perf", "stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-p", str(pid),
                "--delay", "-1", "--control", f"fd:{control_read},{answer_write}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(control_read, answer_write),
            start_new_session=True,
        )  # fmt: skip
        os.close(control_read)
        os.close(answer_write)
        self._tell(b"enable\n")

    def _tell(self, what: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self._control, what)
            os.read(self._answer, 16)  # ends when perf ends, too

    def stop(self) -> int | None:
        self._tell(b"disable\n")
        os.close(self._control)
        os.close(self._answer)
        said = _end(self._process)
        found = re.search(r"^(\d+),.*raw_syscalls:sys_enter", said, re.MULTILINE)
        return int(found[1]) if found else None


class _Strace:
    """Slows every system call down, so a program that coalesces its writes makes fewer of them."""

    def __init__(self, pid: int) -> None:
        self._process = subprocess.Popen(
            ["strace", "-f", "-c", "-U", "calls,name", "-p", str(pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stderr is not None
        self._process.stderr.readline()  # "attached", or why not

    def stop(self) -> int | None:
        found = re.search(r"^\s*(\d+)\s+total$", _end(self._process), re.MULTILINE)
        return int(found[1]) if found else None


def _end(process: subprocess.Popen[bytes]) -> str:
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=_ATTACH_SECONDS)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return ""


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    done = subprocess.run(command, capture_output=True, check=False, timeout=_ATTACH_SECONDS)
    return done.returncode == 0 and b"not supported" not in done.stderr


def syscall_counter() -> type[_Perf] | type[_Strace] | None:
    """The class that counts a process's calls from its construction to stop(); None if neither perf nor
    strace is permitted."""
    if _works(["perf", "stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "true"]):
        return _Perf
    if _works(["strace", "-c", "true"]):
        return _Strace
    return None
