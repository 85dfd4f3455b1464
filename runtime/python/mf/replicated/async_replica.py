"""R6. One replica of a service in a program of asyncio: the machine of mf.replicated.replica over links to
the others and to clients, with the lead that the controller gives.
"""

from asyncio import Event, Queue, Task, current_task, get_running_loop, sleep, wait, wait_for
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from time import monotonic
from typing import Any, Self, Unpack
from uuid import UUID, uuid4

from mf.client.async_client import AsyncClient
from mf.client.standing import StandingCall, side_by_side
from mf.codec.texts import Texts
from mf.core import log
from mf.core.agent_names import shown_agent
from mf.core.error import Code, Error, MfError, not_executed
from mf.core.offered import offered_agent
from mf.core.options import CallOptions, check_names
from mf.core.replicated import Version
from mf.core.service import AsyncServant, BaseServant
from mf.link import fork
from mf.link.background import spawn
from mf.replicated._generated.mf import replication as wire
from mf.replicated._generated.mf.replication._methods import REPLICA_GROUP
from mf.replicated.access import GroupAccess
from mf.replicated.applying import Applying, Job
from mf.replicated.links import MOST_QUEUED, OutgoingLink, group_agent, wrapped
from mf.replicated.messages import Apply, Distrust, Message, PeerId, Resign, Send, Stuck, schema_of
from mf.replicated.replica import Replica as Machine
from mf.replicated.schemas import UnadaptableError
from mf.replicated.settings import ReplicaFields
from mf.server.access import rules_of
from mf.server.async_server import AsyncServer

_TICK = 0.05
_PAUSE = 0.2
_PATIENCE = 2.0


def not_within_itself() -> Error:
    """The failure of a `stop` within on_apply."""
    return not_executed(
        Code.INVALID_ARGUMENT,
        "a replica cannot stop within its on_apply, for whose end it waits: stop it from elsewhere",
    )


