"""Single troubles, one a test, in virtual time: what a group does about each."""

from uuid import UUID

import pytest

from mf.core.error import Code, Error, Execution
from mf.replicated.caller import Applied
from mf.replicated.messages import (
    Ack,
    Body,
    Distrust,
    Entry,
    Head,
    Leading,
    Message,
    Numbered,
    Origin,
    Outcome,
    Part,
    Pattern,
    Prepare,
    Recovered,
    Refused,
    Report,
    Require,
    Restore,
    Seal,
    Send,
    Stamped,
    State,
    Submit,
    Sync,
    Took,
    Version,
)
from mf.replicated.replica import Replica
from mf.replicated.settings import ReplicaSettings
from tests.python.replicated.world import SCHEMA, Network, World, key_of


def ready_world(
    settings: ReplicaSettings | None = None, *, members: int = 3, can_snapshot: bool = True
) -> World:
    world = World(members=members, settings=settings, can_snapshot=can_snapshot)
    assert world.run_until(world.ready, 5.0)
    return world


def put(world: World, count: int = 1, pattern: Pattern = Pattern.one_hop_ack_client) -> list[Applied]:
    """Calls one after the other, of a new client, that all succeed."""
    caller = world.client()
    world.run(world.now + 0.01)
    made = []
    for _ in range(count):
        key = (caller.client, world.call(caller, pattern))
        assert world.run_until(lambda key=key: key in world.results, 20.0)  # type: ignore[misc]
        result = world.results[key]
        assert isinstance(result, Applied)
        made.append(result)
    return made


def states(world: World) -> dict[str, list[list[int]]]:
    assert world.run_until(world.settled, 20.0)
    return {name: each.state for name, each in sorted(world.processes.items())}


def test_a_version_that_was_given_out_and_never_used_becomes_a_no_op() -> None:
    world = ready_world()
    gone = world.client()
    world.run(world.now + 0.01)
    world.call(gone, Pattern.version_request)
    world.give_up(gone)
    world.run(world.now + 0.01)
    world.partition(*((name, gone.client) for name in world.names))

    (result,) = put(world, pattern=Pattern.version_request)

    assert key_of(result.version) == (1, 2)
    assert world.run_until(world.settled, 5.0)
    logs = [each.replica.log.at(1) for each in world.processes.values()]
    assert [None if each is None else each.body for each in logs] == [None, None, None]
    assert all(each is not None and key_of(each.version) == (1, 1) for each in logs)


def test_the_next_versioning_server_begins_an_epoch_above_all_that_a_majority_has() -> None:
    world = ready_world()
    put(world, 3)
    assert world.leader is not None
    world.kill(world.leader.name)

    (result,) = put(world)

    assert key_of(result.version) == (2, 4)
    first, *others = states(world).values()
    assert len(first) == 4
    assert others == [first]


def test_what_only_the_killed_versioning_server_had_is_gone_and_its_client_gets_another_version() -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)
    world.partition(("a", "b"), ("a", "c"))
    sequence = world.call(caller, Pattern.one_hop_ack_client)
    world.run(world.now + 0.05)
    assert world.processes["a"].replica.applied == 1
    world.kill("a")

    assert world.run_until(lambda: (caller.client, sequence) in world.results, 20.0)

    result = world.results[caller.client, sequence]
    assert isinstance(result, Applied)
    assert key_of(result.version) == (2, 1)
    assert result.members == ["b", "c"]


def test_a_replica_that_has_applied_what_the_group_lost_begins_again_from_a_snapshot() -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)
    put(world, 2)
    world.partition(("a", "b"), ("a", "c"), ("b", caller.client), ("c", caller.client))
    world.call(caller, Pattern.one_hop_ack_client, Require.one)
    world.take_lead_away(unnoticed_for=3.0)
    world.run(world.now + 1.0)
    world.call(caller, Pattern.one_hop_ack_client, Require.one)
    world.run(world.now + 0.1)
    assert world.processes["a"].replica.applied == 4
    world.heal()

    world.run(world.now + 5.0)
    held = states(world)

    assert held["a"] == held["b"] == held["c"]
    assert world.epoch >= 2


