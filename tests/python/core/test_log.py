"""What is logged of handlers that fail, and how many warnings are written."""

import logging
from threading import Event

import pytest

from mf.core import log
from mf.core.identity import NO_IDENTITY, Identity, IdentityKind
from mf.core.metadata import trace_id_of

BOOKS = Identity(IdentityKind.CERTIFICATE, "dns:books")


def fail(text: str) -> None:
    raise ValueError(text)


def fails(method: str, text: str) -> str:
    """The reference that the caller gets."""
    try:
        fail(text)
    except ValueError as raised:
        reference = log.log_failed_call(raised, "Index", method, "", "tcp://10.0.0.7:1", BOOKS, "4bf9")
    wait_until_written()
    return reference


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
    [one] = {fails("query", str(n)) for n in range(1_000)}
    [first] = caplog.records
    assert (first.levelno, first.exc_info is not None) == (logging.ERROR, True)
    call = 'handler_failed service=Index method=query agent="" peer=tcp://10.0.0.7:1 identity=dns:books'
    assert first.getMessage() == f'{call} trace_id=4bf9 reference={one} calls=1 what="ValueError: 0"'

    now[0] = 10.0
    other = fails("query", "a")
    [_, second] = caplog.records
    assert second.getMessage() == f'{call} trace_id=4bf9 reference={other} calls=1000 what="ValueError: a"'
    assert (second.levelno, second.exc_info) == (logging.ERROR, None)
    assert one != other

    now[0] = 19.9
    assert fails("query", "b") == other
    assert len(caplog.records) == 2


def test_a_failure_whose_line_is_not_written_has_no_reference(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "mf")
    assert fails("query", "a") == ""
    assert (caplog.records, now) == ([], [0.0])


@pytest.mark.parametrize(
    ("parent", "trace"),
    [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736"),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", ""),
        ("00-4bf92f35-00f067aa0ba902b7-01", ""),
        ("", ""),
    ],
)
def test_the_trace_of_a_call_is_read_from_its_metadata(parent: str, trace: str) -> None:
    assert trace_id_of({"traceparent": parent}) == trace
    assert trace_id_of({}) == ""


def test_another_handler_or_another_line_is_another_cause(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    fails("query", "a")
    fails("count", "a")
    try:
        int("x")
    except ValueError as raised:
        log.log_failed_call(raised, "Index", "query", "a", "light:", NO_IDENTITY)
    wait_until_written()
    assert [record.getMessage().partition(" trace_id=")[0] for record in caplog.records] == [
        'handler_failed service=Index method=query agent="" peer=tcp://10.0.0.7:1 identity=dns:books',
        'handler_failed service=Index method=count agent="" peer=tcp://10.0.0.7:1 identity=dns:books',
        "handler_failed service=Index method=query agent=a peer=light:",
    ]
    assert all(record.exc_info for record in caplog.records)
    assert now == [0.0]


def test_what_a_callback_raises_is_an_event_of_its_own(
    now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    for seconds in (0.0, 1.0, 11.0):
        now[0] = seconds
        try:
            fail("a\nb")
        except ValueError as raised:
            log.log_escaped_exception("a callback of topics", raised)
    assert texts(caplog) == [
        r'exception_escaped from="a callback of topics" times=1 what="ValueError: a\nb"',
        r'exception_escaped from="a callback of topics" times=2 what="ValueError: a\nb"',
    ]


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
