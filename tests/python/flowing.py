"""Callers and handlers of both kinds, for the streams of flow.py, in light and over sockets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import mf
from tests.python.flow import (
    AnyFlowServant,
    FlowAsyncClient,
    FlowAsyncServant,
    FlowClient,
    FlowServant,
    Wrong,
)

T = TypeVar("T")


class Plain(FlowServant):
    def count(self, to: int) -> Iterator[int]:
        mf.current_call().set_reply_metadata("how", "plain")
        self.seen.append(dict(mf.current_call().metadata))
        try:
            yield from range(1, to + 1)
        finally:
            self.seen.append(mf.current_call().cancelled)


class Awaiting(FlowAsyncServant):
    async def count(self, to: int) -> AsyncIterator[int]:
        mf.current_call().set_reply_metadata("how", "async")
        self.seen.append(dict(mf.current_call().metadata))
        try:
            for number in range(1, to + 1):
                await asyncio.sleep(0)
                yield number
        finally:
            self.seen.append(mf.current_call().cancelled)

    async def total(self, start: int, values: AsyncIterator[int]) -> int:
        async for value in values:
            if value == 0:
                raise Wrong(start)
            start += value
        return start


@asynccontextmanager
async def opened(where: mf.Light | str, **options: Any) -> AsyncIterator[FlowAsyncClient]:
    """A client of asyncio."""
    if isinstance(where, mf.Light):
        yield FlowAsyncClient(where)
    else:
        async with mf.AsyncClient(where, mf.ClientOptions(**options)) as client:
            yield FlowAsyncClient(client)


class Flow:
    """A caller of one kind: returns lists, whichever way it gets them."""

    def __init__(
        self, servant: AnyFlowServant, *, awaits: bool, where: mf.Light | str | None = None, **options: Any
    ) -> None:
        if where is None:
            where = mf.Light()
            where.offer(servant)
        self._where = where
        self._options = options
        source = mf.Client(where, mf.ClientOptions(**options))
        self.client = FlowClient(source)
        self.close = source.close
        self.awaits = awaits

    def opened(self) -> AbstractAsyncContextManager[FlowAsyncClient]:
        return opened(self._where, **self._options)

    def awaited(self, do: Callable[[FlowAsyncClient], Awaitable[T]]) -> T:
        async def main() -> T:
            async with self.opened() as client:
                return await do(client)

        return asyncio.run(main())

    def count(self, to: int, options: mf.CallOptions | None = None) -> list[int]:
        if self.awaits:
            return self.awaited(lambda client: all_of(client.count(to, options=options)))
        return list(self.client.count(to, options=options))

    def total(self, values: Any, options: mf.CallOptions | None = None) -> int:
        if self.awaits:
            return self.awaited(lambda client: client.total(10, values, options=options))
        return self.client.total(10, values, options=options)

    def shout(self, words: list[str]) -> list[str]:
        if not self.awaits:
            with self.client.shout() as stream:
                got = []
                for word in words:
                    stream.write(word)
                    got.append(next(stream))
                stream.done_writing()
                return [*got, *stream]

        async def run(client: FlowAsyncClient) -> list[str]:
            async with client.shout() as stream:
                got = []
                for word in words:
                    await stream.write(word)
                    got.append(await anext(stream))
                await stream.done_writing()
                return [*got, *await all_of(stream)]

        return self.awaited(run)

    def broken(self, after: int) -> list[int]:
        got: list[int] = []
        if not self.awaits:
            got.extend(iter(self.client.broken(after)))
            return got
        return self.awaited(lambda client: all_of(client.broken(after)))


async def all_of(stream: mf.AsyncStreamReader[Any]) -> list[Any]:
    return [value async for value in stream]
