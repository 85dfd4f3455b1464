"""A peer: the same works over Ice, whose Python package is Debian's, so that Debian's Python runs it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from threading import Semaphore
from typing import Any

from pyrpc.commands import serve_until_stdin_ends
from pyrpc.peers.works import AHEAD, check, main, obey, works

Ice: Any = importlib.import_module("Ice")
_SLICE = Path(__file__).parents[2] / "rpc" / "peers" / "bench.ice"


def _stubs() -> Any:
    Ice.loadSlice(str(_SLICE))
    return importlib.import_module("BenchIce")


def _communicator() -> Any:
    data = Ice.InitializationData()
    data.properties = Ice.createProperties()
    data.properties.setProperty("Ice.MessageSizeMax", "65536")  # KB
    return Ice.initialize(data)


def _serve() -> None:
    stubs = _stubs()

    class Servant(stubs.Bench):  # type: ignore[misc, name-defined]
        def next(self, x: int, _: Any) -> int:
            return x + 1

        def lookUp(self, id: int, name: str, _: Any) -> int:  # noqa: A002, N802 - the names of the schema
            return id + len(name)

        def lookUpAll(self, items: Sequence[Any], _: Any) -> list[int]:  # noqa: N802
            return [item.id + len(item.name) for item in items]

        def echo(self, data: bytes, _: Any) -> bytes:
            return data

    ice = _communicator()
    adapter = ice.createObjectAdapterWithEndpoints("bench", "tcp -h 127.0.0.1")
    adapter.add(Servant(), Ice.stringToIdentity("bench"))
    adapter.activate()
    serve_until_stdin_ends(adapter.getEndpoints()[0].getInfo().port)
    ice.destroy()


def _call(port: str) -> None:
    stubs = _stubs()
    ice = _communicator()
    stub = stubs.BenchPrx.uncheckedCast(ice.stringToProxy(f"bench:tcp -h 127.0.0.1 -p {port}"))

    def many(names: Sequence[str]) -> None:
        free = Semaphore(AHEAD)
        calls = []
        for i, name in enumerate(names):
            free.acquire()
            future = stub.lookUpAsync(i, name)
            future.add_done_callback(lambda _: free.release())
            calls.append(future)
        for i, future in enumerate(calls):
            check(future.result() == i + 16)

    def look_up_all(names: Sequence[str]) -> Sequence[int]:
        found: Sequence[int] = stub.lookUpAll([stubs.Item(i, name) for i, name in enumerate(names)])
        return found

    obey(works(lambda x: int(stub.next(x)), many, look_up_all, lambda data: len(stub.echo(data))))
    ice.destroy()


if __name__ == "__main__":
    main(_serve, _call)
