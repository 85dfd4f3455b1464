# ruff: noqa: ARG002 - hooks have the parameters that interceptors get
"""A caller and a server with interceptors, of each kind and way: the same tests run in all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mf
from mf.interceptors import Recorder
from mf.testing.controller import FakeController
from tests.python.conftest import AsyncRecorder, eventually
from tests.python.conftest import Recorder as Echo
from tests.python.echo import EchoAsyncClient, EchoClient, Number
from tests.python.flow import FlowAsyncClient, FlowClient
from tests.python.flowing import Awaiting, Plain
from tests.python.serving import server_of


@dataclass(frozen=True)
class Way:
    """How a caller of a kind reaches handlers of a kind."""

    name: str
    caller_awaits: bool
    handler_awaits: bool

    def __str__(self) -> str:
        kinds = ("plain", "async")
        return f"{self.name}-{kinds[self.caller_awaits]}-{kinds[self.handler_awaits]}"

    @property
    def is_light(self) -> bool:
        return self.name == "light"


WAYS = [
    Way(name, caller, handler)
    for name in ("tcp", "light", "resolver")
    for caller in (False, True)
    for handler in (False, True)
    if name != "resolver" or caller == handler
]


class Noting(mf.Interceptor):
    """Notes the order of its hooks."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self.notes = notes

    def begin(self, call: mf.InterceptedCall) -> None:
        self.notes.append(f"{self.name} begin")

    def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        self.notes.append(f"{self.name} in")
        try:
            return proceed()
        finally:
            self.notes.append(f"{self.name} out")

    async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        self.notes.append(f"{self.name} in")
        try:
            return await proceed()
        finally:
            self.notes.append(f"{self.name} out")

    def end(self, call: mf.InterceptedCall, end: mf.CallEnd) -> None:
        self.notes.append(f"{self.name} end")


class Around(mf.Interceptor):
    """Does the same around calls of both kinds, by a function that gets what the call gives, or raises."""

    def __init__(self, change: Callable[[mf.InterceptedCall, Any], Any]) -> None:
        self.change = change

    def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        return self.change(call, proceed())

    async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        return self.change(call, await proceed())


class Instead(mf.Interceptor):
    """Does something else than going on."""

    def __init__(self, answer: Callable[[mf.InterceptedCall], Any]) -> None:
        self.answer = answer

    def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        return self.answer(call)

    async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        return self.answer(call)


class Beginning(mf.Interceptor):
    """Does something when a call begins."""

    def __init__(self, do: Callable[[mf.InterceptedCall], None]) -> None:
        self.do = do

    def begin(self, call: mf.InterceptedCall) -> None:
        self.do(call)


