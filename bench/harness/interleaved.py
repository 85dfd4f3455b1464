"""Runs works of several systems in turn, round by round, so that disturbances on the machine affect all of
them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.child import BenchError
from harness.pair import Cores, Pair, System
from harness.rows import Samples

SAME, CROSS, UNPINNED = "same-core", "cross-core", "unpinned"


@dataclass(frozen=True, slots=True)
class Work:
    name: str
    count: int  # calls per run
    metrics: Sequence[str]  # those that become rows
    placements: Sequence[str] = (SAME, CROSS)
    syscalls: bool = False


CPU = ("cpu_us_per_request", "client_cpu_us_per_request", "server_cpu_us_per_request")


def cores(placement: str) -> Cores:
    """The last two cores that we may use; the first ones tend to serve interrupts."""
    usable = sorted(os.sched_getaffinity(0))
    if placement == UNPINNED:
        return Cores(server=set(usable), client=set(usable))
    if placement == SAME:
        return Cores(server={usable[-1]}, client={usable[-1]})
    if len(usable) < 2:
        raise BenchError("cross-core rows need two cores")
    return Cores(server={usable[-1]}, client={usable[-2]})


class Interleaved:
    """All systems side by side at one placement. A work at which a system fails is reported, and left out for
    it from then on."""

    def __init__(
        self, systems: Iterable[System], placement: str, samples: Samples, failures: list[str]
    ) -> None:
        self._cores = cores(placement)
        self._placement = placement
        self._samples = samples
        self._failures = failures
        self._systems = list(systems)
        self._pairs: dict[str, Pair] = {}
        self._failed: set[tuple[str, str]] = set()

    def run(self, works: Sequence[Work], rounds: int) -> None:
        works = [work for work in works if self._placement in work.placements]
        try:
            for number in range(rounds):
                self._say(f"{self._placement}: round {number + 1} of {rounds}")
                for work in works:
                    self._each(work, counting=False)
            for work in works:
                if work.syscalls:
                    self._say(f"{self._placement}: counting system calls of {work.name}")
                    self._each(work, counting=True)
        finally:
            for pair in self._pairs.values():
                pair.end()

    def _each(self, work: Work, *, counting: bool) -> None:
        for system in self._systems:
            for command, name in system.commands(work.name):
                if (system.name, command) in self._failed:
                    continue
                try:
                    self._one(system, work, command, name, counting=counting)
                except BenchError as error:
                    self._failed.add((system.name, command))
                    self._failures.append(f"{name}, {work.name}, {self._placement}: {error}")
                    print(f"bench: {self._failures[-1]}", file=sys.stderr)
                    if system.name in self._pairs:
                        self._pairs.pop(system.name).end()

    def _one(self, system: System, work: Work, command: str, name: str, *, counting: bool) -> None:
        if system.name not in self._pairs:
            self._pairs[system.name] = Pair(system, self._cores)
        pair = self._pairs[system.name]
        if counting:
            counted = pair.count_syscalls(command, max(work.count // 4, 1))
            if counted is not None:
                self._samples.add(work.name, self._placement, name, counted)
            return
        measured = pair.measure(command, work.count)
        if measured is None:
            self._failed.add((system.name, command))  # it does not have this work
            return
        self._samples.add(
            work.name, self._placement, name, {m: measured[m] for m in work.metrics if m in measured}
        )

    @staticmethod
    def _say(what: str) -> None:
        print(f"bench: {what}", file=sys.stderr, flush=True)
