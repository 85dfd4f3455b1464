"""client.py blocking|asyncio URL|light-plain|light-async: runs each line of standard input as a step, and
answers it with a line of JSON. cpp/client.cpp is the same in C++; table.py says the steps.
"""

import asyncio
import json
import os
import sys

from awaiting import Awaiting
from blocking import Blocking
from servants import ROOMS, AsyncRoom, PlainRoom
from through import interceptors
from words import Json, ManualClock, parse

import mf


def place(where: str) -> str | mf.Light:
    """The address of a server, or a Light that offers its rooms."""
    if not where.startswith("light-"):
        return where
    light = mf.Light()
    if where == "light-plain":
        for name in ROOMS:
            light.offer(
                PlainRoom(name, lambda: mf.Client(light, mf.ClientOptions(forward_metadata=("tenant",)))),
                agent=name,
            )
    else:
        for name in ROOMS:
            room = AsyncRoom(
                name, lambda: mf.AsyncClient(light, mf.ClientOptions(forward_metadata=("tenant",)))
            )
            light.offer(room, agent=name)
    return light


def tls(where: str | mf.Light) -> mf.Tls | None:
    """None where nothing is encrypted: `tls` with an address in clear is an error."""
    if not isinstance(where, str) or "tls://" not in where:
        return None
    ca, certificate, key = (os.environ.get(f"MF_PEER_{each}", "") for each in ("CA", "CERTIFICATE", "KEY"))
    return mf.Tls(ca=ca, certificate=certificate, key=key)


def options(where: str | mf.Light, time: ManualClock) -> mf.ClientOptions:
    return mf.ClientOptions(tls=tls(where), clock=time, wait_for_server=0.5, interceptors=interceptors())


def say(observed: Json) -> None:
    print(json.dumps(observed), flush=True)


async def await_each(where: str | mf.Light, time: ManualClock) -> None:
    caller = Awaiting(lambda: mf.AsyncClient(where, options(where, time)), time)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        words = parse(line)
        say(await getattr(caller, words.verb)(words))
    await caller.close()


def main() -> None:
    kind, where = sys.argv[1:]
    time = ManualClock()
    if kind == "asyncio":
        asyncio.run(await_each(place(where), time))
        return
    to = place(where)
    caller = Blocking(lambda: mf.Client(to, options(to, time)), time)
    for line in sys.stdin:
        words = parse(line)
        say(getattr(caller, words.verb)(words))


main()
