"""A watch survives exceptions of the links that it handles."""

import socket

import pytest

from mf.link.watch import READ, Watch
from tests.python.conftest import eventually


class Watched:
    def __init__(self, bug: Exception | None) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.bug = bug
        self.seen = 0
        self.closed = ""

    def fileno(self) -> int:
        return self.ours.fileno()

    def on_ready(self, mask: int) -> None:  # noqa: ARG002
        self.ours.recv(100)
        self.seen += 1
        if self.bug:
            raise self.bug

    def expire(self, now: float) -> float:  # noqa: ARG002
        self.seen += 1
        raise ValueError("of a timer")

    def broken(self, reason: str) -> None:
        self.closed = reason


def test_the_watch_thread_survives_a_bug_and_ends_the_link_that_has_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watch = Watch()
    bad, good = Watched(KeyError("oops")), Watched(None)
    for link in (bad, good):
        watch.arm(link, READ)
    bad.theirs.send(b"x")
    assert eventually(lambda: bool(bad.closed))
    good.theirs.send(b"x")

    assert eventually(lambda: good.seen == 1)
    assert "oops" in bad.closed
    assert "oops" in caplog.text
    watch.expire_at(good, 0.0)
    assert eventually(lambda: "of a timer" in good.closed)
    watch.stop()
    for link in (bad, good):
        link.ours.close()
        link.theirs.close()