class AsyncReplica:
    """One of the replicas of a service, which apply its `@replicated` methods in one order.

        async with mf.AsyncReplica(store, "mf://localhost:7400", member="a", members=["a", "b", "c"]):
            ...

    The servant's `on_apply_…` functions are called for each message, in the order of the versions. With
    `on_snapshot()`, which gives its state as bytes, and `on_restore(bytes | None)`, it can follow however
    long it was away. The replicas find each other through the controller, which also decides which one gives
    out the versions. What the service has besides, reading for example, is offered by a server, as for any
    service. `servant`: of a service with replicated methods. `controller`: the address of one, or of several.
    `fields`: see ReplicaFields.

    Raises ValueError for members that do not fit, or a service without a replicated method.
    """

    def __init__(self, servant: BaseServant, controller: str, **fields: Unpack[ReplicaFields]) -> None:
        check_names(fields, ReplicaFields, "a replica")
        service = servant.mf_service
        agent = offered_agent(service, fields.get("agent"))
        rules_of(fields.get("access", ""))  # raises ValueError for mistakes in it
        self._access: GroupAccess | None = None  # once it is started
        self._service, self._agent = service, agent
        self._base = group_agent(service.name, agent)
        self._controller = controller
        self._fields = fields
        self._applying = Applying(
            servant, shown_agent(service, agent), error_texts=fields.get("error_texts", False)
        )
        self._is_async = isinstance(servant, AsyncServant)
        self._machine = Machine(
            fields["member"],
            fields["members"],
            schema_of(service),
            uuid4(),
            can_snapshot=self._applying.can_snapshot,
            settings=fields.get("settings"),
        )
        self._server: AsyncServer | None = None
        self._client: AsyncClient | None = None
        self._links: dict[str, OutgoingLink] = {}
        self._incoming: dict[UUID, Queue[Message | None]] = {}
        self._jobs: deque[Job] = deque()
        self._job_there = Event()
        self._to_learn = Event()
        self._working = False
        self._resigned = Event()
        self._normal = Event()
        self._tasks: list[Task[None]] = []
        self._inherited = False
        fork.register(self)
        self.stuck = ""
        """Why this replica takes part no more; empty while it does."""

    # What users see

    @property
    def version(self) -> Version:
        """Up to where the servant has applied."""
        head = self._machine.log.head_at(self._machine.applied)
        return Version(0, 0) if head is None else Version(head.version.epoch, head.version.counter)

    @property
    def leads(self) -> bool:
        """Whether it gives out the versions, by what it has heard."""
        versioner = self._machine.versioner
        return versioner is not None and versioner.ready and not self._inherited

    @property
    def serves(self) -> bool:
        """Whether it has caught up, and acknowledges."""
        return self._machine.is_normal and not self._inherited

    async def until_serving(self, timeout: float) -> bool:
        """Waits until it has caught up, at most `timeout` seconds. Whether it has."""
        self.check_own()
        if not self.serves:
            self._normal.clear()
            with suppress(TimeoutError):
                await wait_for(self._normal.wait(), timeout)
        self.check_own()
        return self.serves

    def check_own(self) -> None:
        """Raises Error(UNAVAILABLE) in a forked child, if the parent had started it."""
        if self._inherited:
            raise not_executed(Code.UNAVAILABLE, self.stuck)

    def after_fork(self) -> None:
        """In a child: the replica is the parent's. Its server and its client are notified themselves."""
        if self._server is None:
            return
        self._inherited = True
        self.stuck = "the replica belongs to the parent process"
        with suppress(RuntimeError):  # the loop was closed
            for task in self._tasks:
                task.cancel()
            self._normal.set()

    # Beginning and end

    async def start(self) -> None:
        """Offers itself, finds the others, and catches up. Raises OSError if an address cannot be had."""
        self.check_own()
        if self._server is not None:
            raise ValueError("the replica was started already")
        tls = self._fields.get("tls")
        server = self._server = AsyncServer(
            self._fields.get("listen", "tcp://127.0.0.1:0"),
            self._controller,
            advertise=self._fields.get("advertise"),
            tls=tls,
            controller_tls=tls if "mf+tls://" in self._controller else None,
            drain_timeout=0.5,
            access=self._fields.get("access", ""),
        )
        if self._fields.get("access"):
            self._access = GroupAccess(server, self._service, self._agent)
        self._client = AsyncClient(self._controller, tls=tls)
        servant = _ReplicaServant(self)
        server.offer(servant, f"{self._base}{self._machine.me}")
        server.offer(servant, self._base)
        await server.start()
        replicas = self._client.async_target(wire.REPLICA_SERVICE)
        for other in self._machine.others:
            self._links[other] = self._link(other, replicas.at(f"{self._base}{other}"))
        runs = [self._tick(), self._seek_lead(server), self._learn(replicas)]
        if self._is_async:
            runs.append(self._work())
        self._tasks = [spawn(each) for each in runs]

    async def stop(self) -> None:
        """Gives up the lead, and is gone for clients and the other replicas. May be called twice, but not
        within on_apply."""
        if self._inherited:
            return
        if current_task() in self._tasks:
            raise not_within_itself()
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await wait(tasks)
        links, self._links = self._links, {}
        for link in links.values():
            await link.close()
        for queue in list(self._incoming.values()):
            queue.put_nowait(None)
        if self._client is not None:
            await self._client.close()
        if self._server is not None:
            await self._server.stop()

    def reload(self) -> bool:
        """Reads the access file and the files of `tls` again, at once: see Server.reload."""
        return self._server is None or self._server.reload()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.stop()

    # Links

    def _link(self, other: str, target: Any) -> OutgoingLink:
        def opened() -> None:
            self._machine.connected(other, monotonic())
            self._carry_out()
            self._learn_soon()

        def closed() -> None:
            self._machine.disconnected(other, monotonic())
            self._carry_out()

        def received(message: Message) -> None:
            """Nothing: each side speaks on the link that it has opened."""

        return OutgoingLink(target, wire.Peer(member=self._machine.me), opened, received, closed)

    # Schemas

    def schemas(self) -> list[wire.Schema]:
        """Its own first."""
        return [wire.Schema(each.descriptor, each.annex) for each in self._applying.schemas.texts]

    def _learn_soon(self) -> None:
        """Asks the other members for the schemas that they know."""
        self._to_learn.set()

    async def _learn(self, replicas: Any) -> None:
        while True:
            await self._to_learn.wait()
            self._to_learn.clear()
            for other in self._machine.others:
                with suppress(MfError):
                    options = CallOptions(deadline=_PATIENCE)
                    group = await replicas.at(f"{self._base}{other}").call(REPLICA_GROUP, options)
                    texts = [Texts(each.descriptor, each.annex) for each in group.schemas]
                    wanted = {each.body.schema for each in self._jobs if isinstance(each, Apply)}
                    self._applying.schemas.learn(other, texts, wanted)
            self._machine.schemas = self._applying.schemas.known
            self._job_there.set()
            self._carry_out()
            await sleep(_PAUSE)

    def _is_ready(self, job: Job) -> bool:
        """Whether the servant can be asked. A message of a schema that is not known yet waits, and all behind
        it do."""
        try:
            if self._applying.is_ready(job):
                return True
        except UnadaptableError as why:
            assert isinstance(job, Apply)
            self._machine.give_up(f"message {job.version.counter} of its group: {why}")
            self._jobs.clear()
            return False
        self._learn_soon()
        return False

    def members(self) -> list[str]:
        """For the caller of the running handler."""
        members = list(self._machine.members)
        if self._access is not None:
            self._access.check_either(members)
        return members

    async def linked(
        self, given: wire.Peer, messages: AsyncIterator[wire.Message]
    ) -> AsyncIterator[wire.Message]:
        """What goes back on a link that the peer `given` has opened, on which `messages` come. Other replicas
        call it."""
        peer: PeerId
        access = self._access
        if given.client is not None and given.member is None:
            if access is not None:
                access.check_client()
            peer = given.client
        elif given.member is not None and given.client is None and given.member in self._machine.others:
            if access is not None:
                access.check_member(given.member)
            peer = given.member
        else:
            raise not_executed(
                Code.INVALID_ARGUMENT, "a link is a client's, or another member's of the group"
            )
        queue: Queue[Message | None] = Queue()
        if isinstance(peer, UUID):
            before = self._incoming.get(peer)
            if before is not None:
                before.put_nowait(None)
            self._incoming[peer] = queue
            self._machine.connected(peer, monotonic())
            self._carry_out()
        reader = get_running_loop().create_task(self._read(peer, messages, queue))
        try:
            while (message := await queue.get()) is not None:
                yield wrapped(message)
        finally:
            reader.cancel()
            await wait((reader,))
            if isinstance(peer, UUID) and self._incoming.get(peer) is queue:
                del self._incoming[peer]
                self._machine.disconnected(peer, monotonic())
                self._carry_out()

    async def _read(
        self, peer: PeerId, messages: AsyncIterator[wire.Message], queue: Queue[Message | None]
    ) -> None:
        try:
            async for message in messages:
                self._machine.receive(peer, message.value, monotonic())
                self._carry_out()
        except MfError:
            pass
        finally:
            queue.put_nowait(None)

    # Effects

    def _carry_out(self) -> None:
        """All that the machine asks for now."""
        if self._working:
            return
        self._working = True
        try:
            while effects := self._machine.take():
                for effect in effects:
                    match effect:
                        case Send(to, message):
                            self._send(to, message)
                        case Resign(reason):
                            log.info("replica %s gives up the lead: %s", self._machine.me, reason)
                            self._resigned.set()
                        case Distrust(member, reason):
                            log.warning(
                                "replica %s does not take what %s has sent: %s",
                                self._machine.me,
                                member,
                                reason,
                            )
                        case Stuck(reason):
                            self.stuck = reason
                            log.error("replica %s takes part no more: %s", self._machine.me, reason)
                        case _:
                            self._jobs.append(effect)
                            self._job_there.set()
                while self._jobs and not self._is_async and self._is_ready(self._jobs[0]):
                    outcome = self._applying.do(self._jobs.popleft())
                    self._machine.done(outcome, monotonic())
        finally:
            self._working = False
        if self._machine.is_normal:
            self._normal.set()

    def _send(self, to: PeerId, message: Message) -> None:
        if isinstance(to, str):
            link = self._links.get(to)
            if link is not None:
                link.send(message)
            return
        queue = self._incoming.get(to)
        if queue is not None and queue.qsize() < MOST_QUEUED:
            queue.put_nowait(message)

    async def _work(self) -> None:
        """The servant of asyncio: one job after the other."""
        while True:
            await self._job_there.wait()
            self._job_there.clear()
            while self._jobs and self._is_ready(self._jobs[0]):
                outcome = await self._applying.do_async(self._jobs.popleft())
                self._machine.done(outcome, monotonic())
                self._carry_out()

    async def _tick(self) -> None:
        while True:
            self._machine.tick(monotonic())
            self._carry_out()
            await sleep(_TICK)

    # The lead

    async def _has_resigned(self) -> None:
        await self._resigned.wait()

    async def _seek_lead(self, server: AsyncServer) -> None:
        async def session() -> None:
            async with server.lead(_ReplicaServant, self._base) as lead:
                self._resigned.clear()
                self._machine.lead(lead.epoch, monotonic())
                self._carry_out()
                await side_by_side(lead.lost(), self._has_resigned())

        def goes_on(ended: Exception | None) -> bool:
            """It gives out versions until a later epoch is known: the controller may just be away."""
            if isinstance(ended, Error):
                log.info("replica %s does not get the lead: %s", self._machine.me, ended)
            elif ended is not None:
                raise ended
            return True

        await StandingCall(longest=_PAUSE).keep(session, goes_on)


class _ReplicaServant(wire.ReplicaAsyncServant):
    """What a replica offers to clients and to the others."""

    mf_decides = True  # callers differ by what they say that they are

    def __init__(self, replica: AsyncReplica) -> None:
        self._replica = replica

    async def group(self) -> wire.Group:
        return wire.Group(self._replica.members(), self._replica.schemas())

    def link(self, who: wire.Peer, messages: AsyncIterator[wire.Message]) -> AsyncIterator[wire.Message]:
        return self._replica.linked(who, messages)