def test_who_has_lost_the_lead_and_does_not_know_it_gets_no_majority() -> None:
    world = ready_world()
    old = world.leader
    caller = world.client()
    world.run(world.now + 0.01)
    world.take_lead_away(unnoticed_for=60.0)
    world.run(world.now + 1.0)
    assert old is not None
    assert world.leader is not old

    sequence = world.call(caller, Pattern.one_hop)
    assert world.run_until(lambda: (caller.client, sequence) in world.results, 5.0)

    result = world.results[caller.client, sequence]
    assert isinstance(result, Applied)
    assert result.version.epoch == 2
    assert old.replica.versioner is None


@pytest.mark.parametrize("can_snapshot", [True, False], ids=["snapshots", "log alone"])
def test_a_replica_that_comes_back_without_memory_catches_up_before_it_counts(can_snapshot: bool) -> None:
    world = ready_world(can_snapshot=can_snapshot)
    put(world, 5)
    world.kill("c")
    put(world, 5)
    world.start("c")

    held = states(world)

    assert len(held["c"]) == 10
    assert held["c"] == held["a"] == held["b"]


def test_what_the_logs_no_longer_keep_comes_as_a_snapshot() -> None:
    world = ready_world(ReplicaSettings(most_entries=4))
    put(world, 10)
    world.kill("c")
    world.run(world.now + 0.1)
    world.start("c")

    held = states(world)

    assert len(held["c"]) == 10
    assert len(world.processes["c"].replica.log) <= 4


def test_without_snapshots_a_replica_that_the_logs_cannot_help_stays_outside_and_the_others_go_on() -> None:
    world = ready_world(ReplicaSettings(most_entries=4), can_snapshot=False)
    put(world, 10)
    world.kill("c")
    world.run(world.now + 0.1)
    world.start("c")
    world.run(world.now + 3.0)

    put(world, 2)

    assert world.processes["c"].replica.normal == 0
    assert world.processes["c"].state == []


def test_a_group_begins_when_all_of_it_is_there_and_not_before() -> None:
    world = World()
    world.kill("c")
    world.run(5.0)
    assert not world.ready()

    world.start("c")

    assert world.run_until(world.ready, 10.0)


def test_with_less_than_a_majority_no_call_is_acknowledged_and_the_lead_is_given_up() -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)
    world.kill("b")
    world.kill("c")
    world.run(world.now + 0.01)
    world.call(caller, Pattern.one_hop, timeout=4.0)
    world.run(world.now + 6.0)

    (result,) = world.results.values()

    assert isinstance(result, Error)
    assert (result.code, result.execution) == (Code.DEADLINE_EXCEEDED, Execution.UNKNOWN)
    assert world.processes["a"].replica.versioner is None or not world.processes["a"].replica.versioner.ready


