"""A system under measure: a server and a client process that speak the protocol of bench/rpc/commands.hpp."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from harness.child import BenchError, Child
from harness.counters import Counter, cpu_seconds, syscall_counter

_START_SECONDS = 20.0
_WORK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class System:
    name: str
    server: Sequence[str]
    client: Sequence[str]  # the port is appended
    # Works that the client can do in several ways, as `work/variant`; "" is the plain one.
    variants: Mapping[str, Sequence[str]] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)

    def commands(self, work: str) -> list[tuple[str, str]]:
        """Each way to do the work: its name for the client, and the name of the system in the row."""
        return [
            (f"{work}/{variant}", f"{self.name}/{variant}") if variant else (work, self.name)
            for variant in self.variants.get(work, ("",))
        ]


@dataclass(frozen=True, slots=True)
class Cores:
    server: set[int]
    client: set[int]


class Pair:
    def __init__(
        self, system: System, cores: Cores, through: Callable[[int], int] = lambda port: port
    ) -> None:
        """`through` may insert something between: given the server's port, it returns the port for the
        client."""
        self.system = system
        self.server = Child(system.server, cores.server, system.env)
        try:
            port = through(int(self.server.hear(_START_SECONDS)))
            self.client = Child([*system.client, str(port)], cores.client, system.env)
        except BaseException:
            self.server.end()
            raise

    def prepare(self, command: str, count: int) -> bool:
        """Returns False if this system does not have the work."""
        self.client.say(f"{command} {count}")
        said = self.client.hear(_WORK_SECONDS)
        if said not in ("ready", "none"):
            raise BenchError(f"{self.client.name} answered {said!r} to {command}")
        return said == "ready"

    def go(self) -> dict[str, float]:
        self.client.say("go")
        metrics: dict[str, float] = json.loads(self.client.hear(_WORK_SECONDS))
        return metrics

    def measure(self, command: str, count: int) -> dict[str, float] | None:
        """One run, with the processor time of both processes per request."""
        if not self.prepare(command, count):
            return None
        before = cpu_seconds(self.client.pid), cpu_seconds(self.server.pid)
        metrics = self.go()
        client = (cpu_seconds(self.client.pid) - before[0]) * 1e6 / count
        server = (cpu_seconds(self.server.pid) - before[1]) * 1e6 / count
        metrics["cpu_us_per_request"] = client + server
        metrics["client_cpu_us_per_request"] = client
        metrics["server_cpu_us_per_request"] = server
        return metrics

    def count_syscalls(self, command: str, count: int) -> dict[str, float | None] | None:
        """Counts in a run of its own, because counting costs time; the result is per request, of the process
        with the larger count."""
        if not self.prepare(command, count):
            return None
        kind = syscall_counter()
        counters: list[Counter] = [kind(end.pid) for end in (self.client, self.server)] if kind else []
        self.go()
        counted = [counter.stop() for counter in counters] or [None, None]
        client, server = (None if calls is None else calls / count for calls in counted)
        larger = None if client is None or server is None else max(client, server)
        return {
            "syscalls_per_request": larger,
            "client_syscalls_per_request": client,
            "server_syscalls_per_request": server,
        }

    def end(self) -> None:
        self.client.end()
        self.server.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
