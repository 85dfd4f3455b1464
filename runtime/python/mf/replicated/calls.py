"""R6. The replicated calls of a client of asyncio: the machine of caller.py over links to all replicas.

A client has one of these for each (service, agent) that it sends replicated messages to. It holds a link to
each replica from the first call on, over which acknowledgements come from wherever the pattern lets them
come.
"""

from asyncio import Future, Lock, TimerHandle, gather, get_running_loop
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID, uuid4

from mf.codec.texts import Texts
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.options import DEFAULT_DEADLINE, INFINITE, CallOptions
from mf.core.replicated import Replicated, ReplicatedOptions, Require, Version
from mf.core.service import Method, ServiceInfo
from mf.core.target import AsyncTarget
from mf.protocol.adapted import Adaptation, Adapted
from mf.protocol.adapting import adapting
from mf.protocol.call import too_late
from mf.replicated._generated.mf import replication as wire
from mf.replicated._generated.mf.replication._methods import REPLICA_GROUP
from mf.replicated.caller import Applied, Caller
from mf.replicated.links import OutgoingLink, group_agent
from mf.replicated.messages import Message, Outcome, Pattern, Send, schema_of

T = TypeVar("T")

_TICK = 0.05


class AsyncReplication:
    """See above. `replicas`: the service mf.replication.Replica, at no agent yet."""

    def __init__(self, replicas: AsyncTarget, service: ServiceInfo, agent: str) -> None:
        self._replicas = replicas
        self._service = service
        self._agent = agent
        self._begins = Lock()
        self._caller: Caller | None = None
        self._adaptation: Adaptation | None = None
        self._links: dict[str, OutgoingLink] = {}
        self._results: dict[int, Future[Applied | Error]] = {}
        self._timer: TimerHandle | None = None
        self._closed = False

    async def call(
        self, method: Method[Any, T], options: ReplicatedOptions | None, arguments: tuple[Any, ...]
    ) -> Replicated[T]:
        """One call. Raises Error, or what the method declares."""
        request = bytes(method.encode_request(*arguments))
        given = None if options is None else options.deadline
        now = monotonic()
        end = now + (given if given is not None else method.deadline or DEFAULT_DEADLINE)
        if end <= now:
            raise too_late()
        caller = self._caller or await self._begin(end)
        require = wire.Require(options.require if options is not None else Require.MAJORITY)
        assert method.replicated is not None
        pattern = Pattern[method.replicated]
        name, payload, adapted = self._for_replicas(method, request)
        sequence = caller.start(name, payload, pattern, require, end, monotonic())
        future = self._results[sequence] = get_running_loop().create_future()
        self._flush(caller)
        if self._timer is None:
            self._tick(caller)
        try:
            result = await future
        finally:
            self._results.pop(sequence, None)
            caller.cancel(sequence)
        if isinstance(result, Error):
            raise result
        version = Version(result.version.epoch, result.version.counter)
        outcome = result.outcome
        if adapted is not None:
            outcome = Outcome(*adapted.outcome(outcome.status, outcome.error, outcome.payload))
        return Replicated(value_of(method, outcome), version, tuple(result.members))

    async def close(self) -> None:
        """Calls under way end as CANCELLED."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for future in self._results.values():
            if not future.done():
                future.set_result(Error(Code.CANCELLED, "the client was closed"))
        await gather(*(link.close() for link in self._links.values()))

    async def _begin(self, end: float) -> Caller:
        async with self._begins:
            if self._caller is not None:
                return self._caller
            left = end - monotonic()
            if left <= 0:
                raise not_executed(Code.DEADLINE_EXCEEDED, "no replica was found in time")
            options = CallOptions(deadline=left if left < INFINITE else INFINITE)
            base = group_agent(self._service.name, self._agent)
            group = await self._replicas.at(base).call(REPLICA_GROUP, options)
            if self._closed:
                raise not_executed(Code.CANCELLED, "the client was closed")
            schema = self._adapt(group)
            caller = self._caller = Caller(uuid4(), group.members, schema)
            for member in group.members:
                self._links[member] = self._link(caller, member, base)
            return caller

    def _adapt(self, group: wire.Group) -> UUID:
        """To the schema of the replicas, if that is another one; its fingerprint."""
        own, there = schema_of(self._service), group.schemas[0]
        replicas = f"the replicas of {self._service.name}"
        if Texts(there.descriptor, there.annex).fingerprint == own.bytes:
            return own
        made = adapting(self._service, there.descriptor, there.annex)
        if isinstance(made, str):
            raise not_executed(Code.SCHEMA_MISMATCH, f"schemas differ from {replicas}: {made}")
        assert isinstance(made, Adaptation)
        self._adaptation = made.at(replicas)
        return UUID(bytes=made.fingerprint)

    def _for_replicas(self, method: Method[Any, Any], payload: bytes) -> tuple[str, bytes, Adapted | None]:
        """The method's name and the request as the replicas have them. Raises Error, NOT_EXECUTED."""
        if self._adaptation is None:
            return method.name, payload, None
        adapted = self._adaptation.method(method)
        _, body = adapted.request(0, 1, payload)
        return self._adaptation.names[adapted.index], bytes(body), adapted

    def _link(self, caller: Caller, member: str, base: str) -> OutgoingLink:
        def opened() -> None:
            caller.connected(member, monotonic())
            self._flush(caller)

        def received(message: Message) -> None:
            caller.receive(member, message, monotonic())
            self._flush(caller)

        target, peer = self._replicas.at(f"{base}{member}"), wire.Peer(client=caller.client)
        return OutgoingLink(target, peer, opened, received, lambda: caller.disconnected(member))

    def _tick(self, caller: Caller) -> None:
        self._timer = None
        caller.tick(monotonic())
        self._flush(caller)
        if self._results and not self._closed:
            self._timer = get_running_loop().call_later(_TICK, self._tick, caller)

    def _flush(self, caller: Caller) -> None:
        for effect in caller.take():
            if isinstance(effect, Send):
                assert isinstance(effect.to, str)
                link = self._links.get(effect.to)
                if link is not None:
                    link.send(effect.message)
            else:
                future = self._results.get(effect.sequence)
                if future is not None and not future.done():
                    future.set_result(effect.result)


def value_of(method: Method[Any, T], outcome: Outcome) -> T:
    """What a servant made of a message. Raises Error, or what the method declares."""
    if outcome.status == Code.OK:
        return method.decode_result(outcome.payload)
    if outcome.status == Code.DECLARED and outcome.error < len(method.errors):
        raise method.errors[outcome.error].decode(outcome.payload)
    try:
        code = Code(outcome.status)
    except ValueError:
        code = Code.PROTOCOL_ERROR
    raise Error(code, outcome.payload.decode("utf-8", "replace"), Execution.UNKNOWN)
