"""The inbox of one subscriber: policies, what it says of what was dropped, and in which order."""

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
from mf.topics.inbox import Beginning, Inbox, Missing
from mf.topics.item import Counters, Item, Origin
from tests.python.topics.made import events

ORIGIN = Origin(events.ADDITIONS_TOPIC, "books", UUID(int=1), Counters())


def item(sequence: int, size: int = 1, origin: Origin = ORIGIN) -> Item:
    made = Item(origin, Timestamp(0), payload=b"x" * size)
    made.sequence = sequence
    return made


def inbox_of(overflow: mf.Overflow, messages: int = 3, size: int = 100) -> Inbox:
    inbox = Inbox(messages, size, overflow)
    inbox.begin(ORIGIN, 1, 1)
    beginning = inbox.take()
    assert isinstance(beginning, Beginning)
    assert (beginning.origin, beginning.next, beginning.live) == (ORIGIN, 1, 1)
    return inbox


def gap(first: int, count: int = 1, why: Why = Why.upstream, origin: Origin = ORIGIN) -> Missing:
    return Missing(origin, first, count, why)


def taken(inbox: Inbox) -> list[Any]:
    """Messages as their numbers, what is missed as (first, count)."""
    found: list[Any] = []
    while (entry := inbox.take()) is not None:
        assert not isinstance(entry, Beginning)
        found.append(entry.sequence if isinstance(entry, Item) else (entry.first, entry.count))
    return found


def entries(inbox: Inbox) -> int:
    """How many there are in it, whatever they are."""
    return len(inbox._ring) + len(inbox._front)


def test_the_oldest_are_dropped_and_told_before_what_is_left() -> None:
    inbox = inbox_of(mf.Overflow.drop_oldest)
    for number in range(1, 8):
        inbox.push(item(number))
    assert (inbox.dropped, inbox.queued) == (4, 3)
    assert taken(inbox) == [(1, 4), 5, 6, 7]
    assert inbox.delivered == 3


def test_the_newest_are_dropped_and_told_behind_what_waits() -> None:
    inbox = inbox_of(mf.Overflow.drop_newest)
    for number in range(1, 6):
        inbox.push(item(number))
    first = inbox.take()
    assert isinstance(first, Item)
    assert first.sequence == 1
    inbox.push(item(6))
    assert taken(inbox) == [2, 3, (4, 2), 6]


def test_what_was_dropped_is_told_without_another_message() -> None:
    inbox = inbox_of(mf.Overflow.drop_newest, messages=1)
    inbox.push(item(1))
    inbox.push(item(2))
    assert taken(inbox) == [1, (2, 1)]


def test_bytes_bound_it_as_messages_do_and_one_message_always_fits() -> None:
    inbox = inbox_of(mf.Overflow.drop_oldest, messages=10, size=10)
    inbox.push(item(1, size=50))
    assert inbox.queued_bytes == 50
    inbox.push(item(2, size=6))
    inbox.push(item(3, size=6))
    assert (inbox.queued, inbox.queued_bytes) == (1, 6)
    assert taken(inbox) == [(1, 2), 3]


def test_who_asked_for_it_is_disconnected() -> None:
    inbox = inbox_of(mf.Overflow.disconnect, messages=1)
    inbox.push(item(1))
    inbox.push(item(2))
    inbox.push(item(3))
    assert inbox.why is not None
    assert inbox.why.code is Code.OVERLOADED
    assert "its queue of 1 messages and 100 bytes is full" in inbox.why.message
    assert taken(inbox) == [1]
    assert inbox.exhausted


def test_who_waits_for_room_is_called_when_something_is_taken() -> None:
    inbox = inbox_of(mf.Overflow.block, messages=2)
    called: list[int] = []
    inbox.when_room(1, lambda: called.append(0))
    assert called == [0]
    for number in (1, 2):
        assert inbox.has_room(1)
        inbox.push(item(number))
    assert not inbox.has_room(1)
    inbox.when_room(1, lambda: called.append(1))
    assert called == [0]
    inbox.take()
    assert called == [0, 1]


def test_who_waits_is_woken_once_by_whatever_there_is_to_take() -> None:
    inbox = inbox_of(mf.Overflow.drop_oldest)
    woken: list[int] = []
    inbox.when_ready(lambda: woken.append(1))
    inbox.wake()
    assert woken == []
    inbox.push(item(1))
    inbox.wake()
    inbox.wake()
    assert woken == [1]
    inbox.when_ready(lambda: woken.append(2))
    assert woken == [1, 2]


def test_a_closed_inbox_takes_nothing_and_has_room_for_all() -> None:
    inbox = inbox_of(mf.Overflow.block, messages=1)
    inbox.push(item(1))
    room: list[int] = []
    inbox.when_room(1, lambda: room.append(1))
    inbox.close()
    inbox.push(item(2))
    assert room == [1]
    assert inbox.has_room(1000)
    assert taken(inbox) == []
    assert inbox.exhausted