class Ends:
    """Both sides of one way. Its functions give values and lists, whichever way they get them."""

    def __init__(self, way: Way, where: Any, client: Sequence[mf.Interceptor], echo: Any, flow: Any) -> None:
        self.way = way
        self._where = where
        self._client = client
        self.servant = echo
        self.flow_servant = flow
        self.before = Recorder()
        """At the client, the outermost."""
        self.behind = Recorder()
        """At the server, the outermost."""

    def echo(self, do: Callable[[EchoClient], Any], do_async: Callable[[EchoAsyncClient], Any]) -> Any:
        return self.run(
            lambda client: do(EchoClient(client).at("a")),
            lambda client: do_async(EchoAsyncClient(client).at("a")),
        )

    def flow(self, do: Callable[[FlowClient], Any], do_async: Callable[[FlowAsyncClient], Any]) -> Any:
        return self.run(
            lambda client: do(FlowClient(client)), lambda client: do_async(FlowAsyncClient(client))
        )

    def run(
        self, do: Callable[[mf.Client], Any], do_async: Callable[[mf.AsyncClient], Awaitable[Any]]
    ) -> Any:
        interceptors = [self.before, *self._client]
        if not self.way.caller_awaits:
            where = self._where.resolver() if isinstance(self._where, FakeController) else self._where
            with mf.Client(where, interceptors=interceptors, wait_for_server=0.2) as client:
                return do(client)

        async def main() -> Any:
            controller = isinstance(self._where, FakeController)
            where = self._where.async_resolver() if controller else self._where
            async with mf.AsyncClient(where, interceptors=interceptors, wait_for_server=0.2) as client:
                return await do_async(client)

        return asyncio.run(main())

    def twice(self, x: int, options: mf.CallOptions | None = None) -> Any:
        return self.echo(lambda e: e.twice(x, options=options), lambda e: e.twice(x, options=options))

    def bulk(self, xs: Sequence[int]) -> list[mf.Outcome[int]]:
        requests = [Number(x) for x in xs]
        found: list[mf.Outcome[int]] = self.echo(
            lambda e: e.twice_bulk(requests), lambda e: e.twice_bulk(requests)
        )
        return found

    def batch(self, xs: Sequence[int]) -> list[mf.Outcome[int]]:
        requests = [Number(x) for x in xs]
        options = mf.BatchOptions(size=2)
        found: list[mf.Outcome[int]] = self.echo(
            lambda e: e.twice_batch(requests, options=options).results(),
            lambda e: e.twice_batch(requests, options=options),
        )
        return found

    def scattered(self, x: int) -> Any:
        return self.run(
            lambda client: EchoClient(client).on(["a", "nowhere"]).twice(x),
            lambda client: EchoAsyncClient(client).on(["a", "nowhere"]).twice(x),
        )

    def count(self, to: int) -> list[int]:
        async def do(flow: FlowAsyncClient) -> list[int]:
            return [value async for value in flow.count(to)]

        found: list[int] = self.flow(lambda flow: list(flow.count(to)), do)
        return found

    def total(self, values: Sequence[int]) -> Any:
        return self.flow(lambda flow: flow.total(10, values), lambda flow: flow.total(10, values))

    def broken(self, after: int) -> list[int]:
        async def do(flow: FlowAsyncClient) -> list[int]:
            return [value async for value in flow.broken(after)]

        found: list[int] = self.flow(lambda flow: list(flow.broken(after)), do)
        return found

    def shout(self, words: Sequence[str]) -> list[str]:
        def do(flow: FlowClient) -> list[str]:
            with flow.shout() as stream:
                for word in words:
                    stream.write(word)
                stream.done_writing()
                return list(stream)

        async def do_async(flow: FlowAsyncClient) -> list[str]:
            async with flow.shout() as stream:
                for word in words:
                    await stream.write(word)
                await stream.done_writing()
                return [word async for word in stream]

        found: list[str] = self.flow(do, do_async)
        return found

    def first_of(self, to: int) -> int:
        """One value of many, then the stream is given up."""

        async def do(flow: FlowAsyncClient) -> int:
            async with flow.count(to) as stream:
                first: int = await anext(stream)
            while self.behind.open:
                await asyncio.sleep(0.001)
            return first

        def do_blocking(flow: FlowClient) -> int:
            with flow.count(to) as stream:
                first = next(stream)
            assert eventually(lambda: not self.behind.open)
            return first

        found: int = self.flow(do_blocking, do)
        return found


@contextmanager
def ends(
    way: Way,
    client: Sequence[mf.Interceptor] = (),
    server: Sequence[mf.Interceptor] = (),
    echo: Any = None,
    **options: Any,
) -> Iterator[Ends]:
    """`echo`: the servant of demo.Echo, in the place of the usual one; `options`: of the server."""
    if echo is None:
        echo = AsyncRecorder() if way.handler_awaits else Echo()
    flow: Any = Awaiting() if way.handler_awaits else Plain()
    made = Ends(way, None, client, echo, flow)
    interceptors = [made.behind, *server]
    if way.is_light:
        light = mf.Light(interceptors=interceptors)
        light.offer(echo, "a")
        light.offer(flow)
        made._where = light
        yield made
        return
    served = server_of(echo, agent="a", interceptors=interceptors, **options)
    served.offer(flow)
    served.start()
    try:
        made._where = served.address
        if way.name == "resolver":
            made._where = FakeController()
            made._where.add("demo.Echo", served.address, "a")
            made._where.add("demo.Flow", served.address)
        yield made
    finally:
        served.stop()
