"""The processes of a run of topics: each server publishes for its places, and reads what it publishes itself;
clients subscribe.
"""

import asyncio
from contextlib import suppress
from typing import Any

from plan import SERVERS, Fault
from simulation import (
    FleetingAsyncPublisher,
    FleetingAsyncSubscriber,
    KeptAsyncPublisher,
    KeptAsyncSubscriber,
    News,
)
from topics_log import Event, Publishing, Read, Sent, Source, TopicsLog
from topics_plan import CALM, KEPT, REPLAY, Burst, Reading, TopicsPlan
from world import Process, World

import mf

STALL_TIMEOUT = 2.0
ALL_COMES_WITHIN = 60.0
"""Virtual seconds after the last fault in which every subscriber has what was published."""
SMALLEST_WINDOW = 1 << 13
"""Bytes for which there is credit, or room, before something has to come back over a slow network."""
_PUBLISHERS: dict[str, Any] = {KEPT: KeptAsyncPublisher, "Fleeting": FleetingAsyncPublisher}
_SUBSCRIBERS: dict[str, Any] = {KEPT: KeptAsyncSubscriber, "Fleeting": FleetingAsyncSubscriber}


class Reader:
    """One subscriber: takes messages and writes them down, until it is closed."""

    def __init__(self, world: "TopicsWorld", read: Read) -> None:
        self._world = world
        self._subscriber: Any = None
        self.read = read

    async def run(self, source: Any) -> None:
        world, read, plan = self._world, self.read, self.read.plan
        await asyncio.sleep(plan.begins)
        options = mf.SubscribeOptions(
            overflow=plan.overflow,
            max_messages=plan.max_messages,
            max_bytes=plan.max_bytes,
            replay=plan.replay,
        )
        try:
            self._subscriber = _SUBSCRIBERS[plan.topic](source, plan.agents, options)
        except mf.Error as refused:
            read.end = refused
            return
        read.began = world.now()
        world.log.write(read.began, f"{read.name} subscribes to {plan}")
        self._subscriber.on_gap(self._gap)
        if plan.ends is not None:
            world.loop.call_later(plan.ends, self.close)
        try:
            while True:
                self._take(await self._subscriber.next())
                if plan.nap and not world.hurry:
                    await asyncio.sleep(plan.nap)
        except mf.Error as error:
            if not read.closed:
                read.end = error
                world.log.write(world.now(), f"{read.name} ended: {error.code.name} {error.message}")

    def _source(self, message: Any) -> Source:
        return self._world.log.publishers[message.publisher].run, self.read.plan.topic, message.agent

    def _take(self, message: Any) -> None:
        event = self._event(message, message.sequence, 1)
        event.number = message.value.number
        event.missed = message.missed
        self._write(event)

    def _gap(self, gap: mf.Gap) -> None:
        event = self._event(gap, gap.first, gap.count)
        event.why = gap.why
        self._write(event)

    def _event(self, origin: Any, first: int, count: int) -> Event:
        source = self._source(origin)
        published = len(self._world.log.sent.get(source, ()))
        return Event(source, first, count, self._world.now(), published)

    def _write(self, event: Event) -> None:
        self.read.events.append(event)
        what = "gets" if event.why is None else f"misses ({event.why.name})"
        text = f"{self.read.name} {what} {event.count} from {event.first} on of {event.source}"
        self._world.log.write(event.when, text)

    def count(self) -> None:
        """What it has counted, at the end."""
        if self._subscriber is not None:
            self.read.stats = self._subscriber.stats()

    def close(self) -> None:
        self.read.closed = True
        if self._subscriber is not None:
            self._subscriber.close()


