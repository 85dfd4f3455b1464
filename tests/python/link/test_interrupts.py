"""Ctrl-C at every line that a call executes on its link: the call ends, and the client continues."""

import linecache
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import mf
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient


@pytest.fixture
def server() -> Iterator[mf.Server]:
    one = mf.Server("tcp://127.0.0.1:0", drain_timeout=2.0)
    one.offer(Recorder(), agent="a", inline=True)
    one.start()
    yield one
    one.stop()


def _of_a_lock(frame: FrameType) -> bool:
    """A `with` is traced again when it ends, before the lock is released. No signal is handled there."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")


class Interruption:
    """Raises KeyboardInterrupt at the line with this number, counted over the files of the link."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.happened = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG002
        if "/mf/link/" not in frame.f_code.co_filename or frame.f_code.co_name == "__del__":
            return None
        if event == "line" and not self.happened and not _of_a_lock(frame):
            self.left -= 1
            if self.left < 0:
                self.happened = True
                raise KeyboardInterrupt
        return self


def test_a_client_survives_an_interrupt_at_any_line(server: mf.Server) -> None:
    lines = broken = 0
    while True:
        with mf.Client(server.address) as client:
            echo = EchoClient(client).at("a")
            assert echo.twice(1) == 2
            interruption = Interruption(lines)
            sys.settrace(interruption)
            try:
                echo.twice(2)
            except KeyboardInterrupt:
                broken += 1
            finally:
                sys.settrace(None)
            assert echo.twice(3, options=mf.CallOptions(deadline=5)) == 6, lines
        if not interruption.happened:
            break
        lines += 1

    assert broken == lines
    assert lines > 30
