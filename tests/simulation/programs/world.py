"""The processes of a run: servers, clients, and a controller in Python (small_controller.py). All but that
one are the product's. All are on one VirtualLoop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any

from log import Led, Log, Run, Seen
from plan import CONTROLLER, PLACES, SERVERS, Fault
from simulation import Refused, WorkAsyncClient, WorkAsyncServant
from small_controller import SmallController

import mf
from mf.controller import watcher
from mf.controller._generated.mf.controller import Change
from mf.controller.async_resolver import AsyncControllerResolver
from mf.controller.views import Watched
from mf.route.async_resolver import AsyncResolver
from mf.route.resolver import Instance, View
from mf.testing.loop import VirtualLoop

LEADS_FOR = 5.0
SLOW = 20.0
"""Virtual seconds for which a server wants to lead a place before it lets another one."""


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
        self.world = world
        self.host = host
        self.alive = True
        self.server = mf.AsyncServer(
            f"tcp://{host}:1", f"mf://{host}-{CONTROLLER}:1", mf.ServerOptions(drain_timeout=2.0, open=True)
        )
        self.places = [place for place, hosts in PLACES.items() if host in hosts]
        self.offer()

    def offer(self) -> None:
        for place in self.places:
            self.server.offer(Place(self, place), place)

    async def start(self) -> None:
        await self.server.start()
        for place in self.places:
            self.world.spawn(self._lead(place))

    def killed(self) -> None:
        """What it does from now on happens nowhere."""
        self.alive = False
        for run in self.world.log.runs:
            if run.host == self.host and run.ended is None:
                run.ended = self.world.now()

    async def stop(self) -> None:
        await self.server.stop()

    async def _lead(self, place: str) -> None:
        """Asks for the lead of one of its places again and again, until it is stopped."""
        world = self.world
        with suppress(mf.Error):
            while True:
                async with self.server.lead(WorkAsyncServant, place) as lead:
                    if self.alive:
                        world.log.leads.append(Led(place, self.host, lead.epoch))
                        world.log.write(world.now(), f"{self.host} leads {place}")
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LEADS_FOR):
                            await lead.lost()
                await asyncio.sleep(0.01)

    def begin(self, call: int, method: str) -> Run:
        world = self.world
        run = Run(call, method, self.host, mf.current_call().peer, world.now())
        if self.alive:
            world.log.runs.append(run)
            world.log.write(run.began, f"{self.host} runs {method} {call}")
        return run

    def end(self, run: Run) -> None:
        if self.alive and run.ended is None:
            run.ended = self.world.now()
            self.world.log.write(run.ended, f"{self.host} ended {run.method} {run.call}")

    def trouble(self, text: str) -> None:
        if self.alive:
            self.world.log.troubles.append(text)


class Controller:
    """The controller from its start to its end. It has what one with a store has from the one before."""

    def __init__(self, world: "World", before: "Controller | None") -> None:
        run = 1 if before is None else before.servant.run + 1
        self.servant: SmallController = SmallController(
            run, lease=15.0, log=8, piece=2, now=lambda: int(world.loop.time() * 1000)
        )
        if before is not None:
            self.servant.epochs.update(before.servant.epochs)
        self._world = world
        self._write()
        self.servant.changed = self._write
        self.server = mf.AsyncServer(
            f"tcp://{CONTROLLER}:1", options=mf.ServerOptions(drain_timeout=0.5, open=True)
        )
        self.server.offer(self.servant)

    def _write(self) -> None:
        servant = self.servant
        self._world.log.directory[servant.run, servant.revision] = frozenset(
            (each.offer.key.agent, each.offer.addresses[0]) for each in servant.instances()
        )

    async def stop(self) -> None:
        self.servant.stop()
        await self.server.stop()


class SeenFrom(AsyncResolver):
    """What the controller lists, with the addresses as they are from one host."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._listed = AsyncControllerResolver(f"mf://{host}-{CONTROLLER}:1")
        self._views: dict[str, tuple[View, View]] = {}

    @property
    def generation(self) -> int:  # type: ignore[override]
        return self._listed.generation

    def view(self, service: str) -> View:
        listed = self._listed.view(service)
        known = self._views.get(service)
        if known is None or known[0] is not listed:
            known = self._views[service] = listed, self._from_here(listed)
        return known[1]

    async def wait(self, service: str, old: View, timeout: float) -> View:
        listed, seen = self._views[service]
        if old is seen:
            await self._listed.wait(service, listed, timeout)
        return self.view(service)

    def close(self) -> None:
        self._listed.close()

    async def closed(self) -> None:
        await self._listed.closed()

    def _from_here(self, listed: View) -> View:
        agents = {
            agent: tuple(
                Instance(each.address.replace("tcp://", f"tcp://{self._host}-"), each.weight, "", each.nonce)
                for each in instances
            )
            for agent, instances in listed.agents.items()
        }
        return View(agents, reached=listed.reached, trouble=listed.trouble)


