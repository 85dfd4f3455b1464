"""What a subscriber makes of the numbers that come from elsewhere, however its publisher behaves."""

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


def told(subscriber: RemoteReceiver) -> list[Any]:
    gaps: list[tuple[int, int, mf.Why]] = []
    subscriber.on_gap(lambda gap: gaps.append((gap.first, gap.count, gap.why)))
    found: list[Any] = []
    while (taken := subscriber.take()) is not None:
        found += [*gaps, taken.sequence]
        gaps.clear()
    return [*found, *gaps]


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
