"""The rules of a cache, without threads or a clock: which answers are kept, for how long, and which call
leads."""

from collections import deque

import pytest

from mf.core.cache import ENTRY_BYTES, Cache, CacheStats, Flight, Kept, Key
from mf.core.service import CacheInfo

A: Key = ("*", b"a")
B: Key = ("*", b"b")
C: Key = ("*", b"c")


class Call:
    def wake(self, kept: Kept | None) -> bool:
        raise AssertionError(f"no call waits: {kept}")


def cache(entries: int = 10, ttl: float | None = None, max_bytes: int = 1 << 20) -> Cache:
    return Cache(CacheInfo(entries, ttl, max_bytes, errors=False))


def landed(of: Cache, key: Key, payload: bytes = b"1", now: float = 0.0) -> None:
    assert of.land(of.lead(key, None), Kept(payload), now, keep=True) == []


def payload(of: Cache, key: Key, now: float = 0.0) -> bytes | None:
    kept = of.find(key, now)
    return None if kept is None else kept.payload


def test_what_landed_is_found_by_agent_and_request() -> None:
    of = cache()
    landed(of, A, b"one")
    assert payload(of, A) == b"one"
    assert payload(of, ("=x", b"a")) is None
    assert payload(of, B) is None
    assert of.stats() == CacheStats(1, 1, 1, 1 + 1 + 3 + ENTRY_BYTES, 0)


def test_the_least_recently_used_entry_goes_first() -> None:
    of = cache(entries=2)
    landed(of, A)
    landed(of, B)
    assert payload(of, A) is not None
    landed(of, C)
    assert [payload(of, key) is not None for key in (A, B, C)] == [True, False, True]
    assert of.stats().evictions == 1


def test_bytes_are_bounded_and_what_is_larger_than_all_is_not_kept() -> None:
    of = cache(max_bytes=2 * (ENTRY_BYTES + 2) + 100)
    landed(of, A, bytes(50))
    landed(of, B, bytes(50))
    assert of.stats().entries == 2
    landed(of, C, bytes(51))
    assert [payload(of, key) is not None for key in (A, B, C)] == [False, False, True]
    landed(of, A, bytes(10_000))
    assert [payload(of, key) is not None for key in (A, B, C)] == [False, False, True]
    assert of.stats().bytes == ENTRY_BYTES + 2 + 51


def test_an_entry_is_used_until_its_time_is_over() -> None:
    of = cache(ttl=5.0)
    landed(of, A, now=10.0)
    assert payload(of, A, 14.999) == b"1"
    assert payload(of, A, 15.0) is None
    assert of.stats().entries == 0
    assert of.stats().evictions == 0


def test_those_that_wait_get_the_answer_of_the_leader() -> None:
    of = cache()
    flight = of.lead(A, None)
    waiting = [Call(), Call()]
    assert of.under_way(A) is flight
    flight.waiters.extend(waiting)
    assert of.land(flight, Kept(b"1"), 0.0, keep=True) == waiting
    assert of.under_way(A) is None
    assert (of.stats().hits, of.stats().misses) == (2, 1)


def test_an_answer_that_may_not_be_kept_is_shared_all_the_same() -> None:
    of = cache()
    flight = of.lead(A, None)
    waiting = Call()
    flight.waiters.append(waiting)
    assert of.land(flight, Kept(b"1", 0), 0.0, keep=False) == [waiting]
    assert payload(of, A) is None


def test_a_leader_that_fails_is_followed_by_the_first_that_waits() -> None:
    of = cache()
    flight = of.lead(A, None)
    first, second = Call(), Call()
    flight.waiters.extend((first, second))
    assert of.fail(flight) is first
    assert of.under_way(A) is flight
    assert flight.waiters == deque([second])
    assert of.fail(flight) is second
    assert of.fail(flight) is None
    assert of.under_way(A) is None
    assert of.stats().misses == 3


def test_who_leaves_is_woken_no_more_and_who_leads_by_now_is_told_so() -> None:
    of = cache()
    flight = of.lead(A, None)
    first, second = Call(), Call()
    flight.waiters.extend((first, second))
    assert not of.leave(flight, second)
    assert of.fail(flight) is first
    assert of.leave(flight, first)
    assert of.fail(flight) is None


@pytest.mark.parametrize("how", ["one", "agent", "all"])
def test_forgetting_holds_against_a_flight(how: str) -> None:
    of = cache()
    landed(of, A)
    landed(of, ("=x", b"a"))
    flight = of.lead(B, None)
    before = Call()
    flight.waiters.append(before)
    if how == "one":
        of.forget(A)
        of.forget(B)
    elif how == "agent":
        of.forget_agent("*")
    else:
        of.forget_all()
    assert payload(of, A) is None
    assert (payload(of, ("=x", b"a")) is None) == (how == "all")
    assert of.under_way(B) is None
    second = of.lead(B, None)  # requested after it was forgotten
    assert of.land(flight, Kept(b"old"), 0.0, keep=True) == [before]
    assert payload(of, B) is None
    assert of.under_way(B) is second
    assert of.land(second, Kept(b"new"), 0.0, keep=True) == []
    assert payload(of, B) == b"new"


def test_counts_of_bytes_return_to_zero() -> None:
    of = cache(entries=3, max_bytes=4000)
    for number in range(50):
        landed(of, ("=x", bytes(number % 7)), bytes(number))
    assert of.stats().entries <= 3
    of.forget_agent("=x")
    assert (of.stats().entries, of.stats().bytes) == (0, 0)


def test_a_new_leader_is_of_the_same_flight() -> None:
    of = cache()
    flight: Flight = of.lead(A, "here")
    assert flight.place == "here"
    flight.waiters.append(Call())
    of.fail(flight)
    assert of.land(flight, Kept(b"1"), 0.0, keep=True) == []
    assert payload(of, A) == b"1"
