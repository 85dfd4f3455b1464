"""client.py blocking|asyncio URL|light-plain|light-async: runs each line of standard input as a step, and
answers it with a line of JSON. cpp/client.cpp is the same in C++; table.py says the steps.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from awaiting import Awaiting
from blocking import Blocking
from servants import KINDS, ROOMS
from words import Json, ManualClock, parse

import mf


def opener(where: str, now: Callable[[], float]) -> Callable[[], mf.Client]:
    if not where.startswith("light-"):
        tls = mf.Tls(ca=str(Path(os.environ["MF_TLS"]) / "ca.pem"))
        return lambda: mf.Client(where, tls=tls, clock=now)
    light = mf.Light()
    nested = mf.Client(light, forward_metadata=("tenant",))
    for name in ROOMS:
        light.offer(KINDS[where.removeprefix("light-")](name, lambda: nested), agent=name)
    return lambda: mf.Client(light, clock=now)


def say(observed: Json) -> None:
    print(json.dumps(observed), flush=True)


async def await_each(caller: Awaiting) -> None:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        words = parse(line)
        say(await getattr(caller, words.verb)(words))


def main() -> None:
    kind, where = sys.argv[1:]
    time = ManualClock()
    if kind == "asyncio":
        asyncio.run(await_each(Awaiting(opener(where, time), time)))
        return
    caller = Blocking(opener(where, time), time)
    for line in sys.stdin:
        words = parse(line)
        say(getattr(caller, words.verb)(words))


main()
