"""The steps of a client of asyncio: a method a verb, with the same observations as blocking.py."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TypeVar

from conformance import ShapesAsyncClient, ShapesPutRequest, ShapesTwiceRequest
from words import Json, ManualClock, Words, expanded, failed, outcome, outcomes, scattered, shortened

import mf

T = TypeVar("T")
MANY = 10_000_000
PATIENCE = 5.0


class LeftError(Exception):
    """Of a caller that gives up in the middle of the values that it writes."""


async def ended(call: Awaitable[T]) -> mf.Outcome[T]:
    try:
        return mf.Outcome(await call)
    except (mf.Error, mf.DeclaredError) as failure:
        return mf.Outcome(error=failure)


async def taken(stream: AsyncIterable[T], values: list[T]) -> Json:
    """Takes all values, and returns how it ended: also after a failure, values that came before it are
    kept."""
    try:
        async for value in stream:
            values.append(value)
    except mf.MfError as failure:
        return failed(failure)
    return {"value": None}


class Awaiting:
    """Made where its loop runs."""

    def __init__(self, open_client: Callable[[], mf.AsyncClient], clock: ManualClock) -> None:
        self._open = open_client
        self._clock = clock
        self._client = open_client()
        self._stub = ShapesAsyncClient(self._client)

    async def close(self) -> None:
        await self._client.close()

    def _at(self, words: Words) -> ShapesAsyncClient:
        return self._stub.at(words.agent)

    async def twice(self, words: Words) -> Json:
        return outcome(await ended(self._at(words).twice(words.numbers[0], options=words.options)))

    async def kept(self, words: Words) -> Json:
        return outcome(await ended(self._at(words).kept(words.numbers[0], options=words.plain_options)))

    async def forget(self, words: Words) -> Json:
        self._at(words).kept_forget(words.numbers[0])
        return {"value": None}

    async def forget_agent(self, words: Words) -> Json:
        self._at(words).kept_cache().forget_agent()
        return {"value": None}

    async def forget_all(self, words: Words) -> Json:
        self._at(words).kept_cache().forget_all()
        return {"value": None}

    async def later(self, words: Words) -> Json:
        self._clock.now += words.numbers[0]
        return {"value": None}

    async def cache(self, words: Words) -> Json:
        stats = self._at(words).kept_cache().stats()
        return {"entries": stats.entries, "bytes": stats.bytes}

    async def batch(self, words: Words) -> Json:
        requests = [ShapesTwiceRequest(x) for x in words.numbers]
        return await self._all(self._at(words).twice_batch(requests, options=mf.BatchOptions(size=2)))

    async def bulk(self, words: Words) -> Json:
        requests = [ShapesTwiceRequest(x) for x in words.numbers]
        return await self._all(self._at(words).twice_bulk(requests, options=words.options))

    async def put(self, words: Words) -> Json:
        requests = [ShapesPutRequest(x) for x in words.numbers]
        return await self._all(self._at(words).put_batch(requests))

    async def put_bulk(self, words: Words) -> Json:
        requests = [ShapesPutRequest(x) for x in words.numbers]
        return await self._all(self._at(words).put_bulk(requests, options=words.options))

    async def _all(self, call: Awaitable[list[mf.Outcome[int]]]) -> Json:
        got = await ended(call)
        return outcomes(got.value()) if got.error is None else failed(got.error)

    async def oneway(self, words: Words) -> Json:
        async def send() -> None:
            for number in words.numbers:
                await self._at(words).note(number, options=words.options)

        return outcome(await ended(send()))

    async def scatter(self, words: Words) -> Json:
        rooms = words.agent.split(",")
        return scattered(await self._stub.on(rooms).twice(words.numbers[0], options=words.options))

    async def linger(self, words: Words) -> Json:
        return outcome(await ended(self._at(words).linger(options=words.options)))

    async def unreachable(self, words: Words) -> Json:
        async with mf.AsyncClient("tcp://127.0.0.1:1") as client:
            nobody = ShapesAsyncClient(client).at("red")
            return outcome(await ended(nobody.twice(1, options=words.options)))

    async def bad_key(self, words: Words) -> Json:
        words.metadata["Tenant"] = "x"
        return outcome(await ended(self._at(words).twice(1, options=words.options)))

    async def seen(self, words: Words) -> Json:
        seen = outcome(await ended(self._at(words).seen(options=words.options)))
        return {"seen": seen, "reply": words.reply.get("entries")}

    async def relay(self, words: Words) -> Json:
        seen = outcome(await ended(self._at(words).relay(options=words.options)))
        return {"seen": seen, "reply": words.reply.get("entries")}

    async def seen_stream(self, words: Words) -> Json:
        values: list[str] = []
        end = await taken(self._at(words).seen_stream(options=words.options), values)
        return {"seen": {"values": values, "end": end}, "reply": words.reply.get("entries")}

    async def count(self, words: Words) -> Json:
        values: list[int] = []
        end = await taken(self._at(words).count(*words.numbers, options=words.options), values)
        return {"count": len(values), "sum": sum(values), "end": end}

    async def texts(self, words: Words) -> Json:
        values: list[str] = []
        end = await taken(self._at(words).texts(*words.numbers, options=words.options), values)
        return {"values": [shortened(each) for each in values], "end": end}

    async def endless(self, words: Words) -> Json:
        return await taken(self._at(words).endless(options=words.options), [])

    async def leave_stream(self, words: Words) -> Json:
        async with self._at(words).endless(options=words.options) as stream:
            values = [await anext(stream) for _ in range(words.numbers[0])]
        return {"values": values, "end": {"value": None}}

    async def sum(self, words: Words) -> Json:
        start, *values = words.numbers
        return outcome(await ended(self._at(words).sum(start, values, options=words.options)))

    async def sum_below(self, words: Words) -> Json:
        values = range(words.numbers[0])
        return outcome(await ended(self._at(words).sum(0, values, options=words.options)))

    async def first(self, words: Words) -> Json:
        given = 0

        async def sevens() -> AsyncIterator[int]:
            nonlocal given
            while given < MANY:
                given += 1
                yield 7

        call = self._at(words).first(words.numbers[0], sevens(), options=words.options)
        end = outcome(await ended(call))
        return {"end": end, "held back": given < MANY}

    async def leave_write(self, words: Words) -> Json:
        async def values() -> AsyncIterator[int]:
            for value in range(words.numbers[0]):
                yield value
            await self._wait_for_log(words.agent, 1)
            raise LeftError

        try:
            return outcome(await ended(self._at(words).sum(0, values(), options=words.options)))
        except LeftError:
            return {"value": None}

    async def echo(self, words: Words) -> Json:
        values: list[str] = []
        try:
            async with self._at(words).echo(options=words.options) as stream:
                for word in words.arguments:
                    await stream.write(expanded(word))
                    values.append(shortened(await anext(stream)))
                await stream.done_writing()
                values += [shortened(each) async for each in stream]
        except mf.MfError as failure:
            return {"values": values, "end": failed(failure)}
        return {"values": values, "end": {"value": None}}

    async def write_after_end(self, words: Words) -> Json:
        async with self._at(words).echo(options=words.options) as stream:
            for word in words.arguments:
                await stream.write(word)
            await stream.done_writing()
            write = outcome(await ended(stream.write("late")))
            values: list[str] = []
            end = await taken(stream, values)
        return {"values": values, "write": write, "end": end}

    async def stall(self, words: Words) -> Json:
        to = self._at(words)
        stream = to.count(words.numbers[0], words.numbers[0], options=words.options)
        first = await anext(stream)
        meanwhile = outcome(await ended(to.twice(21)))
        values: list[int] = []
        end = await taken(stream, values)
        return {"first": first, "meanwhile": meanwhile, "count": len(values), "sum": sum(values), "end": end}

    async def cancel_reading(self, words: Words) -> Json:
        stream = self._at(words).echo(options=words.options)
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        stream.cancel()
        return outcome(await ended(reading))

    async def idle(self, words: Words) -> Json:
        stream = self._at(words).echo(options=words.options)
        return outcome(await ended(anext(stream)))

    async def log(self, words: Words) -> Json:
        return outcome(await ended(self._log(words)))

    async def _log(self, words: Words) -> list[str]:
        await self._wait_for_log(words.agent, words.numbers[0])
        to = self._at(words)
        log = await to.log()
        await to.clear()
        return log

    async def clear(self, words: Words) -> Json:
        return outcome(await ended(self._at(words).clear()))

    async def _wait_for_log(self, agent: str, events: int) -> None:
        until = time.monotonic() + PATIENCE
        while len(await self._stub.at(agent).log()) < events and time.monotonic() < until:
            await asyncio.sleep(0.001)

    async def cancel_call(self, words: Words) -> Json:
        """A task that is cancelled raises CancelledError, in place of the Error of C++."""
        call = asyncio.create_task(self._at(words).linger())
        await self._wait_for_log(words.agent, 1)
        call.cancel()
        try:
            return {"value": await call}
        except asyncio.CancelledError:
            return {"code": "CANCELLED"}

    async def close_client(self, words: Words) -> Json:
        other = self._open()
        stream = ShapesAsyncClient(other).at(words.agent).endless()
        first = await anext(stream)
        await other.close()
        return {"first": first, "end": await taken(stream, [])}
