"""F6. Runs one program: bytes in, bytes out, with limits of time and size. It does not interpret them.

The program is started in a process group of its own, and the whole group is killed before `answer` returns or
raises: nothing that it started outlives it. Its standard error is ours. Whether it reads its input to the end
is its own affair.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_CHUNK = 1 << 16
_GLANCE = 0.1  # seconds between checks whether it has ended, while another process holds its output


class Failed(Exception):  # noqa: N818 - it is what happened, and said so in a diagnostic
    """The program gave no answer: a code of the catalogue, with its values."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.values = values


def answer(program: str, data: bytes, timeout: float, limit: int) -> bytes:
    """What the program writes when it is given `data`; `Failed` unless it ends with status 0 in time."""
    child = _start(program)
    try:
        output = _Exchange(child, data, time.monotonic() + timeout, timeout, limit).run()
        if child.returncode != 0:
            raise Failed("E0902", how=_how(child.returncode))
        return output
    finally:
        _end(child)


def _start(program: str) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            [program if "/" in program else f"./{program}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        exists = Path(program).exists()
        reason = "the interpreter in its first line was not found" if exists else "there is no such file"
        raise Failed("E0901", path=program, reason=reason) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Failed("E0901", path=program, reason=reason) from None


def _end(child: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _how(status: int) -> str:
    if status > 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


@dataclass(slots=True)
class _Exchange:
    """Feeds and reads the child at the same time, so that neither blocks the other."""

    child: "subprocess.Popen[bytes]"
    data: bytes
    deadline: float
    timeout: float
    limit: int

    def run(self) -> bytes:
        """All of its output; the child has ended."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        output = bytearray()
        left = memoryview(self.data)
        with selectors.DefaultSelector() as selector:
            for pipe, event in (
                (self.child.stdin, selectors.EVENT_WRITE),
                (self.child.stdout, selectors.EVENT_READ),
            ):
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, event)
            while self.child.stdout in selector.get_map():
                ready = selector.select(min(_GLANCE, self._time_left()))
                if not ready and self.child.poll() is not None:
                    break  # another process holds its output open
                for key, _ in ready:
                    if key.fileobj is self.child.stdin:
                        left = self._feed(selector, self.child.stdin, left)
                    else:
                        self._take(selector, self.child.stdout, output)
        self._wait()
        return bytes(output)

    def _time_left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Failed("E0904", seconds=f"{self.timeout:g}")
        return left

    def _feed(self, selector: selectors.BaseSelector, pipe: IO[bytes], left: memoryview) -> memoryview:
        try:
            left = left[os.write(pipe.fileno(), left[:_CHUNK]) :]
        except BlockingIOError:
            return left
        except OSError:
            left = left[:0]  # it reads no more input
        if not left:
            selector.unregister(pipe)
            with contextlib.suppress(OSError):
                pipe.close()
        return left

    def _take(self, selector: selectors.BaseSelector, pipe: IO[bytes], output: bytearray) -> None:
        try:
            chunk = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            selector.unregister(pipe)
        output += chunk
        if len(output) > self.limit:
            raise Failed("E0905", limit=self.limit >> 20)

    def _wait(self) -> None:
        try:
            self.child.wait(self._time_left())
        except subprocess.TimeoutExpired:
            raise Failed("E0904", seconds=f"{self.timeout:g}") from None
