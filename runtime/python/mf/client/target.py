"""R5. The target of generated blocking clients: one service at one agent or any, over connections.

begin.py creates calls, and the state machine of mf.protocol.call decides what becomes of them; the drivers
are driving.py, batch.py, scatter.py and streams.py. async_target.py is the counterpart for asyncio.
"""

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Any, TypeVar, cast

from mf.client.begin import begin, give_metadata
from mf.client.destination import Destination
from mf.client.driving import Bulk, go_on, replicated_agent, run
from mf.client.scatter import AgentsTarget
from mf.core.handler_wait import here
from mf.core.immediate import immediate
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method
from mf.core.stream import DuplexStream, StreamReader
from mf.core.target import BatchCall, ScatterTarget, Target, without_replicas
from mf.protocol.call import NOT_OVER
from mf.protocol.call_table import RESOLVE
from mf.route.blocking_routing import BlockingRouting

T = TypeVar("T")
R = TypeVar("R")


class RemoteTarget(Destination[BlockingRouting], Target):
    """See above. Thread-safe."""

    __slots__ = ()

    def several(self, agents: list[str] | None) -> ScatterTarget:
        return AgentsTarget(self.router, self.service, agents)

    # One call

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        if (wait := here.wait) is not None:
            with wait:
                return self.call(method, options, *arguments)
        now = monotonic()
        call = begin(self.router, method, options, arguments, now)
        route = self._route
        if (
            route is None
            or not route.link.usable
            or not route.binding.bound
            or self._resolver.generation != self._generation
            or method.oneway
            or call.deadline <= now
        ):
            immediate(run(call, self))
        else:  # as `run` does, for a route that is available
            call.begin_at(route.binding, now)
            route.link.call(call, call.word, now)
            if (result := call.take_result()) is not NOT_OVER:
                return result
            if call.settle(monotonic()) is RESOLVE:
                immediate(go_on(call, self, route))
        give_metadata(options, call.reply_metadata)
        if method.oneway and call.failure is None:
            return cast(T, None)
        return call.value()

    # Several calls

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        from mf.client.batch import BlockingBatch

        return BlockingBatch(self, method, requests, options or BatchOptions())

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if (wait := here.wait) is not None:
            with wait:
                return self.bulk(method, requests, options)
        if not requests:
            return []
        bulk = Bulk(self.router, method, options, requests)
        while True:
            call = bulk.begin()
            immediate(run(call, self))
            outcomes = bulk.ended(call)
            if outcomes is not None:
                return outcomes

    def replicate(
        self, method: Method[Any, T], options: ReplicatedOptions | None, *arguments: Any
    ) -> Replicated[T]:
        agent = replicated_agent(self.service, self.agent)
        if self.router.replicator is None:
            raise without_replicas(method)
        if (wait := here.wait) is not None:
            with wait:
                return self.replicate(method, options, *arguments)
        result: Replicated[T] = self.router.replicator(self.service, agent, method, options, arguments)
        return result

    # Streams

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> StreamReader[Any]:
        from mf.client.streams import Reader, Stream

        return Reader(Stream(self, method, options, arguments))

    def write_stream(
        self, method: Method[Any, T], options: CallOptions | None, values: Iterable[Any], *arguments: Any
    ) -> T:
        from mf.client.streams import Stream

        return cast(T, Stream(self, method, options, arguments).write_all(values))

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> DuplexStream[Any, Any]:
        from mf.client.streams import Duplex, Stream

        return Duplex(Stream(self, method, options, arguments))