def test_a_client_that_reaches_nobody_is_told_that_nothing_was_executed() -> None:
    world = World()
    caller = world.client()
    world.partition(*((name, caller.client) for name in world.names))
    world.run(0.01)
    world.call(caller, Pattern.one_hop, timeout=1.0)
    world.run(2.0)

    (result,) = world.results.values()

    assert isinstance(result, Error)
    assert (result.code, result.execution) == (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    assert "no versioning server is known" in result.message


def test_a_message_that_is_sent_twice_is_applied_once_and_acknowledged_twice_alike() -> None:
    world = ready_world()
    world.network.repeated = 1.0

    results = put(world, 10, Pattern.one_hop)

    assert [key_of(each.version) for each in results] == [(1, counter) for counter in range(1, 11)]
    assert len(states(world)["b"]) == 10


def test_the_versioning_server_refuses_more_when_its_servant_has_too_much_to_apply() -> None:
    world = ready_world(ReplicaSettings(most_unapplied=3))
    world.applying = 1000.0
    caller = world.client()
    world.run(world.now + 0.01)
    refused: list[Message] = []
    world.watch = lambda _, __, message: refused.append(message) if isinstance(message, Refused) else None

    for _ in range(5):
        world.call(caller, Pattern.one_hop_ack_client)
    world.run(world.now + 0.05)

    assert [(each.sequence, each.code) for each in refused if isinstance(each, Refused)] == [
        (4, int(Code.OVERLOADED)),
        (5, int(Code.OVERLOADED)),
    ]


def test_a_message_of_a_schema_that_is_not_known_yet_is_refused_and_sent_again_until_it_is() -> None:
    world = ready_world()
    caller = world.client()
    caller._schema = UUID(int=8)
    world.run(world.now + 0.01)

    world.call(caller, Pattern.one_hop)
    world.run(world.now + 0.5)
    assert world.results == {}

    for process in world.processes.values():
        process.replica.schemas.add(UUID(int=8))
    assert world.run_until(lambda: bool(world.results), 20.0)
    (result,) = world.results.values()
    assert isinstance(result, Applied)


# One replica alone, message by message.

CLIENT = UUID(int=1000)


def body(sequence: int, pattern: Pattern = Pattern.one_hop_ack_client) -> Body:
    return Body(Origin(CLIENT, sequence, 1), SCHEMA, "put", pattern, Require.majority, b"")


def stamped(counter: int, epoch: int = 1, under: int = 1) -> Stamped:
    return Stamped(Entry(Version(epoch, counter), body(counter)), under)


def follower() -> Replica:
    """c, normal in epoch 1, which a leads."""
    world = ready_world()
    replica = world.processes["c"].replica
    replica.connected(CLIENT, 0.0)
    replica.take()
    return replica


def sent(replica: Replica) -> list[Message]:
    return [each.message for each in replica.take() if isinstance(each, Send)]


def test_what_comes_early_waits_and_is_applied_in_order() -> None:
    replica = follower()

    for counter in (3, 2):
        replica.receive("a", stamped(counter), 0.0)
    assert replica.take() == []
    replica.receive("a", stamped(1), 0.0)

    applied = [each.version.counter for each in replica.take() if not isinstance(each, Send)]  # type: ignore[union-attr]
    assert applied == [1, 2, 3]


def test_what_is_missing_is_asked_for() -> None:
    replica = follower()
    replica.receive("a", stamped(2), 100.0)

    replica.tick(100.3)

    (report,) = sent(replica)
    assert report == Report(1, 1, replica.log.head, True)


def test_what_waits_for_an_earlier_one_is_bounded() -> None:
    replica = follower()

    for counter in range(2, 10_000):
        replica.receive("a", stamped(counter), 0.0)

    assert len(replica._intake._early) == ReplicaSettings().most_early


def test_a_replica_acknowledges_under_its_epoch_and_nothing_once_it_has_promised_another() -> None:
    replica = follower()
    replica.receive("a", stamped(1), 0.0)
    replica.take()
    replica.done(Outcome(), 0.0)
    (ack,) = sent(replica)
    assert isinstance(ack, Ack)
    assert (ack.under, ack.applied) == (1, ["c"])

    replica.receive("b", Prepare(2, False, replica.log.head), 0.0)
    replica.receive("a", stamped(1), 0.0)
    replica.receive("a", stamped(2), 0.0)

    assert sent(replica) == [Report(2, 1, replica.log.head, False)]
    assert replica.log.head.version.counter == 1


def test_acknowledgements_of_different_epochs_do_not_count_together() -> None:
    world = ready_world()
    caller = world.client()
    caller.start("put", b"", Pattern.one_hop_ack_client, Require.majority, 100.0, 0.0)
    caller.take()

    def ack(member: str, under: int) -> None:
        caller.receive(member, Ack(caller.client, 1, Version(1, 1), under, [member], Outcome()), 0.0)

    ack("a", 1)
    ack("b", 2)
    assert caller.take() == []
    ack("a", 2)

    (done,) = caller.take()
    assert not isinstance(done, Send)
    assert isinstance(done.result, Applied)
    assert done.result.members == ["a", "b"]


def test_who_does_not_lead_says_who_does() -> None:
    replica = follower()

    replica.receive(CLIENT, Submit(body(1)), 0.0)

    assert sent(replica) == [Leading(1, "a")]


def test_a_client_cannot_send_in_the_name_of_another() -> None:
    world = ready_world()
    leader = world.processes["a"].replica
    leader.connected(UUID(int=5), 0.0)
    leader.take()

    leader.receive(UUID(int=5), Submit(body(1)), 0.0)

    assert leader.take() == []
    assert leader.log.head.version.counter == 0


def test_what_only_members_say_is_not_taken_from_a_client() -> None:
    replica = follower()
    entry = Entry(Version(1, 1), body(1))
    of_members: list[Message] = [
        Prepare(9, True, Head()),
        Sync(1, Head(), [entry], True),
        Restore(1, Head(), State(1, 0), Head(), [], [entry], True),
        Seal(1, Version(1, 1)),
        Numbered(body(1).origin, Version(1, 1), 1),
        Recovered(UUID(int=3), False, 9),
    ]

    for message in of_members:
        replica.receive(CLIENT, message, 0.0)
    replica.receive("a", stamped(1), 0.0)

    assert (replica.promised, replica.log.head.version.counter) == (1, 1)


def test_a_replica_that_lost_its_memory_takes_no_log_of_an_epoch_before_one_that_the_others_know() -> None:
    world = ready_world()
    put(world, 2)
    old = world.leader
    assert old is not None
    assert old.name == "a"
    world.partition(("a", "b"))
    world.take_lead_away(unnoticed_for=100.0)
    world.run(world.now + 1.0)
    assert world.epoch == 2
    world.kill("c")
    world.start("c")
    world.run(world.now + 3.0)

    assert world.processes["c"].replica.normal != 1
    assert world.processes["c"].replica.promised >= 2


def test_what_a_majority_has_acknowledged_without_the_versioning_server_survives_a_lost_memory() -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)

    def lose_it_at_the_versioning_server(_: str, to: str, message: Message) -> None:
        if to == "a" and isinstance(message, Stamped):
            world.partition(("a", caller.client), ("a", "c"))

    world.watch = lose_it_at_the_versioning_server
    sequence = world.call(caller, Pattern.version_request, timeout=1.0)
    assert world.run_until(lambda: (caller.client, sequence) in world.results, 0.1)
    world.watch = None
    result = world.results[caller.client, sequence]
    assert isinstance(result, Applied)
    assert result.members == ["b", "c"]

    world.kill("b")
    world.start("b")
    world.run(world.now + 3.0)
    served = world.processes["b"].replica.is_normal
    world.heal()

    assert not served  # or it would have denied that the message was ever there
    assert states(world) == {name: [[caller.client.int, sequence]] for name in world.names}
    assert world.contents[key_of(result.version)] == (caller.client, sequence)


