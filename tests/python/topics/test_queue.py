"""The queue of one subscriber: policies, what is told of what was dropped, and in which order."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mf
from mf.codec.times import Timestamp
from mf.core.error import Code
from mf.topics._generated.mf.topics._types import Why
from mf.topics.item import Counters, Item, Origin
from mf.topics.queue import Entry, Kind, Queue
from tests.python.topics.made import events

ORIGIN = Origin(events.ADDITIONS_TOPIC, "books", UUID(int=1), Counters())


def item(sequence: int, size: int = 1) -> Item:
    made = Item(ORIGIN, Timestamp(0), payload=b"x" * size)
    made.sequence = sequence
    return made


def queue_of(overflow: mf.Overflow, messages: int = 3, size: int = 100) -> Queue:
    queue = Queue(messages, size, overflow)
    queue.add_source(ORIGIN, 1, 1)
    assert queue.take() == Entry(Kind.SOURCE, 0, first=1)
    return queue


def told(queue: Queue) -> list[Any]:
    """Messages as their numbers, what is missed as (first, count)."""
    found: list[Any] = []
    while (entry := queue.take()) is not None and entry.kind is not Kind.ENDED:
        found.append(entry.item.sequence if entry.item is not None else (entry.first, entry.count))
    return found


def test_the_oldest_are_dropped_and_told_before_what_is_left() -> None:
    queue = queue_of(mf.Overflow.drop_oldest)
    for number in range(1, 8):
        queue.push(item(number), 0)
    assert (queue.dropped, queue.queued) == (4, 3)
    assert told(queue) == [(1, 4), 5, 6, 7]
    assert queue.delivered == 3


def test_consecutive_gaps_are_one_in_a_queue_that_is_not_emptied() -> None:
    queue = queue_of(mf.Overflow.drop_oldest, messages=4)
    for number in range(1, 10_001):
        queue.push_gap(ORIGIN, 0, number, 1, Why.upstream if number % 2 else Why.not_kept)
    entries = told(queue)
    assert len(entries) <= 16
    behind = 1
    for first, count in entries:
        assert first == behind, "no message is missed twice or forgotten"
        behind = first + count
    assert behind == 10_001


def test_the_newest_are_dropped_and_told_behind_what_waits() -> None:
    queue = queue_of(mf.Overflow.drop_newest)
    for number in range(1, 6):
        queue.push(item(number), 0)
    assert queue.take() == Entry(Kind.MESSAGE, 0, queue_item(queue, 1))
    queue.push(item(6), 0)
    assert told(queue) == [2, 3, (4, 2), 6]


def queue_item(queue: Queue, sequence: int) -> Item:
    """An item equal to none but itself: that of the queue's last take."""
    del queue
    return _Equal(ORIGIN, Timestamp(0), payload=b"x", sequence=sequence)


class _Equal(Item):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and other.sequence == self.sequence

    __hash__ = None  # type: ignore[assignment]


def test_what_was_dropped_is_told_without_another_message() -> None:
    queue = queue_of(mf.Overflow.drop_newest, messages=1)
    queue.push(item(1), 0)
    queue.push(item(2), 0)
    assert told(queue) == [1, (2, 1)]


def test_bytes_bound_it_as_messages_do_and_one_message_always_fits() -> None:
    queue = queue_of(mf.Overflow.drop_oldest, messages=10, size=10)
    queue.push(item(1, size=50), 0)
    assert queue.queued_bytes == 50
    queue.push(item(2, size=6), 0)
    queue.push(item(3, size=6), 0)
    assert (queue.queued, queue.queued_bytes) == (1, 6)
    assert told(queue) == [(1, 2), 3]


def test_who_asked_for_it_is_disconnected() -> None:
    queue = queue_of(mf.Overflow.disconnect, messages=1)
    queue.push(item(1), 0)
    queue.push(item(2), 0)
    queue.push(item(3), 0)
    assert queue.why is not None
    assert queue.why.code is Code.OVERLOADED
    assert "its queue of 1 messages and 100 bytes is full" in queue.why.message
    assert told(queue) == [1]
    ended = queue.take()
    assert ended is not None
    assert ended.kind is Kind.ENDED


def test_room_is_reserved_before_a_message_is_given() -> None:
    queue = queue_of(mf.Overflow.block, messages=2)
    assert queue.reserve(1)
    assert queue.reserve(1)
    assert not queue.reserve(1)
    queue.unreserve(1)
    assert queue.reserve(1)
    woken: list[int] = []
    queue.when_room(1, lambda: woken.append(1))
    queue.push(item(1), 0, reserved=True)
    assert woken == []
    queue.take()
    assert woken == [1]


def test_who_waits_is_woken_once_by_whatever_there_is_to_take() -> None:
    queue = queue_of(mf.Overflow.drop_oldest)
    woken: list[int] = []
    queue.when_ready(lambda: woken.append(1))
    queue.wake()
    assert woken == []
    queue.push(item(1), 0)
    queue.wake()
    queue.wake()
    assert woken == [1]
    queue.when_ready(lambda: woken.append(2))
    assert woken == [1, 2]


def test_a_closed_queue_takes_nothing_and_says_that_it_has_ended() -> None:
    queue = queue_of(mf.Overflow.block, messages=1)
    queue.push(item(1), 0)
    room: list[int] = []
    queue.when_room(1, lambda: room.append(1))
    queue.close()
    queue.push(item(2), 0)
    assert room == [1]
    assert queue.reserve(1)
    assert told(queue) == []
    ended = queue.take()
    assert ended is not None
    assert ended.kind is Kind.ENDED


@pytest.mark.parametrize("overflow", [mf.Overflow.drop_oldest, mf.Overflow.drop_newest])
@given(steps=st.lists(st.tuples(st.sampled_from("pppt"), st.integers(0, 2), st.integers(0, 9)), max_size=80))
def test_of_each_source_all_numbers_come_in_order_once_as_message_or_missed(
    overflow: mf.Overflow, steps: list[tuple[str, int, int]]
) -> None:
    queue = Queue(4, 20, overflow)
    for _ in range(3):
        queue.add_source(ORIGIN, 1, 1)
    published: Counter[int] = Counter()
    seen: Counter[int] = Counter()

    def take() -> bool:
        entry = queue.take()
        if entry is None:
            return False
        if entry.item is not None:
            assert entry.item.sequence == seen[entry.source] + 1
            seen[entry.source] += 1
        elif entry.kind is Kind.MISSED:
            assert entry.first == seen[entry.source] + 1
            seen[entry.source] += entry.count
        return True

    for step, source, size in steps:
        if step == "p":
            published[source] += 1
            queue.push(item(published[source], size), source)
            assert queue.queued <= 4
            assert queue.queued_bytes <= 20
        else:
            take()
    while take():
        pass
    assert seen == published
    assert queue.delivered + queue.dropped == published.total()


def test_what_is_told_of_missed_messages_takes_room_but_is_no_message_that_waits() -> None:
    queue = queue_of(mf.Overflow.block, messages=3)
    for first in (1, 3, 5):
        assert queue.has_room(0)
        queue.push_missed(ORIGIN, 0, first, 1, Why.upstream)
    assert not queue.has_room(0)
    assert (queue.queued, queue.dropped) == (0, 0)
    assert told(queue) == [(1, 1), (3, 1), (5, 1)]
    assert queue.has_room(0)
