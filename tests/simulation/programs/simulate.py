"""Runs seeds of the simulation.

simulate.py --first 0 --count 1000       each seed once; the first one that breaks a rule ends it
simulate.py --seed 7                     one seed, twice: both runs have the same log
simulate.py --seed 7 --faults 0,3        with these of its faults only
simulate.py --seed 7 --log               prints all that happened
simulate.py --topics --seed 7            the runs of topics, likewise
"""

import argparse
import asyncio
import gc
import logging
import sys
import warnings
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, NamedTuple

from log import Log
from plan import SERVERS, Fault, Plan, plan_of
from rules import broken as calls_broken
from topics_plan import topics_plan_of
from topics_rules import topics_broken
from topics_world import TopicsWorld
from work import Client
from world import World

from mf.core.backoff import JITTER
from mf.testing.clock import FakeClock
from mf.testing.loop import StuckError, VirtualLoop, run
from mf.testing.network import MemoryNetwork, Weather

LONGEST = 600.0
"""Virtual seconds; no run takes half of it."""


async def _work(world: World, plan: Plan, faults: list[Fault]) -> None:
    clients = {name: Client(world, name) for name in plan.clients}
    await asyncio.gather(*(clients[name].work(steps) for name, steps in plan.clients.items()))
    await world.heal(faults)
    for name, client in clients.items():
        if name not in world.closed:
            await client.probe()


async def _run(
    world: World, faults: list[Fault], work: Callable[[World, list[Fault]], Coroutine[Any, Any, None]]
) -> Log:
    try:
        async with asyncio.timeout(LONGEST):
            await world.start_controller()
            for host in SERVERS:
                await world.start(host)
            for fault in faults:
                world.plan(fault)
            await work(world, faults)
            await asyncio.sleep(1.0)
        await world.end()
    except TimeoutError:
        world.log.troubles.append(f"the run has not ended after {LONGEST} virtual seconds")
    return world.log


async def _calls(seed: int, faults: list[Fault]) -> Log:
    plan = plan_of(seed)
    world = World(_loop(), list(plan.clients), Log())
    return await _run(world, faults, lambda world, faults: _work(world, plan, faults))


async def _topics(seed: int, faults: list[Fault]) -> Log:
    world = TopicsWorld(_loop(), topics_plan_of(seed))
    return await _run(world, faults, lambda _, faults: world.work(faults))


def _loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


class Runs(NamedTuple):
    """What is planned and run, and what it may break."""

    plan: Callable[[int], Plan]
    run: Callable[[int, list[Fault]], Coroutine[Any, Any, Log]]
    broken: Callable[[Any], list[str]]


KINDS = {
    "calls": Runs(plan_of, _calls, calls_broken),
    "topics": Runs(lambda seed: topics_plan_of(seed).base, _topics, topics_broken),
}


def run_once(kind: str, seed: int, chosen: list[int] | None = None) -> Log:
    """`chosen`: numbers of the faults that happen; None: all."""
    plan = KINDS[kind].plan(seed)
    faults = plan.faults if chosen is None else [plan.faults[each] for each in chosen]
    JITTER.seed(seed)
    clock = FakeClock()
    weather = Weather(plan.latency, plan.spread, plan.largest_piece)
    network = MemoryNetwork(clock, Random(f"network {seed}"), weather)
    try:
        return run(KINDS[kind].run(seed, faults), network)
    except StuckError as stuck:
        log = Log()
        log.troubles.append(str(stuck))
        return log


def broken(kind: str, seed: int, chosen: list[int] | None = None) -> list[str]:
    log = run_once(kind, seed, chosen)
    return KINDS[kind].broken(log) if log.lines else log.troubles


def shrunk(kind: str, seed: int, chosen: list[int]) -> list[int]:
    """The shortest list of faults found that still breaks a rule: delta debugging."""
    parts = 2
    while len(chosen) >= 1:
        size = max(len(chosen) // parts, 1)
        pieces = [chosen[at : at + size] for at in range(0, len(chosen), size)]
        for piece in pieces:
            rest = [each for each in chosen if each not in piece]
            if broken(kind, seed, rest):
                chosen, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(parts * 2, len(chosen))
    return chosen


def report(kind: str, seed: int, chosen: list[int] | None = None) -> int:
    """Shows what a seed breaks, and with how few faults. Gives the status to exit with."""
    plan = KINDS[kind].plan(seed)
    everything = list(range(len(plan.faults))) if chosen is None else chosen
    violations = broken(kind, seed, everything)
    if not violations:
        print(f"seed {seed} keeps all rules")
        return 0
    fewest = shrunk(kind, seed, everything)
    print(f"seed {seed} breaks {len(violations)} rules with {len(everything)} faults:")
    for text in violations[:10]:
        print(f"  {text}")
    print(f"the shortest list of faults that breaks any ({len(fewest)}):")
    for each in fewest:
        print(f"  {each}: {plan.faults[each]}")
    for text in broken(kind, seed, fewest)[:10]:
        print(f"  {text}")
    what = "" if kind == "calls" else f"--{kind} "
    numbers = ",".join(map(str, fewest)) or "none"
    print(f"replay: tests/simulation/replay {what}--seed {seed} --faults {numbers} --log")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--faults")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--topics", dest="kind", action="store_const", const="topics", default="calls")
    options = parser.parse_args()
    kind = options.kind
    warnings.simplefilter("error")
    logging.disable()
    if options.seed is None:
        gc.disable()
        for seed in range(options.first, options.first + options.count):
            if broken(kind, seed):
                return report(kind, seed)
            if seed % 16 == 0:
                gc.collect()
        print(f"{options.count} seeds from {options.first} on keep all rules")
        return 0
    chosen = None
    if options.faults is not None:
        chosen = [] if options.faults == "none" else [int(each) for each in options.faults.split(",")]
    first, second = (run_once(kind, options.seed, chosen) for _ in range(2))
    if options.log:
        print("\n".join(first.lines))
    if first.lines != second.lines:
        print(f"seed {options.seed} gives two different runs")
        return 2
    return report(kind, options.seed, chosen)


if __name__ == "__main__":
    sys.exit(main())
