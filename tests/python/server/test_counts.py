"""The server's counts, and refusals that depend on them."""

from dataclasses import astuple
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from mf.core.error import Code, Error, Execution
from mf.protocol.frame import BULK
from mf.server.answers import may_run
from mf.server.counters import Counters
from mf.server.load import ConnectionStats


def test_a_server_that_has_done_nothing_counts_nothing() -> None:
    *counts, peers = astuple(ConnectionStats())
    assert (set(counts), peers) == ({0}, ())


def test_the_log_hears_of_dropped_calls_at_once_and_then_once_a_second() -> None:
    counters = Counters()

    told = [counters.on_dropped(1, now) for now in (50.0, 50.1, 50.9, 51.0, 51.5, 51.9, 53.0)]

    assert told == [1, 0, 0, 3, 0, 0, 3]
    assert counters.dropped == 7


class Call:
    """A bulk call with this many items in this many bytes."""

    def __init__(self, count: int, size: int, deadline: float = float("inf"), flags: int = BULK) -> None:
        self.count = count
        self.payload = bytes(size)
        self.deadline = deadline
        self.flags = flags
        self.failures: list[Error] = []
        self.connection = SimpleNamespace(fail=lambda _, error: self.failures.append(error))


def runs(call: Any, counters: Counters | None = None) -> bool:
    handler: Any = SimpleNamespace(planned=0, counters=counters or Counters())
    return may_run(call, handler)


@pytest.mark.parametrize(
    ("count", "size", "may"),
    [
        (65_536, 0, True),
        (65_537, 0, False),
        (65_537, 65_536, False),
        (65_537, 65_537, True),
        (1_000_000, 999_999, False),
        (1_000_000, 1_000_000, True),
    ],
)
def test_many_items_have_a_byte_each(count: int, size: int, may: bool) -> None:
    call = Call(count, size)

    assert runs(call) is may
    told = [(each.code, each.execution) for each in call.failures]
    assert told == ([] if may else [(Code.DECODE_ERROR, Execution.NOT_EXECUTED)])


def test_what_is_late_is_counted_item_by_item_and_never_run() -> None:
    counters = Counters()
    call = Call(7, 0, deadline=monotonic() - 1.0)

    assert not runs(call, counters)
    assert [(each.code, each.execution) for each in call.failures] == [
        (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    ]
    assert counters.expired == 7
