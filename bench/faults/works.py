"""The works of `make bench-faults`. Each is a function that takes a system, causes its fault once and returns
its rows. A further work is a function here, or in a file beside this one, and a line in suite.py.
"""

from __future__ import annotations

import signal
import time
from typing import Any

from faults.system import Caller, Scene, System

Found = dict[str, float | None]
THREADS = 4


def controller_away(system: System, quick: bool) -> Found | None:
    """The controller is killed under load, and comes back."""
    if not system.controller:
        return None
    with Scene(system) as scene:
        controller = scene.controller()
        servers = [scene.server(controller=controller) for _ in range(2)]
        client = scene.client(controller.address)
        client.ask(f"load {THREADS}")
        client.ask("report")
        controller.kill()
        controller.wait()
        time.sleep(10 if quick else 60)
        scene.controller(controller.address.replace("mf:", "tcp:"))
        servers[0].kill(signal.SIGTERM)  # the new controller has servers[1] only if that registered again
        time.sleep(2)
        return _counts(client.ask("report"))


def replica_killed(system: System, quick: bool) -> Found | None:
    """Kills one of two servers under load: the longest time that a thread was without an answer."""
    gaps: list[float] = []
    with Scene(system) as scene:
        servers = [scene.server() for _ in range(2)]
        client = scene.client(",".join(server.address for server in servers))
        client.ask(f"load {THREADS}")
        for number in range(5 if quick else 25):
            time.sleep(0.5)
            client.ask("report")
            victim = servers[number % 2]
            victim.kill()
            victim.wait()
            time.sleep(1.0)
            gaps += client.ask("report")["gaps_ms"]
            servers[number % 2] = scene.server(victim.address)
            time.sleep(1.5)
    gaps.sort()
    return {"ms": gaps[len(gaps) // 2], "p99_ms": gaps[len(gaps) - 1 - len(gaps) // 100]}


def same_server_back(system: System, quick: bool) -> Found | None:
    """Kills the only server under load, and starts it at its address again after two seconds: the time from
    when it listens until each thread has an answer."""
    del quick
    with Scene(system) as scene:
        server = scene.server()
        client = scene.client(server.address)
        client.ask(f"load {THREADS}")
        client.ask("report")
        server.kill()
        server.wait()
        time.sleep(2.0)
        again = scene.server(server.address)
        back = _await_back(client)
        return {"ms": (back - again.since_ns) / 1e6}


def server_stopped(system: System, quick: bool) -> Found | None:
    """Calls a stopped server, with a deadline of 30 s (quick: 15 s): the time until the call fails."""
    with Scene(system) as scene:
        server = scene.server()
        client = scene.client(server.address)
        client.ask("one 5")
        server.kill(signal.SIGSTOP)
        return {"ms": client.ask(f"one {15 if quick else 30}")["ms"]}


def herd_back(system: System, quick: bool) -> Found | None:
    """Kills the server of a thousand clients and starts it again: the time from when it listens until the
    last of them has an answer."""
    del quick
    with Scene(system) as scene:
        server = scene.server()
        client = scene.client(server.address)
        client.ask("herd 1000")
        server.kill()
        server.wait()
        time.sleep(1.0)
        again = scene.server(server.address)
        back = client.ask("back")["back_ns"]
        return {"ms": (back - again.since_ns) / 1e6}


def rolling_restart(system: System, quick: bool) -> Found | None:
    """Sends SIGTERM to three servers, one after another, under load; another one has started before."""
    with Scene(system) as scene:
        controller = scene.controller() if system.controller else None
        servers = [scene.server(controller=controller) for _ in range(3)]
        address = controller.address if controller else ",".join(each.address for each in servers)
        client = scene.client(address)
        client.ask(f"load {THREADS}")
        client.ask("report")
        for number in range(3 if quick else 9):
            old = servers[number % 3]
            if controller:
                servers[number % 3] = scene.server(controller=controller)
                time.sleep(0.3)
            old.kill(signal.SIGTERM)
            old.wait()
            if not controller:  # its clients know no other address
                servers[number % 3] = scene.server(old.address)
            time.sleep(1.0)
        return _counts(client.ask("report"))


def _counts(report: dict[str, Any]) -> Found:
    if report["failed"]:
        print(f"bench: the first of {report['failed']} failed calls: {report['first']}", flush=True)
    return {
        "failed_calls": report["failed"],
        "calls": report["calls"],
        "longest_gap_ms": max(report["gaps_ms"]),
    }


def _await_back(client: Caller) -> int:
    """When the last thread that met a failure had an answer again."""
    back = 0
    for _ in range(600):
        time.sleep(0.1)
        report = client.ask("report")
        back = max(back, int(report["back_ns"]))
        if back and not report["failed"] and report["calls"]:
            return back
    raise RuntimeError("the clients never came back")
