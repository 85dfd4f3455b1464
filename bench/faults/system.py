"""A system under faults: how its servers and clients are started and controlled."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.child import Child

_START_SECONDS = 30.0
_ANSWER_SECONDS = 180.0
# A server does not watch this process, so the kernel must kill it when this process dies.
_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
ANYWHERE = "tcp://127.0.0.1:0"


@dataclass(frozen=True, slots=True)
class System:
    name: str
    server: Sequence[str]  # followed by where it listens, and by its controller if it has one
    client: Sequence[str]  # followed by the address
    controller: Sequence[str] = ()  # followed by where it listens; none: clients are given addresses
    env: Mapping[str, str] = field(default_factory=dict)


class Daemon:
    """A server or a controller. `address`: where it listens; `since_ns`: since when, or a little later."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._child = Child([*_WITH_US, *command], os.sched_getaffinity(0), env)
        self.address = self._child.hear(_START_SECONDS)
        self.since_ns = time.monotonic_ns()

    @property
    def pid(self) -> int:
        return self._child.pid

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        self._child.signal(number)

    def wait(self, seconds: float = 30.0) -> None:
        self._child.wait(seconds)

    def end(self) -> None:
        self.kill()
        self._child.end()


class Caller:
    """A client program; client.cpp lists its commands."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._child = Child([*_WITH_US, *command], os.sched_getaffinity(0), env)

    def ask(self, command: str, seconds: float = _ANSWER_SECONDS) -> dict[str, Any]:
        self._child.say(command)
        said = self._child.hear(seconds)
        if said == "none":
            raise RuntimeError(f"{self._child.name}: {command} came to no end")
        answer: dict[str, Any] = {} if said == "ready" else json.loads(said)
        return answer

    def end(self) -> None:
        self._child.end()


class Scene:
    """The processes of one work; all end with it."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._started: list[Daemon | Caller] = []

    def controller(self, where: str = "tcp://127.0.0.1:0") -> Daemon:
        return self.start([*self.system.controller, "--listen", where])

    def server(self, where: str = ANYWHERE, controller: Daemon | None = None) -> Daemon:
        behind = [controller.address] if controller else []
        return self.start([*self.system.server, where, *behind])

    def client(self, address: str) -> Caller:
        caller = Caller([*self.system.client, address], self.system.env)
        self._started.append(caller)
        return caller

    def start(self, command: Sequence[str]) -> Daemon:
        daemon = Daemon(command, self.system.env)
        self._started.append(daemon)
        return daemon

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._started):
            each.end()
