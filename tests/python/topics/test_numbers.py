"""What a subscriber makes of the numbers that come from elsewhere, however its publisher behaves."""

from contextlib import nullcontext
from typing import Any
from uuid import UUID

import pytest

import mf
from mf.codec.times import Timestamp
from mf.topics._generated.mf.topics import Message, Missed, Source
from mf.topics.remote import RemoteReceiver
from mf.topics.source import Source as BoardSource
from mf.topics.upstream import Upstream
from tests.python.topics.made import events, indexed

PUBLISHER, OTHER = UUID(int=1), UUID(int=2)


def receiver(options: mf.SubscribeOptions | None = None) -> tuple[RemoteReceiver, Upstream]:
    """A subscriber, and its upstream, which has no streams."""
    options = options or mf.SubscribeOptions()
    one = RemoteReceiver(events.ADDITIONS_TOPIC, "*", options, lambda *_: None)
    of = Upstream(one.wanted, {})
    one.share(of)
    return one, of


def announced(of: Upstream, source: Source) -> BoardSource:
    """The source on the board that a stream has announced."""
    made = of.source(source)
    assert of.resume(made, source) is None
    return made


def message(sequence: int, payload: bytes | None = None) -> Message:
    given = bytes(events.INDEXED_CODEC.encode(indexed(sequence))) if payload is None else payload
    return Message(0, sequence, Timestamp(0), given)


def told(subscriber: RemoteReceiver, *, ends: bool = False) -> list[Any]:
    """`ends`: the subscription ends behind it."""
    found: list[Any] = []
    subscriber.on_gap(lambda gap: found.append((gap.first, gap.count, gap.why)))
    with pytest.raises(mf.Error) if ends else nullcontext():
        while (taken := subscriber.take()) is not None:
            found.append(taken.sequence)
    return found


def test_a_message_that_comes_twice_is_left_out_and_counted() -> None:
    one, of = receiver()
    seen = announced(of, Source(0, PUBLISHER, "books", 1))
    for sequence in (1, 2, 2, 1, 3):
        of.message(seen, message(sequence))
    assert told(one) == [1, 2, 3]
    assert one.stats().duplicates == 2


def test_numbers_that_a_publisher_passes_over_are_missed() -> None:
    one, of = receiver()
    seen = announced(of, Source(0, PUBLISHER, "books", 5))
    of.message(seen, message(5))
    of.message(seen, message(9))
    of.gap(seen, Missed(12, 2, 0, mf.Why.dropped))
    assert told(one) == [5, (6, 3, mf.Why.upstream), 9, (10, 2, mf.Why.upstream), (12, 2, mf.Why.dropped)]
    assert (one.stats().upstream, one.stats().dropped) == (5, 2)


def test_what_is_told_again_after_a_reconnection_counts_once() -> None:
    one, of = receiver()
    seen = announced(of, Source(0, PUBLISHER, "books", 1))
    of.message(seen, message(1))
    of.gap(seen, Missed(2, 3, 0, mf.Why.dropped))
    (position,) = of.subscription().seen
    assert (position.publisher, position.agent, position.sequence) == (PUBLISHER, "books", 4)
    again = announced(of, Source(7, PUBLISHER, "books", 5))
    of.gap(again, Missed(2, 3, 7, mf.Why.dropped))
    of.message(again, message(4))
    of.message(again, message(5))
    assert told(one) == [1, (2, 3, mf.Why.dropped), 5]


def test_what_the_publisher_has_not_kept_is_missed_when_it_is_back() -> None:
    one, of = receiver()
    seen = announced(of, Source(0, PUBLISHER, "books", 1))
    of.message(seen, message(1))
    of.message(announced(of, Source(0, PUBLISHER, "books", 8)), message(8))
    of.message(announced(of, Source(1, OTHER, "books", 4)), message(4))
    assert told(one) == [1, (2, 6, mf.Why.not_kept), 8, 4]


def test_positions_that_are_sent_are_the_latest_and_not_too_many() -> None:
    _, of = receiver()
    for number in range(5000):
        announced(of, Source(0, UUID(int=number + 1), "books", 1))
    announced(of, Source(0, UUID(int=1), "books", 1))
    seen = of.subscription().seen
    assert len(seen) == 4096
    assert seen[-1].publisher == UUID(int=1)


