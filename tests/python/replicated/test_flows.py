"""Each flow without faults: how many messages of which kind each process sends to each other, in which order.
The diagrams of docs/replicated.md are drawn from these traces.
"""

import json
from pathlib import Path

import pytest

from mf.replicated.caller import Applied
from mf.replicated.messages import Pattern, Require
from tests.python.replicated.world import World

# The messages of one call in a group of a (which gives out the versions), b and c, for all languages.
FLOWS = json.loads((Path(__file__).parents[2] / "vectors/replicated/flows.json").read_text("utf-8"))
_BETWEEN = ("Prepare", "Report")


def ready_world() -> World:
    world = World()
    assert world.run_until(world.ready, 5.0)
    world.run(world.now + 1.0)
    assert world.leader is not None
    assert world.leader.name == "a"
    return world


def trace(world: World, pattern: Pattern, require: Require) -> list[tuple[str, str, str]]:
    """What one call sends, between replicas that have nothing to catch up with."""
    caller = world.client()
    world.run(world.now + 0.01)
    world.sent.clear()
    sequence = world.call(caller, pattern, require)
    assert world.run_until(lambda: (caller.client, sequence) in world.results, 1.0)
    assert isinstance(world.results[caller.client, sequence], Applied)
    return [each for each in world.sent if each[2] not in _BETWEEN]


@pytest.mark.parametrize("pattern", list(Pattern), ids=lambda each: each.name)
def test_a_message_costs_what_its_flow_says(pattern: Pattern) -> None:
    sent = trace(ready_world(), pattern, Require.all)

    assert [list(each) for each in sent] == FLOWS[pattern.name]


@pytest.mark.parametrize("pattern", list(Pattern), ids=lambda each: each.name)
def test_the_result_names_the_version_and_the_replicas_that_have_applied_it(pattern: Pattern) -> None:
    world = ready_world()
    caller = world.client()
    world.run(world.now + 0.01)

    for payload in (b"first", b"second"):
        world.call(caller, pattern, Require.all, payload=payload)
        world.run(world.now + 0.01)

    results = [world.results[caller.client, each] for each in (1, 2)]
    assert all(isinstance(each, Applied) and each.members == ["a", "b", "c"] for each in results)
    versions = [(each.version.epoch, each.version.counter) for each in results if isinstance(each, Applied)]
    assert versions == ([(0, 0), (0, 0)] if pattern is Pattern.no_versioning else [(1, 1), (1, 2)])
    assert [each.outcome.payload for each in results if isinstance(each, Applied)] == [b"first", b"second"]


@pytest.mark.parametrize(
    ("require", "needed"),
    [(Require.one, 1), (Require.majority, 2), (Require.all, 3)],
    ids=["one", "majority", "all"],
)
def test_a_call_ends_when_as_many_as_are_required_have_applied_it(require: Require, needed: int) -> None:
    world = ready_world()

    trace(world, Pattern.one_hop_ack_client, require)

    (result,) = world.results.values()
    assert isinstance(result, Applied)
    assert len(result.members) == needed


def test_with_all_required_a_call_waits_for_a_replica_that_is_gone_and_its_deadline_ends_it() -> None:
    world = ready_world()
    caller = world.client()
    world.kill("c")
    world.run(world.now + 0.01)

    world.call(caller, Pattern.one_hop_ack_client, Require.all, timeout=2.0)
    world.run(world.now + 3.0)

    (result,) = world.results.values()
    assert str(result) == (
        "DEADLINE_EXCEEDED: 2 of 3 replicas are known to have applied it, 3 must (may have run)"
    )


def test_the_chain_goes_round_a_replica_that_is_gone() -> None:
    world = ready_world()
    world.kill("b")
    world.run(world.now + 0.1)

    sent = trace(world, Pattern.chain, Require.majority)

    assert sent == [("client", "a", "Submit"), ("a", "c", "Stamped"), ("c", "client", "Ack")]
