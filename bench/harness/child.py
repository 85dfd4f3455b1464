"""Child processes that cannot outlive the bench or hang it.

Each runs in a process group of its own, pinned to the cores it is given; all reads from it have a time limit.
The programs exit when their stdin ends (bench/rpc/commands.hpp), so nothing is left even if this process is
killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

_END_SECONDS = 5.0


class BenchError(Exception):
    """A program of the bench did not do what it should; says which, and what it wrote to stderr."""


def output_of(
    command: Sequence[str | os.PathLike[str]],
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> str:
    """What a command that ends by itself prints. Raises BenchError if it fails, or takes longer."""
    name = " ".join(map(str, command))
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise BenchError(f"{name} did not end within {seconds:g} s") from None
    if done.returncode != 0:
        why = done.stderr.strip() or done.stdout.strip()
        raise BenchError(f"{name} ended with status {done.returncode}: {why}")
    return done.stdout


class Child:
    def __init__(self, command: Sequence[str], cores: set[int], env: Mapping[str, str] | None = None) -> None:
        self.name = " ".join(command)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - end() closes it
        ours = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)  # affects this thread; the child inherits it
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
                env={**os.environ, **(env or {})},
            )
        finally:
            os.sched_setaffinity(0, ours)
        self._buffer = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failure("ended early") from None

    def hear(self, seconds: float) -> str:
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        fd = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise self._failure(f"gave no answer within {seconds:g} s")
            got = os.read(fd, 65536)
            if not got:
                raise self._failure("ended early")
            self._buffer += got
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.decode()

    def _failure(self, what: str) -> BenchError:
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()[-2000:]
        return BenchError(f"{self.name} {what}" + (f": {said}" if said else ""))

    def signal(self, number: signal.Signals) -> None:
        """Sends the signal to its process group; does nothing if that has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> None:
        """Waits until it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self._failure(f"did not end within {seconds:g} s") from None

    def end(self) -> None:
        """Closes its stdin, waits for its end, and kills the group if that did not help."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(_END_SECONDS)
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
