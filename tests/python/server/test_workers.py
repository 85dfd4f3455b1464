"""The threads of plain handlers."""

import time
from collections.abc import Iterator
from threading import Event, Thread, current_thread

import pytest

from mf.server.workers import Workers
from tests.python.conftest import eventually

PLACES = 4
LIMIT = 10.0


class Running:
    def __init__(self) -> None:
        self.threads: list[Thread] = []
        self.workers = Workers(PLACES, self._run)

    def _run(self, may_end: Event) -> None:
        self.threads.append(current_thread())
        may_end.wait(LIMIT)

    def one(self) -> None:
        """Runs a call to its end."""
        before = len(self.threads)
        may_end = Event()
        may_end.set()
        self.workers.submit(may_end)
        assert eventually(lambda: len(self.threads) > before)


@pytest.fixture
def running() -> Iterator[Running]:
    one = Running()
    yield one
    one.workers.stop(LIMIT)


def test_a_thread_that_is_idle_takes_the_next_call(running: Running) -> None:
    for _ in range(3 * PLACES):
        running.one()
        assert eventually(lambda: len(running.workers._idle) == 1)

    assert len(set(running.threads)) == 1


def test_a_call_does_not_wait_for_a_running_one_while_there_is_a_place(running: Running) -> None:
    blocked = Event()
    try:
        for _ in range(PLACES - 1):
            running.workers.submit(blocked)
        for _ in range(3):
            running.one()
    finally:
        blocked.set()

    assert len(set(running.threads)) == PLACES


def test_a_thread_that_is_being_started_is_awaited_by_stop(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = Event()

    class SlowThread(Thread):
        def start(self) -> None:
            starting.set()
            time.sleep(0.1)
            super().start()

    monkeypatch.setattr("mf.server.workers.Thread", SlowThread)
    may_end = Event()
    may_end.set()
    other = Thread(target=running.workers.submit, args=(may_end,))
    other.start()
    assert starting.wait(LIMIT)

    running.workers.stop(LIMIT)

    other.join(LIMIT)
    assert not running.workers._threads
