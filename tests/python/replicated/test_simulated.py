"""Each flow under faults at each step, in virtual time: ninety calls of three clients a seed, while
messages are lost, late, repeated and out of order, processes are killed and come back, links are cut, and the
lead goes from one to the other, noticed late. In one seed of fifty a client makes more calls at once besides
than a replica takes of it. `make soak` runs more seeds.
"""

from functools import partial
from uuid import UUID

import pytest

from mf.core.error import Error
from mf.replicated.caller import Applied
from mf.replicated.messages import MOST_AHEAD, Pattern, PeerId, Require
from mf.replicated.settings import ReplicaSettings
from tests.python.replicated.world import Network, World

SEEDS = 100
SOAK_SEEDS = 1_000
BLOCKS = 10
CALLS = 30
BURST = MOST_AHEAD + 200
BURST_EVERY = 50
FAULTS = ("kill", "kill leader", "cut", "isolate", "lead", "cut client", "give up", "split", "pause")


def simulate(pattern: Pattern, seed: int) -> World:
    """One run; every rule is checked on the way and at its end."""
    members = 3 if seed % 4 else 5
    rough = Network(lost=0.03, repeated=0.05, least=0.0002, most=0.02)
    small = ReplicaSettings(most_entries=15, chunk_bytes=500) if seed % 3 == 0 else ReplicaSettings()
    world = World(seed, members, rough, small, applying=0.003)
    random = world.random
    callers = [world.client() for _ in range(3)]
    for caller in callers:
        for _ in range(CALLS):
            require = random.choice([Require.one, Require.majority, Require.majority, Require.all])
            timeout = random.choice([0.5, 3.0, 20.0])
            call = partial(world.call, caller, pattern, require, timeout)
            world.at(random.uniform(0.0, 1.5), call)
    flood = None if seed % BURST_EVERY else burst(world, pattern)
    for _ in range(random.randint(2, 25)):
        world.at(random.uniform(0.05, 2.0), lambda: disturb(world))
    world.run(4.5)
    world.calmed()
    assert world.run_until(lambda: len(world.results) == len(world.begun), 25.0), unfinished(world)
    for (client, sequence), result in world.results.items():
        assert client != flood or isinstance(result, Applied), f"call {sequence} of many at once: {result}"
    if pattern is not Pattern.no_versioning:
        assert world.run_until(world.settled, 30.0), unfinished(world)
        check_what_survived(world)
    assert world.stuck == []
    return world


def burst(world: World, pattern: Pattern) -> UUID:
    """One more client that makes many calls at once, which all have time enough to end well."""
    caller = world.client()

    def call_all() -> None:
        for _ in range(BURST):
            world.call(caller, pattern, Require.majority, timeout=1_000.0)

    world.at(0.5, call_all)
    return caller.client


def disturb(world: World) -> None:
    """One fault, that ends by itself after a while."""
    random = world.random
    names = sorted(world.processes)
    name = random.choice(names)
    match random.choice(FAULTS):
        case "pause":
            world.pause(name, random.uniform(0.1, 1.5))
        case "kill":
            kill(world, name)
        case "kill leader" if world.leader is not None:
            kill(world, world.leader.name)
        case "cut":
            cut(world, (name, random.choice(names)))
        case "isolate":
            cut(world, *((name, other) for other in names))
        case "lead":
            world.take_lead_away(random.uniform(0.0, 1.5))
        case "cut client":
            cut(world, (name, random.choice(list(world.callers))))
        case "split" if world.leader is not None:
            # Two give out versions, each reached by clients, and some replicas hear of both.
            leader = world.leader.name
            others = [each for each in names if each != leader]
            some = random.sample(others, random.randint(1, len(others)))
            cut(world, *((leader, other) for other in some))
            world.take_lead_away(random.uniform(0.5, 2.0))
        case "give up":
            world.give_up(random.choice(list(world.callers.values())))


def kill(world: World, name: str) -> None:
    """Unless so many have lost their memory already that no majority is left which remembers."""
    remembering = [each for each in world.processes.values() if each.replica.normal and each.name != name]
    if len(remembering) > len(world.names) // 2:
        world.kill(name)
        world.at(world.random.uniform(0.05, 0.8), lambda: world.start(name))


def cut(world: World, *pairs: tuple[PeerId, PeerId]) -> None:
    world.partition(*(pair for pair in pairs if pair[0] != pair[1]))
    world.at(world.random.uniform(0.05, 2.5), world.heal)


def check_what_survived(world: World) -> None:
    states = [each.state for each in world.processes.values()]
    assert all(state == states[0] for state in states), "replicas differ"
    held = {(UUID(int=client), sequence) for client, sequence in states[0]}
    for key, result in world.results.items():
        if isinstance(result, Applied):
            assert len(result.members) >= {Require.one: 1, Require.majority: len(world.names) // 2 + 1}.get(
                world.begun[key], len(world.names)
            )
            assert world.contents[result.version.epoch, result.version.counter] == key
            if world.begun[key] is not Require.one:
                assert key in held, f"{key} was acknowledged by {result.members} and is gone"


def unfinished(world: World) -> str:
    lines = [f"at {world.now}: {len(world.results)} of {len(world.begun)} calls have ended"]
    for each in world.processes.values():
        replica = each.replica
        lines.append(
            f"{each.name}: promised {replica.promised}, normal {replica.normal}, head {replica.log.head}, "
            f"applied {replica.applied}, leads {replica.versioner is not None}, leader {replica.leader}"
        )
    return "\n".join(lines)


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("pattern", list(Pattern), ids=lambda each: each.name)
def test_no_fault_breaks_the_order_or_loses_what_a_majority_has_acknowledged(
    pattern: Pattern, block: int
) -> None:
    check(pattern, range(block, SEEDS, BLOCKS))


@pytest.mark.soak
@pytest.mark.parametrize("pattern", list(Pattern), ids=lambda each: each.name)
def test_no_fault_does_so_in_many_more_runs(pattern: Pattern) -> None:
    check(pattern, range(SEEDS, SOAK_SEEDS))


def check(pattern: Pattern, seeds: range) -> None:
    applied = 0
    for seed in seeds:
        try:
            world = simulate(pattern, seed)
        except AssertionError as failed:
            raise AssertionError(f"{pattern.name}, seed {seed}: {failed}") from failed
        applied += sum(not isinstance(each, Error) for each in world.results.values())

    assert applied > len(seeds) * 3 * CALLS // 2  # most calls succeed all the same