def write_what_is_seen(log: Log) -> None:
    """Of all clients, from now on."""

    class Written(Watched):
        __slots__ = ()

        def takes(self, change: Change, now: float) -> bool:
            new = super().takes(change, now)
            if self.view.reached and not self.old_until:
                agents = self.view.agents
                listed = frozenset((agent, each.address) for agent in agents for each in agents[agent])
                log.seen.append(Seen(self.run, self.revision, listed))
            return new

    setattr(watcher, "Watched", Written)  # noqa: B010 - no checker takes it for what it is


class World:
    """`kind`: what its servers are."""

    def __init__(self, loop: VirtualLoop, names: list[str], log: Log, kind: type[Process] = Process) -> None:
        self.loop = loop
        self.network = loop.network
        self.log = log
        self._kind = kind
        self.calls = count(1)
        self._start = loop.time()
        self.processes: dict[str, Process] = {}
        self._ending: list[asyncio.Task[None]] = []
        self._controller: Controller | None = None
        write_what_is_seen(self.log)
        self.clients = {name: mf.AsyncClient(SeenFrom(name)) for name in names}
        self.stubs = {name: WorkAsyncClient(client) for name, client in self.clients.items()}
        self.closed: set[str] = set()

    def now(self) -> float:
        """Virtual seconds since the start."""
        return self.loop.time() - self._start

    # Processes

    async def start(self, host: str) -> None:
        while self.network.listens(host, 1) and host not in self.processes:
            await asyncio.sleep(0.01)  # the one before is ending
        if host not in self.processes:
            process = self.processes[host] = self._kind(self, host)
            await process.start()

    async def start_controller(self, before: Controller | None = None) -> None:
        self._controller = Controller(self, before)
        await self._controller.server.start()

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
            network.slow = SLOW
            network.at(self.loop.time() + fault.lasts, self._no_longer_slow)
        elif fault.kind == "silence":
            network.stop(CONTROLLER, fault.lasts)
        elif fault.kind == "forget":
            self._end_controller(fault.lasts)
        elif fault.kind == "lost":
            network.part(fault.whom[0], CONTROLLER, fault.lasts)
        elif fault.kind == "operation":
            network.fail_at = network.operations + int(fault.lasts)
        elif fault.kind == "close":
            self.closed.add(fault.whom[0])
            self.spawn(self.clients[fault.whom[0]].close())

    def _no_longer_slow(self) -> None:
        self.network.slow = 1.0

    def _end(self, host: str, killed: bool) -> None:
        process = self.processes.pop(host, None)
        if process is None:
            return
        if killed:
            process.killed()
            self.network.kill(host)
        self.spawn(process.stop())

    def _end_controller(self, seconds: float) -> None:
        """It is killed, and another one started some time later."""
        before, self._controller = self._controller, None
        if before is None:
            return
        self.network.kill(CONTROLLER)
        self.spawn(before.stop())
        at = self.loop.time() + seconds + 0.001
        self.network.at(at, lambda: self.spawn(self.start_controller(before)))

    def _later(self, seconds: float, what: Callable[[str], Coroutine[Any, Any, None]], host: str) -> None:
        self.network.at(self.loop.time() + seconds, lambda: self.spawn(what(host)))

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._ending.append(self.loop.create_task(coroutine))

    # The end

    async def heal(self, faults: list[Fault]) -> None:
        """All faults are over, and all servers there."""
        over = max((fault.at + _length(fault) for fault in faults), default=0.0)
        await asyncio.sleep(max(over + 0.5 - self.now(), 0.0))
        if any(fault.kind == "slow" for fault in faults):  # what was sent meanwhile is still on its way
            await asyncio.sleep(SLOW * (self.network.weather.latency + self.network.weather.spread))
        self.network.fail_at = None
        while self._controller is None:
            await asyncio.sleep(0.1)
        for host in SERVERS:
            await self.start(host)
        await asyncio.sleep(3.0)

    async def end(self) -> None:
        self.log.left = [run for run in self.log.runs if run.ended is None]
        for client in self.clients.values():
            await client.close()
        for process in self.processes.values():
            await process.stop()
        if self._controller is not None:
            await self._controller.stop()
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
