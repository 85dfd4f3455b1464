"""A peer: the same works over pycapnp, which runs on a loop of asyncio at both ends."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from pyrpc.commands import Metrics, Run, quantiles
from pyrpc.peers.works import AHEAD, BIG, check, main, obey, works

T = TypeVar("T")
capnp: Any = importlib.import_module("capnp")
capnp.remove_import_hook()
_SCHEMA = Path(__file__).parents[2] / "rpc" / "peers" / "bench.capnp"
schema: Any = capnp.load(str(_SCHEMA), imports=[str(Path(capnp.__file__).parent), "/usr/include"])
_LIMIT = {"traversal_limit_in_words": 1 << 40}


class _Servant(schema.Bench.Server):  # type: ignore[misc]
    async def next(self, x: int, **_: Any) -> int:
        return x + 1

    async def lookUp(self, id: int, name: str, **_: Any) -> int:  # noqa: A002, N802 - the names of the schema
        return id + len(name)

    async def lookUpAll(self, items: Any, **_: Any) -> list[int]:  # noqa: N802
        return [item.id + len(item.name) for item in items]

    async def echo(self, data: bytes, **_: Any) -> bytes:
        return data


async def _served(stream: Any) -> None:
    await capnp.TwoPartyServer(stream, bootstrap=_Servant(), **_LIMIT).on_disconnect()


async def _serve_on_loop() -> None:
    server = await capnp.AsyncIoStream.create_server(_served, "127.0.0.1", 0)
    async with server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def _serve() -> None:
    asyncio.run(capnp.run(_serve_on_loop()))


async def _chain(stub: Any, numbers: Iterator[tuple[int, str]]) -> None:
    for i, name in numbers:
        check((await stub.lookUp(i, name)).x == i + 16)


async def _many(stub: Any, names: Sequence[str]) -> None:
    numbers = iter(enumerate(names))
    await asyncio.gather(*[_chain(stub, numbers) for _ in range(AHEAD)])


async def _all(stub: Any, names: Sequence[str]) -> Sequence[int]:
    request = stub.lookUpAll_request()
    items = request.init("items", len(names))
    for i, name in enumerate(names):
        items[i].id = i
        items[i].name = name
    return list((await request.send()).x)


async def _following(stub: Any, i: int) -> None:
    check((await stub.next(i)).x == i + 1)


async def _echo(stub: Any, data: bytes) -> None:
    check(len((await stub.echo(data)).data) == len(data))


async def _one_by_one(count: int, call: Callable[[int], Awaitable[None]]) -> Metrics:
    times = []
    for i in range(count):
        before = perf_counter()
        await call(i)
        times.append(perf_counter() - before)
    return quantiles(times)


def _call(port: str) -> None:
    def run(calls: Callable[[Any], Awaitable[T]]) -> T:
        """Runs on its own loop, whose connection is made within the measured time."""

        async def connected() -> T:
            stream = await capnp.AsyncIoStream.create_connection("127.0.0.1", int(port))
            return await calls(capnp.TwoPartyClient(stream, **_LIMIT).bootstrap().cast_as(schema.Bench))

        answer: T = asyncio.run(capnp.run(connected()))
        return answer

    def unary(count: int) -> Run:
        return lambda: run(lambda stub: _one_by_one(count, lambda i: _following(stub, i)))

    def echoes(count: int) -> Run:
        def go() -> Metrics:
            metrics = run(lambda stub: _one_by_one(count, lambda _: _echo(stub, bytes(BIG))))
            return {**metrics, "mb_per_s": BIG / metrics["median_us"]}

        return go

    made = works(
        lambda x: x,
        lambda names: run(lambda stub: _many(stub, names)),
        lambda names: run(lambda stub: _all(stub, names)),
        len,
    )
    obey({**made, "unary_int": unary, "echo_16mib": echoes})


if __name__ == "__main__":
    main(_serve, _call)
