"""The server's end of the process that answers: one question at a time, each with a deadline."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from typing import Any

DEADLINE = 5.0  # seconds for an answer
_START = 60.0  # seconds until the process is ready, at most
_WAITING = 8  # questions that wait for the one before them
_LONGEST = 16 << 20  # bytes of an answer
_CHUNK = 1 << 16


class Busy(Exception):  # noqa: N818 - it is what the page says
    """Too many questions wait already, or the one before takes all the time."""


class Worker:
    """One process, started when it is needed and started again after it was ended. Threads may share it."""

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._turn = threading.Lock()
        self._places = threading.Semaphore(_WAITING)
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: socket.socket | None = None

    def ask(self, question: dict[str, Any]) -> bytes:
        """The answer as JSON; where there is none in time, one that says so. Raises Busy."""
        if not self._places.acquire(blocking=False):
            raise Busy
        try:
            if not self._turn.acquire(timeout=self._deadline):
                raise Busy
            try:
                return self._asked(json.dumps(question).encode() + b"\n")
            finally:
                self._turn.release()
        finally:
            self._places.release()

    def close(self) -> None:
        """Ends the process."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._pipe = self._process = None

    def _asked(self, line: bytes) -> bytes:
        try:
            if self._process is None:
                self._start()
            assert self._pipe is not None
            end = time.monotonic() + self._deadline
            self._pipe.settimeout(self._deadline)
            self._pipe.sendall(line)
            return self._line(end)
        except TimeoutError:
            self.close()
            return _failure(f"this took longer than {self._deadline:g} s, and was ended")
        except OSError:
            self.close()
            return _failure(
                "the compiler has ended: the schema needs more memory than the playground gives it"
            )

    def _line(self, end: float) -> bytes:
        assert self._pipe is not None
        found = bytearray()
        while not found.endswith(b"\n"):
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._pipe.settimeout(left)
            piece = self._pipe.recv(_CHUNK)
            if not piece:
                raise ConnectionResetError
            found += piece
            if len(found) > _LONGEST:
                self.close()
                return _failure(f"the answer is larger than {_LONGEST >> 20} MiB: try a shorter schema")
        return bytes(found)

    def _start(self) -> None:
        """Waits until the process is ready; the deadline of the question begins then."""
        ours, its = socket.socketpair()
        paths = os.pathsep.join(os.path.abspath(each) for each in sys.path if each)
        command = [sys.executable, "-P", "-m", "mfidl.serve.work", str(its.fileno())]
        with its:
            self._process = subprocess.Popen(
                command,
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={"PYTHONPATH": paths, "LC_ALL": "C.UTF-8"},
                start_new_session=True,  # a Ctrl-C at the terminal is the server's
            )
        self._pipe = ours
        self._line(time.monotonic() + _START)


def _failure(reason: str) -> bytes:
    return json.dumps({"failure": reason}).encode()
