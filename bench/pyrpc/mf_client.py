"""`mf_client.py PORT`: the works through generated stubs, all with the default deadline of 30 s."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import repeat
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

import mf
from pyrpc.commands import (
    VALUE_SIZE,
    Metrics,
    Run,
    all_at_once,
    check,
    echoes,
    name_of,
    obey,
    one_by_one,
    quantiles,
    streamed,
)

T = TypeVar("T")
stubs: Any = importlib.import_module("bench")  # generated when the bench runs
_MAX_PAYLOAD = 1 << 25
_AHEAD = 1024  # number of awaited calls under way at once


class _Works:
    def __init__(self, stub: Any, where: str) -> None:
        self._stub = stub
        self._where = where

    def _awaited(self, calls: Callable[[Any], Awaitable[T]]) -> T:
        """Runs on its own loop, with its own client, whose connection is made within the measured time."""

        async def run() -> T:
            async with mf.AsyncClient(self._where, mf.ClientOptions(max_payload=_MAX_PAYLOAD)) as client:
                return await calls(stubs.BenchAsyncClient(client))

        return asyncio.run(run())

    def unary(self, count: int) -> Run:
        stub = self._stub
        return lambda: one_by_one(count, lambda i: check(stub.next(i) == i + 1))

    def cached_hit(self, count: int) -> Run:
        """A hundred calls whose results are cached, again and again."""
        names = [name_of(i) for i in range(100)]

        def call(i: int) -> None:
            check(self._stub.known(i % 100, names[i % 100]) == i % 100 + 16)

        for i in range(100):
            call(i)
        return lambda: one_by_one(count, call)

    def awaited(self, count: int) -> Run:
        names = [name_of(i) for i in range(count)]

        async def chain(stub: Any, numbers: Iterator[int]) -> None:
            for i in numbers:
                check(await stub.look_up(i, names[i]) == i + 16)

        async def calls(stub: Any) -> None:
            numbers = iter(range(count))
            await asyncio.gather(*[chain(stub, numbers) for _ in range(_AHEAD)])

        return lambda: all_at_once(count, lambda: self._awaited(calls))

    def awaited_unary(self, count: int) -> Run:
        async def calls(stub: Any) -> Metrics:
            times: list[float] = []
            before = perf_counter()
            for i in range(count):
                check(await stub.next(i) == i + 1)
                after = perf_counter()
                times.append(after - before)
                before = after
            return quantiles(times)

        return lambda: self._awaited(calls)

    def _requests(self, count: int) -> list[Any]:
        return [stubs.BenchLookUpRequest(i, name_of(i)) for i in range(count)]

    @staticmethod
    def _check(outcomes: list[Any]) -> None:
        for i, outcome in enumerate(outcomes):
            check(outcome.value() == i + 16)

    def message_batch(self, count: int) -> Run:
        requests = self._requests(count)
        return lambda: all_at_once(count, lambda: self._check(self._stub.look_up_batch(requests).results()))

    def application_batch(self, count: int) -> Run:
        requests = self._requests(count)
        return lambda: all_at_once(count, lambda: self._check(self._stub.look_up_bulk(requests)))

    def echo(self, count: int, size: int) -> Run:
        data = bytes(size)
        return lambda: echoes(count, size, lambda: check(len(self._stub.echo(data)) == size))

    def echo_array(self, count: int, size: int) -> Run:
        """From an array of numpy to the peer, and back as one."""
        values: Any = np.arange(float(size))
        options = mf.CallOptions(arrays=True)

        def echo() -> None:
            check(len(self._stub.echo_list(values, options=options)) == size)

        return lambda: echoes(count, size * values.itemsize, echo)

    def server_stream(self, count: int) -> Run:
        def read() -> None:
            check(sum(len(value) == VALUE_SIZE for value in self._stub.scan(count)) == count)

        return lambda: streamed(count, read)

    def awaited_server_stream(self, count: int) -> Run:
        async def read(stub: Any) -> None:
            got = 0
            async for value in stub.scan(count):
                got += len(value) == VALUE_SIZE
            check(got == count)

        return lambda: streamed(count, lambda: self._awaited(read))

    def client_stream(self, count: int) -> Run:
        values = [bytes(VALUE_SIZE)] * count
        return lambda: streamed(count, lambda: check(self._stub.load(values) == count))

    def client_stream_of_iterator(self, count: int) -> Run:
        """An iterator may block before its next value, so values are not gathered as those of a list are."""
        value = bytes(VALUE_SIZE)
        return lambda: streamed(count, lambda: check(self._stub.load(repeat(value, count)) == count))

    def awaited_client_stream(self, count: int) -> Run:
        value = bytes(VALUE_SIZE)

        async def values() -> AsyncIterator[bytes]:
            for _ in range(count):
                yield value

        async def write(stub: Any) -> None:
            check(await stub.load(values()) == count)

        return lambda: streamed(count, lambda: self._awaited(write))


def main(port: str) -> None:
    where = f"tcp://127.0.0.1:{port}"
    client = mf.Client(where, mf.ClientOptions(max_payload=_MAX_PAYLOAD))
    works = _Works(stubs.BenchClient(client), where)
    obey(
        {
            "unary_int": works.unary,
            "cached_hit": works.cached_hit,
            "unary_int/async": works.awaited_unary,
            "independent_100k/async": works.awaited,
            "independent_100k/message": works.message_batch,
            "batch_100k": works.application_batch,
            "server_stream_100b": works.server_stream,
            "server_stream_100b/async": works.awaited_server_stream,
            "client_stream_100b": works.client_stream,
            "client_stream_100b/iterator": works.client_stream_of_iterator,
            "client_stream_100b/async": works.awaited_client_stream,
            "echo_16mib": lambda count: works.echo(count, 1 << 24),
            "array_1m_f64": lambda count: works.echo_array(count, 1_000_000),
        }
    )
    client.close()


if __name__ == "__main__":
    main(sys.argv[1])
