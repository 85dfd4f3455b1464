"""The processes of a run: servers, clients, and the controller, which is a directory that tells each client
its news some time later. All of them are the product's, on one VirtualLoop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from itertools import count
from random import Random
from typing import Any

from log import Log, Run
from plan import PLACES, SERVERS, Fault
from simulation import Refused, WorkAsyncClient, WorkAsyncServant

import mf
from mf.testing.controller import FakeController
from mf.testing.loop import VirtualLoop

NEWS_TAKE = 0.05


class Place(WorkAsyncServant):
    """One place at one server. What it runs after its process was killed happened nowhere."""

    def __init__(self, process: "Process", name: str) -> None:
        self._process = process
        self._name = name

    async def plain(self, call: int, nap: int, refuse: bool, filler: bytes) -> int:  # noqa: ARG002
        return await self._single("plain", call, nap, refuse)

    async def again(self, call: int, nap: int, refuse: bool, filler: bytes) -> int:  # noqa: ARG002
        return await self._single("again", call, nap, refuse)

    async def _single(self, method: str, call: int, nap: int, refuse: bool) -> int:
        run = self._process.begin(call, method)
        try:
            await _sleep(nap)
            if refuse:
                raise Refused(call)
            return call * 3 + 1
        finally:
            self._process.end(run)

    async def tell(self, call: int, client: int, order: int) -> None:
        run = self._process.begin(call, "tell")
        run.order = (client, self._name, order)
        self._process.end(run)

    async def down(self, call: int, nap: int, count: int, refuse: bool) -> AsyncIterator[int]:
        run = self._process.begin(call, "down")
        try:
            for index in range(count):
                await _sleep(nap / count)
                yield call * 1000 + index
            if refuse:
                raise Refused(call)
        finally:
            self._process.end(run)

    async def up(self, call: int, nap: int, values: AsyncIterator[int]) -> int:
        run = self._process.begin(call, "up")
        try:
            taken = 0
            async for value in values:
                if value != call * 1000 + taken:
                    self._process.trouble(f"up {call} got {value} as its value {taken}")
                taken += 1
            await _sleep(nap)
            return taken
        finally:
            self._process.end(run)

    async def both(self, call: int, nap: int, values: AsyncIterator[int]) -> AsyncIterator[int]:
        run = self._process.begin(call, "both")
        try:
            async for value in values:
                yield value + 1
            await _sleep(nap)
        finally:
            self._process.end(run)


async def _sleep(milliseconds: float) -> None:
    if milliseconds:
        await asyncio.sleep(milliseconds / 1000)


class Process:
    """A server from its start to its end."""

    def __init__(self, world: "World", host: str) -> None:
        self._world = world
        self.host = host
        self.alive = True
        self.server = mf.AsyncServer(f"tcp://{host}:1", grace=2.0)
        for place, hosts in PLACES.items():
            if host in hosts:
                self.server.offer(Place(self, place), place)

    def begin(self, call: int, method: str) -> Run:
        world = self._world
        run = Run(call, method, self.host, mf.current_call().peer, world.now())
        if self.alive:
            world.log.runs.append(run)
            world.log.write(run.began, f"{self.host} runs {method} {call}")
        return run

    def end(self, run: Run) -> None:
        if self.alive and run.ended is None:
            run.ended = self._world.now()
            self._world.log.write(run.ended, f"{self.host} ended {run.method} {run.call}")

    def trouble(self, text: str) -> None:
        if self.alive:
            self._world.log.troubles.append(text)


class World:
    def __init__(self, loop: VirtualLoop, random: Random, names: list[str]) -> None:
        self.loop = loop
        self.network = loop.network
        self.log = Log()
        self.calls = count(1)
        self._start = loop.time()
        self._random = random
        self._processes: dict[str, Process] = {}
        self._ending: list[asyncio.Task[None]] = []
        self._silent_until = 0.0
        self._controllers = {name: FakeController() for name in names}
        for controller in self._controllers.values():
            controller.lose("it has said nothing yet")
        self.clients = {name: each.async_client() for name, each in self._controllers.items()}
        self.stubs = {name: WorkAsyncClient(client) for name, client in self.clients.items()}
        self.closed: set[str] = set()

    def now(self) -> float:
        """Virtual seconds since the start."""
        return self.loop.time() - self._start

    # Servers and their directory

    async def start(self, host: str) -> None:
        if host not in self._processes:
            process = self._processes[host] = Process(self, host)
            await process.server.start()
            self.publish()

    def publish(self) -> None:
        """Each client hears of it some time later; not while the controller is silent."""
        for client in self._controllers:
            after = self._random.random() * NEWS_TAKE
            self.network.at(max(self.loop.time() + after, self._silent_until), partial(self._tell, client))

    def _tell(self, client: str) -> None:
        agents = {
            place: [f"tcp://{client}-{host}:1" for host in hosts if host in self._processes]
            for place, hosts in PLACES.items()
        }
        self._controllers[client].say("simulation.Work", agents)

    # What goes wrong

    def plan(self, fault: Fault) -> None:
        self.network.at(self.loop.time() + fault.at, lambda: self._begin(fault))

    def _begin(self, fault: Fault) -> None:
        self.log.write(self.now(), f"fault: {fault}")
        network = self.network
        if fault.kind == "cut":
            network.cut(*fault.whom)
        elif fault.kind == "part":
            network.part(fault.whom[0], fault.whom[1], fault.lasts)
        elif fault.kind == "stop":
            network.stop(fault.whom[0], fault.lasts)
        elif fault.kind in ("kill", "restart"):
            self._end(fault.whom[0], fault.kind == "kill")
            self._later(fault.lasts + 0.001, self.start, fault.whom[0])
        elif fault.kind == "slow":
            network.slow = 20.0
            network.at(self.loop.time() + fault.lasts, self._no_longer_slow)
        elif fault.kind == "silence":
            self._silent_until = self.loop.time() + fault.lasts
        elif fault.kind == "operation":
            network.fail_at = network.operations + int(fault.lasts)
        elif fault.kind == "close":
            self.closed.add(fault.whom[0])
            self._spawn(self.clients[fault.whom[0]].close())

    def _no_longer_slow(self) -> None:
        self.network.slow = 1.0

    def _end(self, host: str, killed: bool) -> None:
        process = self._processes.pop(host, None)
        if process is None:
            return
        self.publish()
        if killed:
            for run in self.log.runs:
                if run.host == host and run.ended is None:
                    run.ended = self.now()
            process.alive = False
            self.network.kill(host)
        self._spawn(process.server.stop())

    def _later(self, seconds: float, what: Callable[[str], Coroutine[Any, Any, None]], host: str) -> None:
        self.network.at(self.loop.time() + seconds, lambda: self._spawn(what(host)))

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._ending.append(self.loop.create_task(coroutine))

    # The end

    async def heal(self, faults: list[Fault]) -> None:
        """All faults are over, and all servers there."""
        over = max((fault.at + _length(fault) for fault in faults), default=0.0)
        await asyncio.sleep(max(over + 0.5 - self.now(), 0.0))
        self.network.fail_at = None
        for host in SERVERS:
            while self.network.listens(host, 1) and host not in self._processes:
                await asyncio.sleep(0.1)  # one that is ending
            await self.start(host)
        await asyncio.sleep(3.0)

    async def end(self) -> None:
        self.log.left = [run for run in self.log.runs if run.ended is None]
        for client in self.clients.values():
            await client.close()
        for process in self._processes.values():
            await process.server.stop()
        await asyncio.gather(*self._ending)
        await asyncio.sleep(0.5 + self.network.longest_latency())
        for end in self.network.open_ends():
            self.log.troubles.append(f"left at the end: {end}")
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                self.log.troubles.append(f"left at the end: {task}")
        if self.loop.timers():
            self.log.troubles.append(f"left at the end: {self.loop.timers()} timers")


def _length(fault: Fault) -> float:
    """Of one that counts operations it is another number."""
    return 0.0 if fault.kind == "operation" else fault.lasts
