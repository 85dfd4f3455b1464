"""The log of a replica, and its mark, whose numbers tests/vectors/replicated/marks.json has for all."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from mf.replicated.log import Log, Origins, next_mark
from mf.replicated.messages import MOST_AHEAD, Body, Entry, Head, Origin, Outcome, Version

VECTORS = Path(__file__).parents[2] / "vectors" / "replicated" / "marks.json"


def entry(counter: int, payload: bytes = b"") -> Entry:
    return Entry(Version(1, counter), Body(Origin(UUID(int=1), counter, 1), payload=payload))


def test_marks_are_those_of_the_vectors() -> None:
    mark = 0
    for each in json.loads(VECTORS.read_text("utf-8")):
        origin = None if each["client"] is None else Origin(UUID(each["client"]), each["sequence"])
        body = None if origin is None else Body(origin)
        mark = next_mark(mark, Entry(Version(each["epoch"], each["counter"]), body))

        assert f"{mark:016x}" == each["mark"]


def test_a_log_keeps_so_many_entries_and_so_many_bytes() -> None:
    few, small = Log(3, 1 << 20), Log(1_000, 10_000)

    for counter in range(1, 101):
        few.append(entry(counter))
        small.append(entry(counter, bytes(1_000)))

    assert [each.version.counter for each in few.after(97, 10, 1 << 20)] == [98, 99, 100]
    assert (len(few), len(small)) == (3, 9)
    assert few.at(97) is None
    assert few.head_at(97) == few.base
    assert few.head_at(96) is None


def test_what_follows_is_given_in_pieces_of_at_least_one() -> None:
    log = Log(100, 1 << 20)
    for counter in range(1, 11):
        log.append(entry(counter, bytes(1_000)))

    assert [each.version.counter for each in log.after(4, 3, 1 << 20)] == [5, 6, 7]
    assert [each.version.counter for each in log.after(4, 10, 2_500)] == [5, 6]
    assert [each.version.counter for each in log.after(4, 10, 1)] == [5]
    assert log.after(10, 10, 1 << 20) == []


def test_logs_that_differ_anywhere_end_differently() -> None:
    one, other, empty = Log(10, 1 << 20), Log(10, 1 << 20), Log(10, 1 << 20)
    for log, first in ((one, entry(1)), (other, Entry(Version(1, 1)))):
        log.append(first)
        log.append(entry(2))

    assert one.head.version == other.head.version
    assert one.head != other.head
    assert empty.head == Head()


def test_messages_are_forgotten_as_their_client_goes_on_and_clients_by_their_last_message() -> None:
    origins = Origins(most=2)
    first, second, third = (UUID(int=each) for each in (1, 2, 3))
    for client in (first, second, first, third):
        sequence = 2 if client == first and origins.find(Origin(first, 1)) else 1
        origins.add(Origin(client, sequence, sequence), Version(1, sequence)).outcome = Outcome()

    assert origins.find(Origin(second, 1)) is None
    assert origins.find(Origin(first, 1)) is None
    assert origins.is_over(Origin(first, 1))
    assert origins.find(Origin(first, 2)) is not None
    assert origins.find(Origin(third, 1)) is not None


def test_of_a_client_no_more_is_kept_than_it_may_have_under_way() -> None:
    origins = Origins()
    for sequence in range(1, 2 * MOST_AHEAD):
        origins.add(Origin(UUID(int=1), sequence, 1), Version(1, sequence)).outcome = Outcome()

    (state,) = origins.states()

    assert len(state.known) == MOST_AHEAD


@pytest.mark.parametrize("more", [0, 5])
def test_a_copy_does_not_see_what_comes_later_but_the_outcomes_of_what_it_has(more: int) -> None:
    origins = Origins()
    seen = origins.add(Origin(UUID(int=1), 1, 1), Version(1, 1))
    copy = origins.copy()
    for sequence in range(2, 2 + more):
        origins.add(Origin(UUID(int=1), sequence, sequence), Version(1, sequence))
    seen.outcome = Outcome(0, 0, b"done")

    ((known,),) = (state.known for state in copy.states())

    assert known.outcome.payload == b"done"
