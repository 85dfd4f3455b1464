"""`mf_server.py`: one servant, whose handlers run where the request was read, as quick handlers do.

`mf_server.py async`: the same as tasks of an asyncio loop.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Iterator

import mf
from pyrpc.commands import VALUE_SIZE, serve_until_stdin_ends

stubs = importlib.import_module("bench")  # generated when the bench runs
MAX_PAYLOAD = 1 << 25


class Servant(stubs.BenchServant):  # type: ignore[misc, name-defined]
    mf_arrays = True

    def next(self, x: int) -> int:
        return x + 1

    def look_up(self, id: int, name: str) -> int:  # noqa: A002 - the schema's name
        return id + len(name)

    def look_up_all(self, items: list[stubs.Item]) -> list[int]:  # type: ignore[name-defined]
        return [item.id + len(item.name) for item in items]

    def known(self, id: int, name: str) -> int:  # noqa: A002 - the schema's name
        return id + len(name)

    def echo(self, data: bytes) -> bytes:
        return data

    def echo_list(self, values: list[float]) -> list[float]:
        return values

    def echo_view(self, values: list[float]) -> list[float]:
        return values

    def scan(self, count: int) -> Iterator[bytes]:
        value = bytes(VALUE_SIZE)
        for _ in range(count):
            yield value

    def load(self, values: Iterator[bytes]) -> int:
        return sum(len(value) == VALUE_SIZE for value in values)

    def linger(self) -> Iterator[bool]:
        yield True

    def noticed(self) -> int:
        raise mf.Error(mf.Code.UNKNOWN_METHOD, "only the server in C++ measures this")


class AsyncServant(stubs.BenchAsyncServant):  # type: ignore[misc, name-defined]
    async def next(self, x: int) -> int:
        return x + 1

    async def look_up(self, id: int, name: str) -> int:  # noqa: A002 - the schema's name
        return id + len(name)

    async def look_up_all(self, items: list[stubs.Item]) -> list[int]:  # type: ignore[name-defined]
        return [item.id + len(item.name) for item in items]

    async def known(self, id: int, name: str) -> int:  # noqa: A002 - the schema's name
        return id + len(name)

    async def echo(self, data: bytes) -> bytes:
        return data

    async def echo_list(self, values: list[float]) -> list[float]:
        return values

    async def echo_view(self, values: list[float]) -> list[float]:
        return values

    async def scan(self, count: int) -> AsyncIterator[bytes]:
        value = bytes(VALUE_SIZE)
        for _ in range(count):
            yield value

    async def load(self, values: AsyncIterator[bytes]) -> int:
        return sum([len(value) == VALUE_SIZE async for value in values])

    async def linger(self) -> AsyncIterator[bool]:
        yield True

    async def noticed(self) -> int:
        raise mf.Error(mf.Code.UNKNOWN_METHOD, "only the server in C++ measures this")


async def _serve_on_a_loop() -> None:
    server = mf.AsyncServer(options=mf.ServerOptions(max_payload=MAX_PAYLOAD, max_in_flight=1 << 17))
    server.offer(AsyncServant())
    async with server:
        await asyncio.to_thread(serve_until_stdin_ends, _port(server.address))


def _serve() -> None:
    server = mf.Server(options=mf.ServerOptions(max_payload=MAX_PAYLOAD, max_in_flight=1 << 17))
    server.offer(Servant(), inline=True)
    server.start()
    serve_until_stdin_ends(_port(server.address))
    server.stop()


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


if __name__ == "__main__":
    if sys.argv[1:] == ["async"]:
        asyncio.run(_serve_on_a_loop())
    else:
        _serve()
