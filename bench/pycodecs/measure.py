"""Drives the programs of the codec bench (bench/codecs/main.cpp says how) and keeps their samples.

The systems of all programs take turns at one work, step by step, on one core, before the next work begins, so
that a busy moment of the machine affects all of them.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.child import BenchError, Child
from harness.interleaved import SAME, cores
from harness.rows import Samples

STEPS = {
    "serialize": "serialize_ns",  # into memory used again
    "deserialize": "deserialize_ns",  # into a fresh object
    "serialize_fresh": "serialize_fresh_ns",  # into fresh memory
    "deserialize_into": "deserialize_into_ns",  # into an object used before
}
_PREPARE_SECONDS = 120.0
_RUN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Program:
    variant: str  # suffix of its rows' systems: "" or "/clang"
    command: Sequence[str]
    env: Mapping[str, str] | None = None


class Measured:
    """A running program, with what it can do."""

    def __init__(self, program: Program, stack: contextlib.ExitStack) -> None:
        self.variant = program.variant
        self._child = stack.enter_context(Child(program.command, cores(SAME).server, program.env))
        self.works = self._ask("works", _RUN_SECONDS).split()
        self.bytes: dict[str, int] = {}

    def _ask(self, what: str, seconds: float) -> str:
        self._child.say(what)
        return self._child.hear(seconds)

    def prepare(self, work: str) -> None:
        self.bytes = json.loads(self._ask(f"work {work}", _PREPARE_SECONDS))

    def ns(self, system: str, step: str) -> float | None:
        said = self._ask(f"run {system} {step}", _RUN_SECONDS)
        return None if said == "none" else float(said)


def measure(
    programs: Iterable[Program], only: str, rounds: int, samples: Samples, failures: list[str]
) -> None:
    """`only`: the names of works to measure begin with this. A program that fails at a work is left out from
    then on."""
    with contextlib.ExitStack() as stack:
        running = [Measured(program, stack) for program in programs]
        for work in dict.fromkeys(work for each in running for work in each.works):
            if not work.startswith(only):
                continue
            print(f"bench: {work}", file=sys.stderr, flush=True)
            for each in list(running):
                try:
                    each.prepare(work)
                except BenchError as error:
                    failures.append(f"{work}: {error}")
                    running.remove(each)
            _work(work, running, rounds, samples)


def _work(work: str, running: Sequence[Measured], rounds: int, samples: Samples) -> None:
    for number in range(rounds):
        for step, metric in STEPS.items():
            for each in running:
                for system, size in each.bytes.items():
                    ns = each.ns(system, step)
                    if ns is not None:
                        name = "ns" if work.startswith("hash_") else metric  # one step, no bytes to read
                        samples.add(work, SAME, system + each.variant, {name: ns})
                    if number == 0 and step == "serialize":
                        samples.add(work, SAME, system + each.variant, {"bytes": size})
