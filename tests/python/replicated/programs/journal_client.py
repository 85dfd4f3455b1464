"""Callers of the journal: each makes one call after the other, by all patterns, until "stop" comes on the
standard input. Each call's end is a line of JSON.

    journal_client.py CONTROLLER CALLERS NAME [more]

The method `more`, which only later.mfidl has, is among the patterns if they say so.
"""

import asyncio
import json
import sys
from itertools import count

import mf
from journal import JOURNAL_SERVICE, JournalAsyncClient


def patterns(more: bool) -> list[str]:
    """The names of the replicated methods whose messages have versions."""
    methods = [each.name for each in JOURNAL_SERVICE.methods if each.replicated is not None]
    return [each for each in methods if each != "no_versioning" and (more or each != "more")]


async def call_on(
    there: JournalAsyncClient, methods: list[str], caller: int, name: str, stop: asyncio.Event
) -> None:
    for number in count(1):
        if stop.is_set():
            return
        text = f"{name}.{caller}.{number}"
        try:
            done = await getattr(there, methods[(caller + number) % len(methods)])(text=text)
            epoch, counter = done.version
            ended = {"epoch": epoch, "counter": counter, "applied": len(done.applied)}
        except mf.Error as failure:
            ended = {"error": str(failure)}
        print(json.dumps({"text": text} | ended), flush=True)


async def main(controller: str, callers: str, name: str, *more: str) -> None:
    methods = patterns(bool(more))
    stop = asyncio.Event()
    stopping = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
    stopping.add_done_callback(lambda _: stop.set())
    async with mf.AsyncClient(controller) as client:
        there = JournalAsyncClient(client).at("a")
        await asyncio.gather(*(call_on(there, methods, each, name, stop) for each in range(int(callers))))
    print(json.dumps({"done": True}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