SMALL = ReplicaSettings(most_entries=4, chunk_bytes=20)
"""With these a state of ten messages goes in several parts."""


def parts_for(world: World, name: str) -> list[tuple[str, Part | Took]]:
    """Gathers from now on what this one gets of a state, and what it answers."""
    seen: list[tuple[str, Part | Took]] = []

    def watch(source: str, to: str, message: Message) -> None:
        if isinstance(message, Part | Took) and name in (source, to):
            seen.append((source, message))

    world.watch = watch
    return seen


def without_memory(world: World, name: str) -> None:
    world.kill(name)
    world.run(world.now + 0.1)
    world.start(name)


def test_a_long_state_comes_in_parts_of_which_each_is_asked_for_by_what_is_there() -> None:
    world = ready_world(SMALL)
    put(world, 10)
    seen = parts_for(world, "c")
    without_memory(world, "c")

    held = states(world)

    assert held["c"] == held["a"]
    first = max(at for at, (_, each) in enumerate(seen) if isinstance(each, Part) and not each.offset)
    del seen[:first]  # what came before it could take a log
    parts = [message for _, message in seen if isinstance(message, Part)]
    assert len(parts) > 3
    assert {len(each.piece) for each in parts[:-1]} == {20}
    sizes = [each.size if isinstance(each, Took) else each.offset for _, each in seen]
    assert sizes == [at for part in parts for at in (part.offset, part.offset + len(part.piece))]
    assert sum(len(each.piece) for each in parts) == parts[0].state.size


