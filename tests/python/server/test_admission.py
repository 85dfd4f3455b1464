"""Limits as data: which calls get slots, which wait, in which order, and which are refused. No thread, no
socket."""

from math import inf

import pytest

import mf
from mf.core.server_options import Limit
from mf.server.admission import Admission, Gate, Standing


class Call:
    def __init__(self, seen: "Seen", gate: Gate, name: int, deadline: float = inf) -> None:
        self.seen = seen
        self.name = name
        self.gate = gate
        self.deadline = deadline
        self.standing = Standing.OUTSIDE

    def go(self) -> None:
        assert self.standing is Standing.SLOT
        self.seen.went.append(self.name)

    def expire(self) -> None:
        assert self.standing is Standing.OUTSIDE
        self.seen.expired.append(self.name)


class Seen:
    """Events by the names of calls; and the calls of a test."""

    def __init__(self, server: Limit | None = None) -> None:
        self.admission = Admission(server)
        self.went: list[int] = []
        self.expired: list[int] = []

    def gate(self, limit: Limit | None) -> Gate:
        gate = self.admission.gate(limit, "demo.Index.query")
        assert gate is not None
        return gate

    def enter(self, gate: Gate, name: int = 0, *, may_run: bool = True) -> tuple[Call, str]:
        call = Call(self, gate, name)
        return call, self.admission.enter(call, 0.0, may_run=may_run)

    def wait(self, gate: Gate, name: int, deadline: float = inf) -> Call:
        call = Call(self, gate, name, deadline)
        assert self.admission.enter(call, 0.0) == ""
        assert call.standing is Standing.PLACE
        self.admission.queue(call, 0.0)
        return call

    def run(self, gate: Gate) -> Call:
        call, refused = self.enter(gate)
        assert (call.standing, refused) == (Standing.SLOT, "")
        return call


def test_without_any_limit_there_is_no_gate() -> None:
    assert Admission(None).gate(None, "") is None
    assert Admission(Limit(1)).gate(None, "") is not None


@pytest.mark.parametrize(("concurrent", "queued"), [(0, None), (-1, None), (1, -1)])
def test_a_limit_that_nobody_could_pass_is_none(concurrent: int, queued: int | None) -> None:
    with pytest.raises(ValueError, match=r"is -?[01]"):
        mf.Limit(concurrent, queued)


@pytest.mark.parametrize(("limit", "waits"), [(Limit(3, 2), 2), (Limit(3), 3), (Limit(3, 0), 0)])
def test_so_many_run_so_many_wait_and_the_others_are_refused(limit: Limit, waits: int) -> None:
    seen = Seen()
    gate = seen.gate(limit)

    standings = [seen.enter(gate) for _ in range(8)]

    assert [call.standing for call, _ in standings] == [
        *[Standing.SLOT] * 3,
        *[Standing.PLACE] * waits,
        *[Standing.OUTSIDE] * (5 - waits),
    ]
    text = f"at most 3 calls of demo.Index.query run at once on this server, and {waits} wait"
    assert [refused for _, refused in standings] == [""] * (3 + waits) + [text] * (5 - waits)


def test_the_earliest_deadline_runs_first_and_equal_ones_as_they_came() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 9))
    running = seen.run(gate)
    for name, deadline in ((1, inf), (2, 30.0), (3, 10.0), (4, 20.0), (5, 10.0)):
        seen.wait(gate, name, deadline)

    order = []
    while seen.admission.gauges() != (0, 0):
        seen.admission.leave(running, 0.0)
        order, count = seen.went, len(seen.went)
        running = Call(seen, gate, 0)
        running.standing = Standing.SLOT if seen.admission.gauges()[0] else Standing.OUTSIDE
        assert count <= 5

    assert order == [3, 5, 4, 2, 1]


def test_an_expired_call_never_runs_and_its_place_is_free() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 2))
    running = seen.run(gate)
    seen.wait(gate, 1, -1.0)
    seen.wait(gate, 2, 10.0)
    before = list(seen.expired)

    seen.wait(gate, 3, 20.0)

    assert (before, seen.expired) == ([], [1])
    assert seen.enter(gate)[1]
    seen.admission.leave(running, 0.0)
    assert seen.went == [2]


def test_a_slot_that_is_free_ends_the_expired_and_goes_to_the_next() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 3))
    running = seen.run(gate)
    for name, deadline in ((1, 1.0), (2, 2.0), (3, 10.0)):
        seen.wait(gate, name, deadline)

    seen.admission.leave(running, 2.0)

    assert (seen.expired, seen.went) == ([1, 2], [3])
    assert seen.admission.gauges() == (1, 0)


def test_the_servers_limit_holds_for_all_methods_together() -> None:
    seen = Seen(Limit(2, 2))
    first, second = seen.gate(Limit(1, 5)), seen.gate(None)
    of_first, of_second = seen.run(first), seen.run(second)
    seen.wait(second, 1, 20.0)
    seen.wait(first, 2, 10.0)

    refused = seen.enter(first)[1]
    seen.admission.leave(of_second, 0.0)  # the earlier one waits for its method's slot
    went = list(seen.went)
    seen.admission.leave(of_first, 0.0)

    assert refused == "at most 2 calls run at once on this server, and 2 wait"
    assert (went, seen.went) == ([1], [1, 2])


def test_a_method_that_is_full_keeps_no_other_from_running() -> None:
    seen = Seen(Limit(9))
    full, other = seen.gate(Limit(1, 0)), seen.gate(None)
    seen.run(full)

    assert seen.enter(full)[1]
    seen.run(other)


def test_a_call_that_is_given_up_loses_its_place_at_once() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 1))
    running = seen.run(gate)
    given_up = seen.wait(gate, 1)

    refused = seen.enter(gate)[1]
    seen.admission.leave(given_up, 0.0)
    seen.admission.leave(given_up, 0.0)
    seen.wait(gate, 2)
    seen.admission.leave(running, 0.0)

    assert refused
    assert (seen.went, seen.expired) == ([2], [])
    assert seen.admission.gauges() == (1, 0)


def test_calls_that_were_given_up_do_not_pile_up() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 1))
    seen.run(gate)

    for name in range(1000):
        seen.admission.leave(seen.wait(gate, name), 0.0)

    assert len(gate.queue) < 100


def test_a_call_behind_others_has_no_slot_until_its_turn() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 1))

    call, refused = seen.enter(gate, 7, may_run=False)
    before = call.standing
    seen.admission.queue(call, 0.0)

    assert (before, refused) == (Standing.PLACE, "")
    assert seen.went == [7]


def test_a_call_that_is_given_up_just_before_its_turn_does_not_enter_the_queue() -> None:
    seen = Seen()
    gate = seen.gate(Limit(1, 1))
    running = seen.run(gate)
    given_up, _ = seen.enter(gate, 7)

    seen.admission.leave(given_up, 0.0)
    seen.admission.queue(given_up, 0.0)
    seen.admission.leave(running, 0.0)

    assert seen.went == []
    assert seen.admission.gauges() == (0, 0)
