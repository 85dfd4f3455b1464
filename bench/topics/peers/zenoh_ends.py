"""zenoh in `make bench-topics`, by its package for Python: `publisher`, `node PORT` and
`subscriber SUBSCRIBERS PORT` as in raw.cpp, driven as ends.hpp says. Its publisher waits for slow
subscribers; nodes are routers.
"""

from __future__ import annotations

import json
import select
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import zenoh

_HELLO = 2**64 - 1
_HEAD = 8
_KEY = "samples"
_PACE_NS = 200_000


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _session(mode: str, listen: int | None, connect: str | None) -> zenoh.Session:
    # Without gossip: with it a subscriber learns where the publisher is, and goes around the nodes.
    off = {"enabled": False}
    config: dict[str, object] = {"mode": mode, "scouting": {"multicast": off, "gossip": off}}
    config["listen"] = {"endpoints": [f"tcp/127.0.0.1:{listen}"] if listen else []}
    config["connect"] = {"endpoints": [f"tcp/127.0.0.1:{connect}"] if connect else []}
    return zenoh.open(zenoh.Config.from_json5(json.dumps(config)))


def _say(what: object) -> None:
    print(what, flush=True)


def publish() -> None:
    port = _free_port()
    with _session("peer", port, None) as session:
        publisher = session.declare_publisher(_KEY, congestion_control=zenoh.CongestionControl.BLOCK)
        _say(port)
        for line in sys.stdin:
            command, *numbers = line.split()
            if command == "hello":
                while not select.select([sys.stdin], [], [], 0.01)[0]:
                    publisher.put(_HELLO.to_bytes(_HEAD, "little"))
                continue
            size, count = map(int, numbers)
            rest = bytes([7]) * (size - _HEAD)
            began = at = time.monotonic_ns()
            for number in range(count):
                head = number.to_bytes(_HEAD, "little")
                if command == "pace":
                    at += _PACE_NS
                    time.sleep(max(at - time.monotonic_ns(), 0) / 1e9)
                    head += time.monotonic_ns().to_bytes(_HEAD, "little")
                    publisher.put(head + rest[_HEAD:])
                else:
                    publisher.put(head + rest)
            _say(json.dumps({"began_ns": began}))


class _Arrivals:
    """All subscriptions of this process."""

    def __init__(self, subscribers: int) -> None:
        self._changed = threading.Condition()
        self._met: set[int] = set()
        self._done = 0
        self._ended = 0
        self._next = [0] * subscribers
        self._size = self._count = 0
        self._timed = False
        self._us: list[float] = []

    def taker(self, which: int) -> Callable[[zenoh.Sample], None]:
        return lambda sample: self._take(which, sample.payload.to_bytes())

    def _take(self, which: int, message: bytes) -> None:
        number = int.from_bytes(message[:_HEAD], "little")
        if number == _HELLO:
            with self._changed:
                self._met.add(which)
                self._changed.notify_all()
            return
        if self._timed:
            sent = int.from_bytes(message[_HEAD : 2 * _HEAD], "little")
            self._us.append((time.monotonic_ns() - sent) / 1e3)
        expected = 0 if number == 0 else self._next[which]
        if number != expected or len(message) != self._size:
            _say("a message is lost, or comes out of order, or has another size")
        self._next[which] = number + 1
        if number + 1 == self._count:
            with self._changed:
                self._done += 1
                self._ended = time.monotonic_ns()
                self._changed.notify_all()

    def obey(self) -> None:
        for line in sys.stdin:
            command, *words = line.split()
            if command == "meet":
                with self._changed:
                    self._changed.wait_for(lambda: len(self._met) == len(self._next))
                _say("met")
                continue
            self._size, self._count, self._timed = int(words[0]), int(words[1]), len(words) > 2
            self._us = []
            self._done = 0
            _say("ready")
            with self._changed:
                self._changed.wait_for(lambda: self._done == len(self._next))
            figures: dict[str, float] = {"ended_ns": self._ended}
            if self._timed:
                figures["one_way_us"] = statistics.median(self._us)
            _say(json.dumps(figures))


def subscribe(subscribers: int, port: str) -> None:
    arrivals = _Arrivals(subscribers)
    with ExitStack() as stack:
        for which in range(subscribers):
            session = stack.enter_context(_session("client", None, port))
            session.declare_subscriber(_KEY, arrivals.taker(which))
        arrivals.obey()


def hand_on(port: str) -> None:
    own = _free_port()
    with _session("router", own, port):
        _say(own)
        sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1] == "publisher":
        publish()
    elif sys.argv[1] == "node":
        hand_on(sys.argv[2])
    else:
        subscribe(int(sys.argv[2]), sys.argv[3])
