"""finder_peer.py serve | call URL, with the stubs of one of the two finder.mfidl on PYTHONPATH.

A server says `find was called` if it ever is; a caller says, as lines of JSON, how its calls ended.
cpp/finder_peer.cpp is the same in C++.
"""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from checks import outcome_of, say
from finder import FinderAsyncClient, FinderClient, FinderFindRequest, FinderServant, Hit

import mf


class Finder(FinderServant):
    def find(self, word: str) -> list[Hit]:  # noqa: ARG002
        print("find was called", flush=True)
        return []

    def count(self, word: str) -> int:  # only one of the schemas has it
        return len(word)


def serve() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Finder())
    server.start()
    print(server.address, flush=True)
    server.run()


async def awaited(address: str) -> list[Hit]:
    async with mf.AsyncClient(address) as client:
        return await FinderAsyncClient(client).find("a")


def call(address: str) -> None:
    requests = [FinderFindRequest("a"), FinderFindRequest("b")]
    with mf.Client(address) as client:
        stub = FinderClient(client)
        ways: dict[str, Callable[[], Any]] = {
            "single": lambda: stub.find("a"),
            "async": lambda: asyncio.run(awaited(address)),
            "batch": lambda: [outcome.value() for outcome in stub.find_batch(requests).results()],
            "bulk": lambda: [outcome.value() for outcome in stub.find_bulk(requests)],
        }
        for mode, way in ways.items():
            error = outcome_of(way).error
            if isinstance(error, mf.Error):
                said = {"code": error.code.name, "execution": error.execution.name, "detail": error.message}
            else:
                said = {"code": "OK" if error is None else "DECLARED", "execution": "", "detail": ""}
            say({"mode": mode, **said})


if sys.argv[1] == "serve":
    serve()
else:
    call(sys.argv[2])
