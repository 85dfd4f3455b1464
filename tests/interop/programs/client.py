"""client.py (URL | light) WAIT: obeys the lines of its standard input, and ends with it.

    script direct|mf|light   the script of calls, a line a check
    who ROOM                 one call
    on ROOM,ROOM             one scattered call; `everywhere` asks all rooms that are known
    slow ROOM                a call that takes as long as it may, 30 s
    slow_on ROOM,ROOM        one such call, scattered, for 5 s
    slow_batch COUNT         as many such items for the room red, a message each, at most four under way; the
                             first of them ends at once
    begin ROOM, end          calls one after the other, on a thread; how many there were and how many failed

WAIT: how many seconds a call waits for a server that was never seen. Answers are lines of JSON; the last one
of each command is {"done": true}. cpp/client.cpp is the same in C++.
"""

import sys
from functools import partial
from threading import Event, Thread

from checks import outcome_of, say
from interop import ShapesClient, ShapesSlowRequest
from script import ROOMS, Script
from servant import Room

import mf


class Caller:
    """Calls one room again and again. The method is not idempotent, so no failure is hidden by a retry."""

    def __init__(self, to: ShapesClient) -> None:
        self._to = to
        self._stop = Event()
        self._calls = self._failed = 0
        self._first = ""
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.001):
            ended = outcome_of(lambda: self._to.in1_out1(self._calls))
            self._calls += 1
            if not ended.ok or ended.value() != (self._calls - 1) * 1_000_000_007:
                self._failed += 1
                self._first = self._first or repr(ended)

    def end(self) -> None:
        self._stop.set()
        self._thread.join(30.0)
        say({"calls": self._calls, "failed": self._failed, "detail": self._first})


def tell(room: str, ended: mf.Outcome[str]) -> None:
    code = ended.error.code.name if isinstance(ended.error, mf.Error) else ""
    execution = ended.error.execution.name if isinstance(ended.error, mf.Error) else ""
    right = ended.ok and ended.value() == room
    say(
        {
            "room": room,
            "ok": right,
            "code": code,
            "execution": execution,
            "detail": str(ended.error or ""),
        }
    )


def tell_all(scattered: mf.Outcome[mf.Scattered[str, str]]) -> None:
    if not scattered.ok:
        tell("", mf.Outcome(error=scattered.error))
        return
    for agent, ended in scattered.value().items():
        tell(agent, ended)


def slowly(to: ShapesClient) -> str:
    to.slow(60_000, options=mf.CallOptions(deadline=30.0))
    return ""


def without_value(ended: mf.Outcome[int]) -> mf.Outcome[str]:
    return mf.Outcome("") if ended.ok else mf.Outcome(error=ended.error)


def tell_scattered_slowly(stub: ShapesClient, rooms: str) -> None:
    scattered = stub.on(rooms.split(",")).slow(60_000, options=mf.CallOptions(deadline=5.0))
    for agent, ended in scattered.items():
        tell(agent, without_value(ended))


def tell_batch_slowly(stub: ShapesClient, count: int) -> None:
    items = [ShapesSlowRequest(0), *(ShapesSlowRequest(60_000) for _ in range(count - 1))]
    batch = stub.slow_batch(items, options=mf.BatchOptions(deadline=30.0, size=1, window=4))
    for ended in batch.results():
        tell("", without_value(ended))


def place(where: str) -> str | mf.Light:
    if where != "light":
        return where
    light = mf.Light()
    for name in ROOMS:
        light.offer(Room(name), agent=name)
    return light


def main() -> None:
    where = place(sys.argv[1])
    client = mf.Client(where, mf.ClientOptions(wait_for_server=float(sys.argv[2])))
    stub = ShapesClient(client)
    caller: Caller | None = None
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "script":
            Script(client, where, argument).run()
        elif command == "who":
            tell(argument, outcome_of(stub.at(argument).who))
        elif command == "slow":
            tell(argument, outcome_of(partial(slowly, stub.at(argument))))
        elif command == "slow_on":
            tell_scattered_slowly(stub, argument)
        elif command == "slow_batch":
            tell_batch_slowly(stub.at("red"), int(argument))
        elif command == "on":
            tell_all(outcome_of(stub.on(argument.split(",")).who))
        elif command == "everywhere":
            tell_all(outcome_of(stub.everywhere().who))
        elif command == "begin":
            caller = Caller(stub.at(argument))
        elif command == "end" and caller is not None:
            caller.end()
        else:
            raise SystemExit(f"client.py: {line.strip()!r} is no command")
        say({"done": True})
    client.close()


main()
