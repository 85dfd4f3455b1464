"""A log that nothing reads holds up no server: its lines are kept up to a limit, then counted."""

import logging
import socket
import threading
from collections.abc import Iterator

import pytest

import mf
from mf.core import log, log_writer
from tests.python.conftest import Served, eventually


class Stuck(logging.Handler):
    """Blocks as a full pipe does, until something is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = threading.Event()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.reads.wait(60)
        self.texts.append(record.getMessage())


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    monkeypatch.setattr(log, "_writer", None)
    monkeypatch.setattr(log, "_warnings", log._Warnings())
    monkeypatch.setattr(log_writer, "MOST_KEPT", 50)
    handler = Stuck()
    logger = logging.getLogger("mf")
    logger.addHandler(handler)
    yield handler
    handler.reads.set()
    logger.removeHandler(handler)


def test_a_server_answers_while_nothing_reads_its_log(
    served: Served, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All these lines are about one host; as many about many hosts would be written."""
    monkeypatch.setattr(log, "_MOST_WARNINGS", 1000)
    port = int(served.server.address.rpartition(":")[2])
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", port)) as bad:
            bad.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert bad.recv(4096) is not None
    assert served.echo.at("a").twice(2, options=mf.CallOptions(deadline=20.0)) == 4
    assert stuck.texts == []
    stuck.reads.set()
    assert eventually(lambda: any("lines_left_out" in each for each in stuck.texts))
    left_out = next(each for each in stuck.texts if "lines_left_out" in each)
    assert len(stuck.texts) - 1 + int(left_out.removeprefix("lines_left_out count=")) >= 200


def test_lines_are_written_in_order_before_the_next_statement(stuck: Stuck) -> None:
    stuck.reads.set()
    for number in range(300):
        log.warning("line %d", number)
        if stuck.texts[-1:] != [f"line {number}"]:
            assert eventually(lambda number=number: stuck.texts[-1] == f"line {number}")  # type: ignore[misc]
    assert stuck.texts == [f"line {number}" for number in range(300)]
