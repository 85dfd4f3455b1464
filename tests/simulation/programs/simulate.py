"""Runs seeds of the simulation.

simulate.py --first 0 --count 1000       each seed once; the first one that breaks a rule ends it
simulate.py --seed 7                     one seed, twice: both runs have the same log
simulate.py --seed 7 --faults 0,3        with these of its faults only
simulate.py --seed 7 --log               prints all that happened
"""

import argparse
import asyncio
import gc
import logging
import sys
import warnings
from random import Random

from log import Log
from plan import Fault, Plan, plan_of
from rules import broken
from work import Client
from world import World

from mf.link.fork import JITTER
from mf.testing.clock import FakeClock
from mf.testing.loop import StuckError, VirtualLoop, run
from mf.testing.network import MemoryNetwork, Weather

LONGEST = 600.0
"""Virtual seconds; no run takes half of it."""


async def _run(plan: Plan, faults: list[Fault]) -> Log:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    world = World(loop, list(plan.clients))
    try:
        async with asyncio.timeout(LONGEST):
            await world.start_controller()
            for host in ("s0", "s1", "s2"):
                await world.start(host)
            for fault in faults:
                world.plan(fault)
            clients = {name: Client(world, name) for name in plan.clients}
            await asyncio.gather(*(clients[name].work(steps) for name, steps in plan.clients.items()))
            await world.heal(faults)
            for name, client in clients.items():
                if name not in world.closed:
                    await client.probe()
            await asyncio.sleep(1.0)
        await world.end()
    except TimeoutError:
        world.log.troubles.append(f"the run has not ended after {LONGEST} virtual seconds")
    return world.log


def run_once(seed: int, chosen: list[int] | None = None) -> Log:
    """`chosen`: numbers of the faults that happen; None: all."""
    plan = plan_of(seed)
    faults = plan.faults if chosen is None else [plan.faults[each] for each in chosen]
    JITTER.seed(seed)
    clock = FakeClock()
    weather = Weather(plan.latency, plan.spread, plan.largest_piece)
    network = MemoryNetwork(clock, Random(f"network {seed}"), weather)
    try:
        return run(_run(plan, faults), network)
    except StuckError as stuck:
        log = Log()
        log.troubles.append(str(stuck))
        return log


def shrunk(seed: int, chosen: list[int]) -> list[int]:
    """The shortest list of faults found that still breaks a rule: delta debugging."""
    parts = 2
    while len(chosen) >= 1:
        size = max(len(chosen) // parts, 1)
        pieces = [chosen[at : at + size] for at in range(0, len(chosen), size)]
        for piece in pieces:
            rest = [each for each in chosen if each not in piece]
            if broken(run_once(seed, rest)):
                chosen, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(parts * 2, len(chosen))
    return chosen


def report(seed: int, chosen: list[int] | None = None) -> int:
    """Shows what a seed breaks, and with how few faults. Gives the status to exit with."""
    plan = plan_of(seed)
    everything = list(range(len(plan.faults))) if chosen is None else chosen
    violations = broken(run_once(seed, everything))
    if not violations:
        print(f"seed {seed} keeps all rules")
        return 0
    fewest = shrunk(seed, everything)
    print(f"seed {seed} breaks {len(violations)} rules with {len(everything)} faults:")
    for text in violations[:10]:
        print(f"  {text}")
    print(f"the shortest list of faults that breaks any ({len(fewest)}):")
    for each in fewest:
        print(f"  {each}: {plan.faults[each]}")
    for text in broken(run_once(seed, fewest))[:10]:
        print(f"  {text}")
    print(
        f"replay: tests/simulation/replay --seed {seed} --faults {','.join(map(str, fewest)) or 'none'} --log"
    )
    return 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--faults")
    parser.add_argument("--log", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("error")
    logging.disable()
    if options.seed is None:
        gc.disable()
        for seed in range(options.first, options.first + options.count):
            if broken(run_once(seed)):
                return report(seed)
            if seed % 16 == 0:
                gc.collect()
        print(f"{options.count} seeds from {options.first} on keep all rules")
        return 0
    chosen = None
    if options.faults is not None:
        chosen = [] if options.faults == "none" else [int(each) for each in options.faults.split(",")]
    first, second = run_once(options.seed, chosen), run_once(options.seed, chosen)
    if options.log:
        print("\n".join(first.lines))
    if first.lines != second.lines:
        print(f"seed {options.seed} gives two different runs")
        return 2
    return report(options.seed, chosen)


if __name__ == "__main__":
    sys.exit(main())
