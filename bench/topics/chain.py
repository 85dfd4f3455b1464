"""Publisher -> nodes -> subscribers, each a process, of any system; ends.hpp says how they are driven."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.child import BenchError, Child
from harness.counters import cpu_seconds, syscall_counter

if TYPE_CHECKING:
    from collections.abc import Iterator

_START_SECONDS = 20.0
_RUN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Shape:
    nodes: int
    subscribers: int
    same_core: bool = False

    def cores(self, place: int) -> set[int]:
        """Of the process at this place of the chain; neighbours are on different cores."""
        usable = sorted(os.sched_getaffinity(0))[-2:]
        return {usable[-1] if self.same_core else usable[place % len(usable)]}


@dataclass(frozen=True, slots=True)
class Ends:
    publisher: Child
    nodes: Sequence[Child]
    subscriber: Child

    @property
    def pids(self) -> list[int]:
        return [each.pid for each in (self.publisher, *self.nodes, self.subscriber)]


# Starts the processes; the stack ends them.
Start = Callable[[ExitStack, Shape], Ends]


@dataclass(frozen=True, slots=True)
class System:
    name: str
    start: Start
    fewest_nodes: int = 0
    slower: int = 1  # it gets so many times fewer messages


@contextmanager
def chain(system: System, shape: Shape) -> Iterator[Chain]:
    with ExitStack() as stack:
        ends = system.start(stack, shape)
        made = Chain(ends, shape)
        made.meet()
        yield made


class Chain:
    def __init__(self, ends: Ends, shape: Shape) -> None:
        self._ends = ends
        self._subscribers = shape.subscribers

    def meet(self) -> None:
        """Until a message has reached every subscriber."""
        self._ends.subscriber.say("meet")
        self._ends.publisher.say("hello")
        said = self._ends.subscriber.hear(_START_SECONDS)
        if said != "met":
            raise BenchError(f"{self._ends.subscriber.name} answered {said!r} to meet")

    def rate(self, size: int, count: int) -> dict[str, float | None]:
        self._run("publish", size, max(count // 10, 1))  # to warm up
        before = [cpu_seconds(pid) for pid in self._ends.pids]
        began, ended = self._run("publish", size, count)
        spent = [cpu_seconds(pid) - first for pid, first in zip(self._ends.pids, before, strict=True)]
        delivered = count * self._subscribers
        return {
            "delivered_per_s": delivered / (ended["ended_ns"] - began["began_ns"]) * 1e9,
            "cpu_us_per_message": sum(spent) / delivered * 1e6,
            "publisher_cpu_us_per_message": spent[0] / delivered * 1e6,
            "subscriber_cpu_us_per_message": spent[-1] / delivered * 1e6,
        }

    def syscalls(self, size: int, count: int) -> dict[str, float | None]:
        """A run of its own, because counting costs time; of all processes, for each delivered message."""
        kind = syscall_counter()
        if kind is None:
            return {"syscalls_per_message": None}
        counters = [kind(pid) for pid in self._ends.pids]
        self._run("publish", size, count)
        calls = [counter.stop() for counter in counters]
        known = [each for each in calls if each is not None]
        total = sum(known) / (count * self._subscribers) if len(known) == len(calls) else None
        return {"syscalls_per_message": total}

    def latency(self, size: int, count: int) -> dict[str, float | None]:
        self._run("pace", size, count // 10, "timed")
        return {"one_way_us": self._run("pace", size, count, "timed")[1]["one_way_us"]}

    def _run(
        self, command: str, size: int, count: int, how: str = ""
    ) -> tuple[dict[str, float], dict[str, float]]:
        publisher, subscriber = self._ends.publisher, self._ends.subscriber
        subscriber.say(f"expect {size} {count} {how}")
        said = subscriber.hear(_RUN_SECONDS)
        if said != "ready":
            raise BenchError(f"{subscriber.name} answered {said!r} to expect")
        publisher.say(f"{command} {size} {count}")
        ended: dict[str, float] = json.loads(subscriber.hear(_RUN_SECONDS))
        began: dict[str, float] = json.loads(publisher.hear(_RUN_SECONDS))
        return began, ended
