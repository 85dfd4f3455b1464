"""Rules that hold what was acknowledged, message by message: each keeps one rare order of events from doing
harm, which the simulated runs meet too seldom to be its only test.
"""

from uuid import UUID

from mf.replicated.messages import (
    Ack,
    Apply,
    Body,
    Entry,
    Head,
    Origin,
    Outcome,
    Pattern,
    Prepare,
    Pull,
    Recovered,
    Report,
    Require,
    Restore,
    Seal,
    Sealed,
    Send,
    Stamped,
    State,
    Sync,
    Version,
)
from mf.replicated.replica import Replica
from tests.python.replicated.test_troubles import CLIENT, body, follower, put, ready_world, sent, stamped
from tests.python.replicated.world import SCHEMA


def applied(replica: Replica) -> list[int]:
    """The counters of what the servant is asked to apply, which it does at once."""
    counters = []
    for effect in replica.take():
        if isinstance(effect, Apply):
            counters.append(effect.version.counter)
            replica.done(Outcome(), 0.0)
    return counters


def test_what_is_applied_after_another_epoch_was_promised_is_not_acknowledged() -> None:
    replica = follower()
    replica.receive("a", stamped(1), 0.0)
    replica.take()
    replica.receive("b", Prepare(2, False, Head()), 0.0)
    replica.take()

    replica.done(Outcome(), 0.0)

    assert sent(replica) == []


def test_a_message_that_got_two_versions_is_applied_under_the_first_alone() -> None:
    replica = follower()
    replica.receive("a", stamped(1), 0.0)
    assert applied(replica) == [1]

    replica.receive("a", Stamped(Entry(Version(1, 2), body(1)), 1), 0.0)

    assert replica.log.head.version.counter == 2
    acks = [each for each in sent(replica) if isinstance(each, Ack)]
    assert [(each.version.counter, each.applied) for each in acks] == [(1, ["c"]), (1, ["c"])]


def test_a_log_is_replaced_only_if_it_still_ends_as_it_did_when_that_was_decided() -> None:
    replica = follower()
    replica.receive("a", stamped(1), 0.0)
    applied(replica)
    replica.receive("a", Prepare(2, True, Head()), 0.0)

    replica.receive("a", Restore(2, Head(), State(1, 0), Head(), [], [], True), 0.0)

    assert replica.log.head.version.counter == 1


def test_nobody_goes_back_within_an_epoch() -> None:
    replica = follower()
    for counter in (1, 2):
        replica.receive("a", stamped(counter), 0.0)
    applied(replica)

    replica.receive("a", Restore(1, replica.log.head, State(1, 0), Head(), [], [stamped(1).entry], True), 0.0)

    assert replica.log.head.version.counter == 2


def test_a_sealed_version_is_taken_from_the_versioning_server_alone() -> None:
    replica = follower()
    replica.receive("a", Seal(1, Version(1, 1)), 0.0)
    assert sent(replica) == [Sealed(1, Version(1, 1), None)]

    replica.receive(CLIENT, stamped(1), 0.0)
    assert replica.log.head.version.counter == 0
    replica.receive("a", Stamped(Entry(Version(1, 1)), 1), 0.0)

    assert replica.log.head.version.counter == 1


def test_who_has_a_version_that_is_to_be_sealed_gives_it() -> None:
    replica = follower()
    replica.receive(CLIENT, stamped(2), 0.0)

    replica.receive("a", Seal(1, Version(1, 2)), 0.0)

    assert sent(replica) == [Sealed(1, Version(1, 2), stamped(2).entry)]


def test_acknowledgements_of_different_versions_do_not_count_together() -> None:
    world = ready_world()
    caller = world.client()
    caller.start("put", b"", Pattern.one_hop_ack_client, Require.majority, 100.0, 0.0)
    caller.take()

    for member, counter in (("a", 1), ("b", 2)):
        message = Ack(caller.client, 1, Version(1, counter), 1, [member], Outcome())
        caller.receive(member, message, 0.0)

    assert caller.take() == []


def test_a_log_is_pulled_only_from_one_that_still_has_what_it_has_reported() -> None:
    replica = follower()
    replica.receive("a", stamped(1), 0.0)
    applied(replica)
    sent(replica)

    replica.receive("a", Pull(1, Head(), Head(Version(1, 9), 7)), 0.0)
    assert sent(replica) == []
    replica.receive("a", Pull(1, Head(), replica.log.head), 0.0)

    assert sent(replica) == [Sync(1, Head(), [stamped(1).entry], True)]


def test_a_report_from_before_a_replica_died_does_not_keep_it_out() -> None:
    world = ready_world()
    put(world, 2)
    world.kill("c")
    leader = world.processes["a"].replica
    leader.receive("c", Report(1, 1, leader.log.head, False), world.now)
    world.start("c")

    assert world.run_until(world.settled, 10.0)
    assert len(world.processes["c"].state) == 2


def test_a_message_of_a_client_is_never_taken_for_that_of_another() -> None:
    replica = follower()
    other = Body(Origin(UUID(int=5), 1, 1), SCHEMA, "put", Pattern.version_request, Require.one, b"")

    replica.receive(CLIENT, Stamped(Entry(Version(1, 1), other), 1), 0.0)

    assert [each for each in replica.take() if not isinstance(each, Send)] == []


def test_who_has_lost_its_memory_takes_no_log_before_a_majority_has_said_which_epoch_is_the_latest() -> None:
    life = UUID(int=9)
    replica = Replica("c", ["a", "b", "c"], SCHEMA, life)
    log = Sync(1, Head(), [stamped(1).entry], True)
    replica.receive("a", Prepare(1, True, Head()), 0.0)
    replica.receive("a", log, 0.0)
    replica.receive("a", Recovered(life, False, 1), 0.0)
    replica.receive("a", log, 0.0)
    assert (replica.normal, replica.promised) == (0, 1)

    replica.receive("b", Recovered(life, False, 2), 0.0)
    replica.receive("a", log, 0.0)
    assert (replica.normal, replica.promised) == (0, 2)
    replica.receive("b", Prepare(2, True, Head()), 0.0)
    replica.receive("b", Sync(2, Head(), [stamped(1).entry], True), 0.0)

    assert (replica.normal, replica.log.head.version.counter) == (2, 1)
