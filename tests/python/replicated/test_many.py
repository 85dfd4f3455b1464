"""Many calls of one client at once, in virtual time: each ends well by itself, however many there are."""

import pytest

from mf.core.error import Code, Error, Execution
from mf.replicated.caller import Applied, Caller
from mf.replicated.messages import (
    MOST_AHEAD,
    Ack,
    Ask,
    Body,
    Leading,
    Message,
    Origin,
    Outcome,
    Pattern,
    Refused,
    Require,
    Send,
    Submit,
    Version,
)
from tests.python.replicated.test_troubles import CLIENT, ready_world, sent
from tests.python.replicated.world import SCHEMA, World, origin_of

PAUSE = 3.0
INTERVAL = 0.002
WITHIN = 60.0


def check_that_all_end_well(world: World) -> None:
    assert world.run_until(lambda: len(world.results) == len(world.begun), WITHIN)
    assert [each for each in world.results.values() if not isinstance(each, Applied)] == []


@pytest.mark.parametrize("pattern", list(Pattern), ids=lambda each: each.name)
@pytest.mark.parametrize("count", [MOST_AHEAD + 76, 5_000])
def test_all_of_many_calls_at_once_end_well(pattern: Pattern, count: int) -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)

    for _ in range(count):
        world.call(caller, pattern, Require.all, timeout=1_000.0)

    check_that_all_end_well(world)
    assert [len(each.held) for each in world.processes.values()] == [count] * 3


@pytest.mark.parametrize("pattern", list(Pattern), ids=lambda each: each.name)
def test_the_queue_of_a_steady_client_is_empty_again_after_a_pause_of_the_leader(pattern: Pattern) -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)
    assert world.leader is not None
    steady = True

    def call() -> None:
        if steady:
            world.call(caller, pattern, Require.all, timeout=1_000.0)
            world.at(INTERVAL, call)

    def is_empty() -> bool:
        return len(world.results) >= len(world.begun) - 1  # the latest call is under way

    call()
    world.pause(world.leader.name, PAUSE)
    world.run(world.now + PAUSE)
    assert len(world.begun) - len(world.results) > MOST_AHEAD

    assert world.run_until(is_empty, WITHIN)  # while the client goes on at its rate
    steady = False
    check_that_all_end_well(world)


def connected_caller(window: int) -> Caller:
    caller = Caller(CLIENT, ["a", "b", "c"], SCHEMA, window)
    caller.connected("a", 0.0)
    caller.receive("a", Leading(1, "a"), 0.0)
    return caller


def start(caller: Caller, deadline: float = 100.0) -> int:
    return caller.start("put", b"", Pattern.one_hop, Require.one, deadline, 0.0)


def acknowledge(caller: Caller, sequence: int) -> None:
    caller.receive("a", Ack(CLIENT, sequence, Version(1, sequence), 1, ["a"], Outcome()), 0.0)


def origins(caller: Caller) -> list[tuple[int, int]]:
    """Sequence and oldest of the messages that are sent now."""
    found = [origin_of(each.message) for each in caller.take() if isinstance(each, Send)]
    return [(each.sequence, each.oldest) for each in found if each is not None]


def test_a_call_names_the_oldest_awaited_call_when_it_is_first_sent() -> None:
    caller = connected_caller(window=2)
    for _ in range(4):
        start(caller)
    assert origins(caller) == [(1, 1), (2, 1)]

    acknowledge(caller, 1)
    assert origins(caller) == [(3, 2)]
    caller.cancel(2)
    caller.tick(0.0)
    assert origins(caller) == [(4, 3)]

    acknowledge(caller, 3)
    caller.tick(10.0)
    assert origins(caller) == [(4, 3)]  # the same bytes at each sending


def test_a_call_that_begins_does_not_overtake_those_that_wait() -> None:
    caller = connected_caller(window=2)
    for _ in range(4):
        start(caller)
    origins(caller)

    caller.cancel(1)
    caller.cancel(2)
    start(caller)

    assert origins(caller) == [(3, 3), (4, 3)]


def test_no_window_is_longer_than_a_replica_accepts() -> None:
    caller = connected_caller(window=10 * MOST_AHEAD)

    for _ in range(MOST_AHEAD + 10):
        start(caller)

    assert origins(caller)[-1] == (MOST_AHEAD, 1)


def test_a_call_that_waited_for_others_until_its_deadline_says_so() -> None:
    caller = connected_caller(window=1)
    start(caller)
    waiting = start(caller, deadline=1.0)
    caller.take()

    caller.tick(1.0)

    ended = {each.sequence: each.result for each in caller.take() if not isinstance(each, Send)}
    failure = ended[waiting]
    assert isinstance(failure, Error)
    assert (failure.code, failure.execution) == (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    assert failure.message.endswith("; it waited for earlier calls of this client to end")


@pytest.mark.parametrize("ahead", [MOST_AHEAD, -1])
def test_what_no_caller_sends_is_refused_for_good(ahead: int) -> None:
    replica = ready_world().processes["a"].replica
    origin = Origin(CLIENT, 5_000, 5_000 - ahead)
    body = Body(origin, SCHEMA, "put", Pattern.one_hop, Require.one, b"")
    messages: list[Message] = [Ask(origin), Submit(body)]
    replica.connected(CLIENT, 0.0)
    replica.take()

    for message in messages:
        replica.receive(CLIENT, message, 0.0)

        (refused,) = sent(replica)
        assert isinstance(refused, Refused)
        assert (refused.sequence, refused.code) == (5_000, Code.INVALID_ARGUMENT)
        assert refused.text == (
            f"message 5000 of a client that still awaits {5_000 - ahead}: at most 1024 may be under way"
        )


def test_the_furthest_message_that_a_caller_may_send_is_accepted() -> None:
    replica = ready_world().processes["a"].replica
    replica.connected(CLIENT, 0.0)
    replica.take()

    replica.receive(CLIENT, Ask(Origin(CLIENT, MOST_AHEAD, 1)), 0.0)

    assert [type(each).__name__ for each in sent(replica)] == ["Given"]