@pytest.mark.parametrize("overflow", mf.Overflow)
def test_an_inbox_that_nobody_empties_is_bounded_whatever_comes(overflow: mf.Overflow) -> None:
    """Publishers that alternate gaps of all reasons and messages."""
    inbox = Inbox(4, 1000, overflow)
    origins = [Origin(events.ADDITIONS_TOPIC, agent, UUID(int=1), Counters()) for agent in "abc"]
    whys = (Why.upstream, Why.not_kept, Why.dropped)
    behind = dict.fromkeys(origins, 1)
    for number in range(1, 3001):
        for origin in origins:
            if number % 2:
                inbox.push(gap(number, 1, whys[number // 2 % 3], origin))
            else:
                inbox.push(item(number, origin=origin))
        assert entries(inbox) <= 2 * 4 + len(origins)
        assert inbox.queued <= 4
    while (entry := inbox.take()) is not None:
        assert not isinstance(entry, Beginning)
        first, count = (entry.sequence, 1) if isinstance(entry, Item) else (entry.first, entry.count)
        assert first == behind[entry.origin], "no message is missed twice or forgotten"
        behind[entry.origin] = first + count
    if overflow is not mf.Overflow.disconnect:
        assert set(behind.values()) == {3001}
    assert not entries(inbox)
    assert inbox._latest == {}, "nothing is remembered of what was taken"


def test_gaps_that_follow_each_other_are_one_and_other_inboxes_do_not_see_that() -> None:
    one, other = (inbox_of(mf.Overflow.block, messages=2) for _ in range(2))
    first = gap(1)
    for inbox in (one, other):
        inbox.push(first)
    for number in range(2, 100):
        one.push(gap(number))
    other.push(item(2))
    assert (taken(one), taken(other)) == ([(1, 99)], [(1, 1), 2])


def test_a_gap_keeps_its_reason_beside_what_was_dropped_behind_it() -> None:
    inbox = inbox_of(mf.Overflow.drop_oldest, messages=3)
    inbox.push(gap(1, 5, Why.not_kept))
    for number in range(6, 20):
        inbox.push(item(number))
    found = []
    while isinstance(entry := inbox.take(), Missing):
        found.append((entry.first, entry.count, entry.why))
    assert found == [(1, 5, Why.not_kept), (6, 11, Why.dropped)]
    assert (inbox.dropped, inbox.not_kept) == (11, 5)


def test_what_counts_as_dropped_where_there_are_many_gaps_is_counted_so() -> None:
    inbox = inbox_of(mf.Overflow.drop_oldest, messages=1)
    inbox.push(gap(1, 5, Why.not_kept))
    inbox.push(gap(6, 2, Why.upstream))
    inbox.push(item(8))
    assert taken(inbox) == [(1, 7), 8]
    assert (inbox.dropped, inbox.not_kept) == (7, 0)


@pytest.mark.parametrize("overflow", [mf.Overflow.drop_oldest, mf.Overflow.drop_newest])
@given(steps=st.lists(st.tuples(st.sampled_from("pppgt"), st.integers(0, 2), st.integers(0, 9)), max_size=80))
def test_of_each_source_all_numbers_come_in_order_once_as_message_or_missed(
    overflow: mf.Overflow, steps: list[tuple[str, int, int]]
) -> None:
    inbox = Inbox(4, 20, overflow)
    origins = [Origin(events.ADDITIONS_TOPIC, agent, UUID(int=1), Counters()) for agent in "abc"]
    published: Counter[Origin] = Counter()
    seen: Counter[Origin] = Counter()
    gaps = 0

    def take() -> bool:
        entry = inbox.take()
        if entry is None:
            return False
        assert not isinstance(entry, Beginning)
        first, count = (entry.sequence, 1) if isinstance(entry, Item) else (entry.first, entry.count)
        assert first == seen[entry.origin] + 1
        seen[entry.origin] += count
        return True

    for step, source, size in steps:
        origin = origins[source]
        if step == "t":
            take()
            continue
        published[origin] += 1
        if step == "p":
            inbox.push(item(published[origin], size, origin))
        else:
            gaps += 1
            inbox.push(gap(published[origin], 1, Why.dropped, origin))
        assert inbox.queued <= 4
        assert inbox.queued_bytes <= 20
        assert entries(inbox) <= 2 * 4 + len(origins)
    while take():
        pass
    assert seen == published
    assert inbox.delivered + inbox.dropped == published.total() - gaps


def test_a_gap_takes_room_but_is_no_message_that_waits() -> None:
    inbox = inbox_of(mf.Overflow.block, messages=3)
    for first in (1, 3, 5):
        assert inbox.has_room(0)
        inbox.push(gap(first))
    assert not inbox.has_room(0)
    assert (inbox.queued, inbox.dropped) == (0, 0)
    assert taken(inbox) == [(1, 1), (3, 1), (5, 1)]
    assert inbox.has_room(0)