class Publisher(Process):
    """A server that publishes."""

    world: "TopicsWorld"

    def offer(self) -> None:
        world = self.world
        self.run = len(world.log.publishers)
        self.topics = mf.Topics(mf.TopicsOptions(stall_timeout=STALL_TIMEOUT, max_messages=1000))
        self.record = Publishing(self.run, self.host)
        world.log.publishers[self.topics.publisher] = self.record
        self._publishers = {topic: made(self.topics) for topic, made in _PUBLISHERS.items()}
        self._numbers: dict[Source, int] = {}
        self._ending = False
        self.server.offer(self.topics)
        self.here = [
            world.reads(Read(f"s{self.run}:{topic}", _here(topic), local=True), self.topics)
            for topic in REPLAY
        ]

    async def start(self) -> None:
        await self.server.start()
        for place in self.places:
            self.world.publishes(self._publish_all(place))

    async def _publish_all(self, place: str) -> None:
        for burst in self.world.topics_plan.bursts[self.host, place]:
            await asyncio.sleep(burst.pause)
            for _ in range(burst.count):
                await self._publish(burst, place)

    async def farewell(self) -> None:
        """One message of each topic and agent. By the first time subscribers learn of the agent, if they have
        not before; the second time brings what was missed before it."""
        for topic in REPLAY:
            for place in self.places:
                await self._publish(Burst(0.0, topic, 1, 0, 30.0), place)

    async def _publish(self, burst: Burst, place: str) -> None:
        world = self.world
        if self._ending or not self.alive:
            return
        source = self.run, burst.topic, place
        number = self._numbers[source] = self._numbers.get(source, -1) + 1
        began = world.now()
        options = mf.PublishOptions(deadline=burst.patience)
        try:
            at = self._publishers[burst.topic].at(place)
            await at.publish(News(number, bytes(burst.filler)), options)
        except mf.Error as error:
            if self.alive:
                self.record.failed.append((source, number, error.code.name))
                world.log.write(world.now(), f"s{self.run} does not publish {source}: {error.code.name}")
            world.check_publish(self.host, began, burst.patience)
            return
        if self.alive:
            world.log.sent.setdefault(source, []).append(Sent(number, began, world.now()))
        world.check_publish(self.host, began, burst.patience)

    def killed(self) -> None:
        super().killed()
        self._end()
        self.topics.close()

    def _end(self) -> None:
        self._ending = True
        self.record.alive = False
        for reader in self.here:
            reader.read.closed = True

    async def stop(self) -> None:
        self._end()
        await super().stop()
        for reader in self.here:
            reader.close()
        self.topics.close()

    def count(self) -> None:
        self.record.stats = {
            topic: publisher.stats().subscriptions for topic, publisher in self._publishers.items()
        }


def _here(topic: str) -> Reading:
    return Reading("", 0.0, topic, "*", mf.Overflow.drop_oldest, 0, 0, None, 0.0, None)


class TopicsWorld(World):
    log: TopicsLog

    def __init__(self, loop: Any, plan: TopicsPlan) -> None:
        super().__init__(loop, [*plan.base.clients, CALM], TopicsLog(), Publisher)
        self.topics_plan = plan
        self.hurry = False
        self._readers: list[Reader] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._bursts: list[asyncio.Task[None]] = []

    def reads(self, read: Read, source: Any) -> Reader:
        reader = Reader(self, read)
        self.log.reads.append(read)
        self._readers.append(reader)
        self._tasks.append(self.loop.create_task(reader.run(source)))
        return reader

    def publishes(self, publishing: Any) -> None:
        self._bursts.append(self.loop.create_task(publishing))

    def check_publish(self, host: str, began: float, patience: float) -> None:
        took = self.now() - began
        if took > patience + 0.1:
            self.log.troubles.append(f"publish() at {host} took {took:.3f} s of its {patience:.3f}")

    def _begin(self, fault: Fault) -> None:
        if fault.kind == "close":
            for reader in self._readers:
                if reader.read.plan.client == fault.whom[0]:
                    reader.read.closed = True
        super()._begin(fault)

    async def work(self, faults: list[Fault]) -> None:
        """Returns when all that was published has come to all its subscribers, or should have."""
        self.log.troubled = {host for fault in faults for host in fault.whom}
        if not any(fault.kind in ("slow", "operation") for fault in faults):
            weather = self.topics_plan.base
            waits = 30.0 + self.topics_plan.most_bytes() / SMALLEST_WINDOW
            self.log.patience = 2.0 + waits * (weather.latency + weather.spread)
        for number, reading in enumerate(self.topics_plan.readings):
            self.reads(Read(f"{reading.client}:{number}", reading), self.clients[reading.client])
        await asyncio.sleep(max(reading.begins for reading in self.topics_plan.readings) + 0.1)
        await asyncio.gather(*self._bursts)
        await self.heal(faults)
        self.hurry = True
        await asyncio.gather(*self._bursts)  # those of servers that have come back
        for pause in (0.0, 10.0):
            await asyncio.sleep(pause)
            for host in SERVERS:
                server = self.processes[host]
                assert isinstance(server, Publisher)
                await server.farewell()
        until = self.now() + ALL_COMES_WITHIN
        while self.missing() and self.now() < until:
            await asyncio.sleep(0.05)
        for reader in self._readers:
            reader.count()
        for server in self.processes.values():
            assert isinstance(server, Publisher)
            server.count()

    def missing(self) -> list[str]:
        """The subscribers that have not got all that was published yet."""
        found = []
        for read in self.log.reads:
            for source, sent in self.log.sent.items():
                run, topic, agent = source
                wanted = read.lives and topic == read.plan.topic and read.plan.agents in ("*", agent)
                if read.local and wanted:
                    wanted = read.name == f"s{run}:{topic}"
                if wanted and self.log.process(run).alive and read.next_of(source) != len(sent) + 1:
                    found.append(f"{read.name} is at {read.next_of(source)} of {len(sent)} of {source}")
        return found

    async def end(self) -> None:
        for reader in self._readers:
            reader.close()
        await super().end()
        for task in self._tasks:
            with suppress(mf.Error):
                await task
