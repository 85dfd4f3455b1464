"""Ctrl-C, and a signal handler that calls, at every line that a call, a stream or a batch executes on its
link: the call ends, and the client continues."""

import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

import mf
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient, Number
from tests.python.flow import FlowClient
from tests.python.flowing import Plain


@pytest.fixture
def server() -> Iterator[mf.Server]:
    one = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0))
    one.offer(Recorder(), agent="a", inline=True)
    one.offer(Plain())
    one.start()
    yield one
    one.stop()


def _of_a_lock(frame: FrameType) -> bool:
    """A `with` is traced again when it ends, before the lock is released. No signal is handled there."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")


def _ctrl_c() -> None:
    raise KeyboardInterrupt


class Interruption:
    """Does something, or raises KeyboardInterrupt, at the line with this number, counted over the files of
    the link."""

    def __init__(self, at: int, act: Callable[[], None] = _ctrl_c) -> None:
        self.left = at
        self.happened = False
        self._act = act

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG002
        if "/mf/link/" not in frame.f_code.co_filename or frame.f_code.co_name == "__del__":
            return None
        if event == "line" and not self.happened and not _of_a_lock(frame):
            self.left -= 1
            if self.left < 0:
                self.happened = True
                sys.settrace(None)
                self._act()
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


def _stream(client: mf.Client) -> None:
    assert list(FlowClient(client).count(5)) == [1, 2, 3, 4, 5]


def _duplex(client: mf.Client) -> None:
    words = FlowClient(client).shout()
    words.write("a")
    assert next(words) == "A"
    words.done_writing()
    assert list(words) == []


def _batch(client: mf.Client) -> None:
    batch = EchoClient(client).at("a").twice_batch([Number(x) for x in range(3)])
    assert [each.value() for each in batch.results()] == [0, 2, 4]


def _call(client: mf.Client) -> None:
    assert EchoClient(client).at("a").twice(2) == 4


@pytest.mark.parametrize("way", [_stream, _duplex, _batch])
def test_a_client_survives_an_interrupt_at_any_line_of_a_stream_or_batch(
    server: mf.Server, way: Callable[[mf.Client], None]
) -> None:
    lines = 0
    soon = mf.CallOptions(deadline=5)
    while True:
        with mf.Client(server.address) as client:
            echo = EchoClient(client).at("a")
            assert echo.twice(1) == 2
            interruption = Interruption(lines)
            sys.settrace(interruption)
            try:
                way(client)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(None)
            assert echo.twice(3, options=soon) == 6, lines
        if not interruption.happened:
            break
        lines += 1
    assert lines > 60


@pytest.mark.parametrize("way", [_call, _stream, _batch])
def test_a_call_of_a_signal_handler_succeeds_or_fails_at_once(
    server: mf.Server, way: Callable[[mf.Client], None]
) -> None:
    """The deadline of the call is longer than the test may last."""
    lines, step = 0, 3
    refused = worked = 0
    while True:
        with mf.Client(server.address) as client:
            echo = EchoClient(client).at("a")
            assert echo.twice(1) == 2
            failures: list[mf.Error] = []

            def handle(echo: EchoClient = echo, failures: list[mf.Error] = failures) -> None:
                try:
                    assert echo.twice(7, options=mf.CallOptions(deadline=3600)) == 14
                except mf.Error as raised:
                    failures.append(raised)

            interruption = Interruption(lines, handle)
            sys.settrace(interruption)
            try:
                way(client)
            finally:
                sys.settrace(None)
            for failure in failures:
                assert failure.code is mf.Code.INVALID_ARGUMENT
                assert "a call of this client is under way on this thread" in failure.message
            refused += len(failures)
            worked += interruption.happened and not failures
        if not interruption.happened:
            break
        lines += step
    assert refused > 5
    assert worked > 0


def test_a_call_within_a_call_of_another_thread_works(server: mf.Server) -> None:
    with mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        threads = [threading.Thread(target=echo.sleep, args=(0.2,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        assert [echo.twice(x) for x in range(20)] == [2 * x for x in range(20)]
        for thread in threads:
            thread.join()