def test_bytes_that_are_no_value_are_told_where_the_value_is_asked_for() -> None:
    one, of = receiver()
    of.message(announced(of, Source(0, PUBLISHER, "books", 1)), message(1, payload=b"\xff"))
    taken = one.take()
    assert taken is not None
    for _ in range(2):
        with pytest.raises(mf.Error, match=r"message 1 of events.Additions: ") as raised:
            _ = taken.value
        assert raised.value.code is mf.Code.DECODE_ERROR
    assert one.stats().undecodable == 1


def test_what_a_topic_cannot_have_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(mf.Error, match="does not allow overflow drop_oldest, but block, disconnect"):
        RemoteReceiver(
            events.ORDERS_TOPIC, "", mf.SubscribeOptions(overflow=mf.Overflow.drop_oldest), lambda *_: None
        )


def test_one_that_blocks_misses_no_message_behind_a_gap_that_nobody_has_reported() -> None:
    one, of = receiver(mf.SubscribeOptions(overflow=mf.Overflow.block, max_messages=1))
    source = announced(of, Source(0, PUBLISHER, "books", 1))
    assert of.message(source, message(3)) is one.inbox, "the gap is in the place of the message"
    assert one.take() is None
    assert of.message(source, message(3)) is None
    taken = one.take()
    assert taken is not None
    assert (taken.sequence, taken.missed, one.stats().dropped) == (3, 2, 0)


@pytest.mark.parametrize("overflow", mf.Overflow)
def test_a_publisher_that_alternates_gaps_and_messages_fills_no_inbox_beyond_its_bounds(
    overflow: mf.Overflow,
) -> None:
    options = mf.SubscribeOptions(overflow=overflow, max_messages=4)
    reads, of = receiver(options)
    stopped = RemoteReceiver(events.ADDITIONS_TOPIC, "*", options, lambda *_: None)
    stopped.share(of)
    stopped.inbox.give_way()  # if it blocks, it has stalled
    source = announced(of, Source(0, PUBLISHER, "books", 1))
    for number in range(1, 1001, 2):
        why = mf.Why.upstream if number % 4 == 1 else mf.Why.not_kept
        assert of.gap(source, Missed(number, 1, 0, why)) is None
        assert of.message(source, message(number + 1)) is None
        taken = reads.take()
        assert taken is not None
        assert (taken.sequence, taken.missed) == (number + 1, 1)
        assert len(stopped.inbox._ring) + len(stopped.inbox._front) <= 2 * 4 + 1
        assert stopped.inbox.queued <= 4
    behind = 1
    for each in told(stopped, ends=overflow is mf.Overflow.disconnect):
        first, count = (each, 1) if isinstance(each, int) else each[:2]
        assert first == behind
        behind = first + count
    assert behind == (5 if overflow is mf.Overflow.disconnect else 1001)


def test_what_is_missed_is_remembered_for_a_bounded_number_of_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mf.topics.receiver._MOST_SOURCES", 10)
    one, of = receiver()
    for number in range(100):
        source = announced(of, Source(0, UUID(int=number + 1), "books", 1))
        of.gap(source, Missed(1, 2, 0, mf.Why.upstream))
    assert one.take() is None
    assert (one.stats().upstream, len(one._missed)) == (200, 10)
    of.message(source, message(3))
    taken = one.take()
    assert taken is not None
    assert (taken.missed, len(one._missed)) == (2, 9)


@pytest.mark.parametrize("overflow", mf.Overflow)
def test_one_that_is_alone_is_waited_for_and_one_of_several_only_if_it_blocks(overflow: mf.Overflow) -> None:
    options = mf.SubscribeOptions(overflow=overflow, max_messages=2)
    one, of = receiver(options)
    source = announced(of, Source(0, PUBLISHER, "books", 1))
    assert [of.message(source, message(number)) for number in (1, 2, 3)] == [None, None, one.inbox]
    room: list[int] = []
    one.inbox.when_room(1, lambda: room.append(1))
    other = RemoteReceiver(events.ADDITIONS_TOPIC, "*", options, lambda *_: None)
    other.share(of)
    assert room == [1], "the stream looks whether it is still waited for"
    waits = overflow is mf.Overflow.block
    assert of.message(source, message(3)) is (one.inbox if waits else None)
    of.leave(one)
    attempts = [of.message(source, message(number)) for number in (source.next, source.next + 1)]
    assert other.inbox in [*attempts, of.message(source, message(source.next))]
