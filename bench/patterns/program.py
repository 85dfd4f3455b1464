"""The processes of the bench on loopback: a replica, or the client, which hears on its standard input what to
send.

program.py replica CONTROLLER MEMBER a,b,c
program.py client CONTROLLER
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import mf


def replica(controller: str, member: str, members: str) -> None:
    from sink import SinkServant  # type: ignore[import-not-found]  # made by the bench from patterns.mfidl

    class Sink(SinkServant):  # type: ignore[misc]
        def nothing(self, version: mf.Version, request: Any) -> None:
            """The seed's servers do nothing with a message either."""

        on_apply_no_versioning = on_apply_version_request = on_apply_message_returns_version = nothing
        on_apply_one_hop = on_apply_one_hop_ack_client = on_apply_wait_for_version = nothing
        on_apply_chain = nothing

    with mf.Replica(Sink(), controller, member=member, members=members.split(",")) as running:
        print(json.dumps(running.until_serving(60.0)), flush=True)
        sys.stdin.read()


async def client(controller: str) -> None:
    from sink import SinkAsyncClient

    loop = asyncio.get_running_loop()
    async with mf.AsyncClient(controller) as there:
        sink = SinkAsyncClient(there)
        print("ready", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            pattern, size, window, count = line.split()
            send, data, left = getattr(sink, pattern), bytes(int(size)), int(count)
            options = mf.ReplicatedOptions(require=mf.Require.ALL)

            async def sender() -> None:
                nonlocal left
                while left > 0:
                    left -= 1
                    await send(data, options=options)  # noqa: B023

            began = time.perf_counter()
            await asyncio.gather(*(sender() for _ in range(int(window))))
            print(json.dumps(time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "replica":
        replica(*sys.argv[2:])
    else:
        asyncio.run(client(*sys.argv[2:]))
