"""Child processes that never outlive the demo, and never make it wait without bound.

Each child leads a session of its own, so a Ctrl-C at the terminal reaches the driver alone; it ends the
others in order. Should the driver itself be killed, the kernel kills its children (setpriv --pdeathsig), and
so it does with one that was started in the moment of a Ctrl-C. A child's standard error goes to a file; its
content is shown when the child fails.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

READY_SECONDS = 15.0
COMMAND_SECONDS = 60.0
STOP_SECONDS = 5.0


class DemoError(Exception):
    """The demo cannot go on, or its answers are wrong. The text is all that the user sees."""


def _guard() -> list[str]:
    """The front of a command that ends with this process, where setpriv exists. A process that asks for
    the signal may have lost its parent just before, and would never get it: so it looks once more.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return []
    alive = f'[ "$PPID" = {os.getpid()} ] && exec "$@"'
    return [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", alive, "sh"]


class Child:
    def __init__(self, name: str, command: Sequence[str | Path], folder: Path, environment: dict[str, str]):
        self.name = name
        self._errors = folder / f"{name.replace(' ', '-')}.stderr"
        self._lines: deque[bytes] = deque()
        self._rest = b""  # the start of a line whose end has not come yet
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*_guard(), *map(str, command)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ready(self) -> str:
        """Waits for the first line of a server, its address, which says that it listens."""
        address = self._line(time.monotonic() + READY_SECONDS)
        if "://" not in address:
            raise DemoError(f"{self.name} said '{address}' instead of its address{self._said()}")
        return address

    def ask(self, command: str) -> list[list[str]]:
        """The answer's lines, each as its fields. Raises DemoError for a command that failed."""
        answer = self.try_ask(command)
        if answer and answer[-1][0] == "failed":
            raise DemoError(f"{self.name}: {command}: {answer[-1][1]}{self._said()}")
        return answer

    def try_ask(self, command: str) -> list[list[str]]:
        """Like ask(), but a last line `failed REASON` is an answer as well."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise DemoError(f"{self.name} has ended{self._said()}") from None
        end = time.monotonic() + COMMAND_SECONDS
        answer = []
        while (line := self._line(end)) != "done":
            answer.append(line.split("\t"))
        return answer

    def cpu(self) -> int:
        """Microseconds that its threads have spent on a processor so far; of those that are still there."""
        spent = 0
        for task in Path(f"/proc/{self.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                spent += int(task.read_text().split()[0])
        return spent // 1000

    def kill(self) -> None:
        """kill -9, and waits until the kernel has taken the process away."""
        self._signal(signal.SIGKILL)
        self._process.wait(STOP_SECONDS)

    def terminate(self) -> None:
        """SIGTERM; says nothing about when the process ends: see finish()."""
        self._signal(signal.SIGTERM)

    def finish(self, end: float) -> None:
        """Waits until `end`, then kills the whole session."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, end - time.monotonic()))
        # Also after the child has gone: a grandchild in its session would be left behind.
        self._signal(signal.SIGKILL)
        self._process.wait(STOP_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _line(self, end: float) -> str:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while not self._lines:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise DemoError(f"{self.name} gave no answer in time{self._said()}")
            data = os.read(descriptor, 1 << 20)
            if not data:
                raise DemoError(f"{self.name} has ended{self._said()}")
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._lines.extend(lines)
        return self._lines.popleft().decode()

    def _said(self) -> str:
        with contextlib.suppress(OSError):
            text = self._errors.read_text(errors="backslashreplace").strip()
            if text:
                return "; its last words:\n  " + "\n  ".join(text.splitlines()[-8:])
        return ""


class Children:
    """Starts children in a folder; leaving the `with` block ends all of them, in the opposite order."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._children: list[Child] = []

    def start(self, name: str, *command: str | Path) -> Child:
        child = Child(name, command, self._folder, self._environment)
        self._children.append(child)
        return child

    def cpu(self) -> int:
        return sum(child.cpu() for child in self._children)

    def stop(self, child: Child) -> None:
        self._children.remove(child)
        child.terminate()
        child.finish(time.monotonic() + STOP_SECONDS)

    def __enter__(self) -> "Children":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in reversed(self._children):
            child.terminate()
        end = time.monotonic() + STOP_SECONDS
        for child in reversed(self._children):
            child.finish(end)
