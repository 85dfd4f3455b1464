"""How long the calls of an innocent client take while another client attacks its server: first without an
attack, then during each attack of tests/hostile that keeps a server busy. The attacker has a process of its
own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from faults.system import Scene, System

Found = dict[str, float | None]
_NAMES = ("unread", "announced", "pings", "rapid_reset", "describes", "noise")


def _work(name: str) -> Callable[[System, bool], Found | None]:
    def attacked(system: System, quick: bool) -> Found | None:
        if not system.controller:
            return None  # a peer: these are attacks on our protocol
        seconds = 1 if quick else 3
        with Scene(system) as scene:
            server = scene.server()
            client = scene.client(server.address)
            client.ask("one 5")
            quiet = client.ask(f"sample {seconds}")
            attacker = [sys.executable, "-m", "tests.hostile.attacks", name]
            scene.start([*attacker, server.address, "bench_work.Work"])
            during = client.ask(f"sample {seconds}")
        return {
            "p99_us": during["p99_us"],
            "median_us": during["p50_us"],
            "quiet_p99_us": quiet["p99_us"],
            "failed_calls": quiet["failed"] + during["failed"],
        }

    attacked.__name__ = f"attacked_{name}"
    return attacked


ATTACKED = tuple(_work(name) for name in _NAMES)
