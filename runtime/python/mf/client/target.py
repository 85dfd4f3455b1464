"""R5. One service at one agent or at any, over connections: where generated clients arrive.

What a call is made of stands in begin.py, what becomes of it in the machine of mf.protocol.call; the drivers
are blocking.py, aio.py, batch.py, scatter.py, streams.py and aio_streams.py.
"""

from collections.abc import AsyncIterable, Coroutine, Iterable, Sequence
from time import monotonic
from typing import Any, TypeVar, cast

from mf.client.begin import begin, begin_bulk, give_metadata
from mf.client.blocking import run
from mf.client.destination import Destination
from mf.client.scatter import AgentsTarget
from mf.core.agent import Agent, called_agent
from mf.core.cached import Caches
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Outcome
from mf.core.service import Method, Servant
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader, DuplexStream, StreamReader
from mf.core.target import BatchCall, ScatterTarget, Target
from mf.protocol.call import Call
from mf.protocol.call_table import RESOLVE
from mf.protocol.frame import ONEWAY
from mf.protocol.reply import OK

T = TypeVar("T")
R = TypeVar("R")


class RemoteTarget(Destination, Target):
    """See above. Any number of threads and loops may share one."""

    __slots__ = ()

    # Which agents

    def at(self, agent: Agent) -> "RemoteTarget":
        return RemoteTarget(self.router, self.service, called_agent(agent))

    def any(self) -> "RemoteTarget":
        return RemoteTarget(self.router, self.service, None)

    def on(self, agents: Iterable[Agent]) -> ScatterTarget:
        return AgentsTarget(self.router, self.service, list(dict.fromkeys(map(called_agent, agents))))

    def everywhere(self) -> ScatterTarget:
        return AgentsTarget(self.router, self.service, None)

    @property
    def servant(self) -> Servant | None:
        return None

    @property
    def caches(self) -> Caches:
        return self.router.caches

    @property
    def forwarded(self) -> tuple[str, ...]:
        return self.router.forward_metadata

    # One call

    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        now = monotonic()
        call = begin(self.router, method, options, arguments, now)
        route = self._route
        if (
            route is None
            or not route.link.usable
            or not route.binding.bound
            or self._resolver.generation != self._generation
            or method.oneway
        ):
            run(call, self)
        else:  # what `run` does, for a route that is at hand
            call.begin_at(route.binding, now)
            route.link.call(call, call.word, now)
            if call.failure is None and call.status == OK and call.reply_metadata is None:
                if call.encoding == method.result_encoding:
                    return method.decode_result(call.payload)  # nobody asks the machine any more
                return call.value_at_once()
            if call.settle(monotonic()) is RESOLVE:
                self.forget(route)
                run(call, self, RESOLVE)
        give_metadata(options, call.reply_metadata)
        if method.oneway and call.failure is None:
            return cast(T, None)
        return call.value()

    def call_async(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Coroutine[Any, Any, T]:
        from mf.client.aio import call_async

        return call_async(self, method, options, arguments)

    # Several calls

    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        from mf.client.batch import MessageBatch

        return MessageBatch(self, method, requests, options or BatchOptions())

    async def batch_async(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> list[Outcome[T]]:
        from asyncio import get_running_loop

        from mf.client.batch import MessageBatch

        return await MessageBatch(self, method, requests, options or BatchOptions(), loop=get_running_loop())

    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        if not requests:
            return []
        call = begin_bulk(self.router, method, options, requests, monotonic())
        run(call, self)
        return _bulk_outcomes(call, options)

    async def bulk_async(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        from mf.client.aio import run_async

        if not requests:
            return []
        call = begin_bulk(self.router, method, options, requests, monotonic())
        await run_async(call, self)
        return _bulk_outcomes(call, options)

    # Streams

    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> StreamReader[Any]:
        from mf.client.streams import read_stream

        return read_stream(self, method, options, arguments)

    def write_stream(
        self, method: Method[Any, T], options: CallOptions | None, values: Iterable[Any], *arguments: Any
    ) -> T:
        from mf.client.streams import write_stream

        return write_stream(self, method, options, values, arguments)

    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> DuplexStream[Any, Any]:
        from mf.client.streams import duplex_stream

        return duplex_stream(self, method, options, arguments)

    def read_stream_async(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncStreamReader[Any]:
        from mf.client.aio_streams import read_stream

        return read_stream(self, method, options, arguments)

    async def write_stream_async(
        self,
        method: Method[Any, T],
        options: CallOptions | None,
        values: AsyncIterable[Any] | Iterable[Any],
        *arguments: Any,
    ) -> T:
        from mf.client.aio_streams import write_stream

        return await write_stream(self, method, options, values, arguments)

    def duplex_stream_async(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncDuplexStream[Any, Any]:
        from mf.client.aio_streams import duplex_stream

        return duplex_stream(self, method, options, arguments)


def _bulk_outcomes(call: Call[T], options: CallOptions | None) -> list[Outcome[T]]:
    give_metadata(options, call.reply_metadata)
    if call.failure is not None:
        raise call.failure
    if call.flags & ONEWAY:
        return [Outcome() for _ in range(call.items)]
    return call.outcomes()
