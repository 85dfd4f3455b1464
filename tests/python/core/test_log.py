"""What is logged of handlers that fail, and how many warnings are written."""

import logging
from threading import Event

import pytest

from mf.core import log


def fail(text: str) -> None:
    raise ValueError(text)


def fails(where: str, text: str) -> None:
    try:
        fail(text)
    except ValueError as raised:
        log.log_handler_failure(where, raised)
    wait_until_written()


def wait_until_written() -> None:
    """A caller waits only a moment for the thread of the log, which may be late on a busy machine."""
    if log._writer is not None:
        written = Event()
        log._writer.write(written.set)
        assert written.wait(60)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    time = [0.0]
    monkeypatch.setattr(log, "monotonic", lambda: time[0])
    monkeypatch.setattr(log, "_failures", log._Failures())
    monkeypatch.setattr(log, "_warnings", log._Warnings())
    return time


def test_the_traceback_of_a_cause_is_logged_once_and_later_failures_are_counted(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(1_000):
        fails("Index.query", str(n))
    [first] = caplog.records
    assert (first.getMessage(), first.exc_info is not None) == ("Index.query failed", True)

    now[0] = 10.0
    fails("Index.query", "a")
    [_, second] = caplog.records
    assert second.getMessage() == "Index.query failed 1000 times more, the last time with 'ValueError: a'"
    assert (second.levelno, second.exc_info) == (logging.ERROR, None)

    now[0] = 19.9
    fails("Index.query", "b")
    assert len(caplog.records) == 2


def test_another_handler_or_another_line_is_another_cause(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    fails("Index.query", "a")
    fails("Index.count", "a")
    try:
        int("x")
    except ValueError as raised:
        log.log_handler_failure("Index.query", raised)
    assert [record.getMessage() for record in caplog.records] == [
        "Index.query failed",
        "Index.count failed",
        "Index.query failed",
    ]
    assert all(record.exc_info for record in caplog.records)
    assert now == [0.0]


def test_causes_without_end_are_not_remembered_without_end(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(2_000):
        fails(f"connection {n}", "a")
    assert len(caplog.records) == 2_000
    assert len(log._failures._known) <= 256
    assert now == [0.0]


def test_an_event_is_one_line_whatever_its_fields_say() -> None:
    said = log.line(
        "lost", topic="a.B", peer="tcp://1.2.3.4:5", agents="", reason='no "x"\nhere', long="x" * 999
    )
    fields = said.split(" long=")
    assert fields[0] == r'lost topic=a.B peer=tcp://1.2.3.4:5 agents="" reason="no \"x\"\nhere"'
    assert fields[1] == '"' + "x" * 512 + '…"'


def texts(caplog: pytest.LogCaptureFixture) -> list[str]:
    wait_until_written()
    return [record.getMessage() for record in caplog.records]


def test_ten_of_many_warnings_about_one_host_are_written_and_the_others_counted(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    for port in range(9_600):
        log.warning("%s: %s", f"tcp://10.0.0.7:{port}", "no HELLO", peer=f"tcp://10.0.0.7:{port}")
    assert len(texts(caplog)) == 10

    log.warning("%s: %s", "tcp://10.0.0.8:1", "no HELLO", peer="tcp://10.0.0.8:1")
    assert len(texts(caplog)) == 11

    now[0] = 10.0
    log.warning("%s", "another event")
    assert texts(caplog)[11:] == [
        'warnings_left_out of="%s: %s" host=tcp://10.0.0.7 count=9590',
        "another event",
    ]

    log.warning("%s: %s", "tcp://10.0.0.7:1", "no HELLO", peer="tcp://10.0.0.7:1")
    assert texts(caplog)[13:] == ["tcp://10.0.0.7:1: no HELLO"]


def test_an_identity_has_a_limit_of_its_own(now: list[float], caplog: pytest.LogCaptureFixture) -> None:
    del now
    for name, times in (("dns:a.example", 1_000), ("dns:b.example", 1), ("", 1)):
        for _ in range(times):
            log.warning("%s", "call_denied x", peer="tcp://10.0.0.7:1", identity=name)
    assert len(texts(caplog)) == 12


def test_warnings_without_a_peer_are_limited_by_their_text(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    del now
    for number in range(20):
        log.warning("%s; trying on", "the same")
        log.warning("%s; trying on", f"another {number}")
    assert len(texts(caplog)) == 30
