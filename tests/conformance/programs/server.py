"""server.py plain|async LISTEN [CONTROLLER]: serves the rooms red and blue, on threads or on the loop of
asyncio, prints its addresses, and ends at SIGTERM. tests/cpp/support/peer_options.hpp lists what it takes
from its environment."""

import asyncio
import logging
import os
import sys

from servants import ROOMS, AsyncRoom, PlainRoom
from through import interceptors

import mf


def options(listen: str) -> mf.ServerOptions:
    ca, certificate, key = (os.environ.get(f"MF_PEER_{each}", "") for each in ("CA", "CERTIFICATE", "KEY"))
    shown = mf.Tls(ca=ca, certificate=certificate, key=key) if "tls://" in listen else None
    access = os.environ.get("MF_PEER_ACCESS", "")
    return mf.ServerOptions(tls=shown, access=access, interceptors=interceptors())


def serve(listen: str, controller: str | None) -> None:
    server = mf.Server(listen, controller, options(listen))
    opened: list[mf.Client] = []
    for name in ROOMS:
        server.offer(PlainRoom(name, lambda: opened[0]), agent=name)
    server.start()
    opened.append(mf.Client(server.address, mf.ClientOptions(forward_metadata=("tenant",))))
    print(*server.addresses, flush=True)
    server.run()


async def serve_on_the_loop(listen: str, controller: str | None) -> None:
    server = mf.AsyncServer(listen, controller, options(listen))
    opened: list[mf.AsyncClient] = []
    for name in ROOMS:
        server.offer(AsyncRoom(name, lambda: opened[0]), agent=name)
    await server.start()
    async with mf.AsyncClient(server.address, mf.ClientOptions(forward_metadata=("tenant",))) as client:
        opened.append(client)
        print(*server.addresses, flush=True)
        await server.serve()


def main() -> None:
    logging.basicConfig()
    kind, listen, controller = (*sys.argv[1:], "")[:3]
    if kind == "plain":
        serve(listen, controller or None)
    else:
        asyncio.run(serve_on_the_loop(listen, controller or None))


main()