def test_a_replica_whose_giver_is_killed_in_the_midst_of_its_state_gets_that_of_another() -> None:
    world = ready_world(SMALL, members=5)
    put(world, 10)
    seen = parts_for(world, "c")
    without_memory(world, "c")
    assert world.leader is not None
    giver = world.leader.name
    assert world.run_until(lambda: any(isinstance(each, Part) and each.offset for _, each in seen), 5.0)
    assert world.processes["c"].state == []
    world.kill(giver)

    put(world, 2)
    held = states(world)

    assert len(held["c"]) == 12
    assert all(each == held["c"] for each in held.values())
    givers = list(dict.fromkeys(source for source, message in seen if isinstance(message, Part)))
    assert len(givers) == 2
    assert givers[0] == giver


def test_parts_that_are_lost_or_come_twice_are_sent_again_and_counted_once() -> None:
    world = ready_world(SMALL)
    put(world, 10)
    world.network = Network(lost=0.3, repeated=0.3, least=0.0001, most=0.01)
    seen = parts_for(world, "c")
    without_memory(world, "c")
    world.run(world.now + 20.0)
    world.network = Network()

    held = states(world)

    assert held["c"] == held["a"]
    assert len(seen) > 8


def test_who_asks_no_more_for_a_state_costs_no_memory() -> None:
    world = ready_world(SMALL)
    put(world, 10)
    seen = parts_for(world, "c")
    without_memory(world, "c")
    assert world.run_until(lambda: bool(seen), 5.0)
    world.partition(("a", "c"), ("b", "c"))

    world.run(world.now + 5.0)

    assert all(each.replica._supplier.is_idle for each in world.processes.values())


def test_a_state_that_is_longer_than_a_replica_takes_is_told_in_words() -> None:
    world = ready_world(ReplicaSettings(most_entries=4, chunk_bytes=64, most_state=100))
    put(world, 10)
    without_memory(world, "c")

    assert world.run_until(lambda: bool(world.stuck), 5.0)

    (reason,) = world.stuck
    assert reason.startswith("c: the state of 'a' takes ")
    assert reason.endswith(" bytes; this one takes 100")


@pytest.mark.parametrize("counters", [[2], [1, 3], [1, 1]])
def test_a_log_with_gaps_is_not_taken_and_told_in_words(counters: list[int]) -> None:
    replica = Replica("c", ["a", "b", "c"], SCHEMA, UUID(int=1), can_snapshot=True)
    for member in ("a", "b"):
        replica.receive(member, Recovered(UUID(int=1), False, 1), 0.0)
    replica.receive("a", Prepare(1, True, Head()), 0.0)
    replica.take()
    entries = [Entry(Version(1, counter), None) for counter in counters]
    expected = next(at for at, counter in enumerate(counters, 1) if counter != at)
    words = f"its log goes on with {counters[expected - 1]} where {expected} comes next"

    replica.receive("a", Sync(1, Head(), entries, True), 0.0)
    assert replica.take() == [Distrust("a", words)]
    replica.receive("a", Restore(1, Head(), None, Head(), [], entries, True), 0.0)
    assert replica.take() == [Distrust("a", words)]

    assert replica.log.head == Head()
    assert replica.normal == 0
