"""Twice as many calls as a server can run: how much of its peak it still gives, and how soon the others know
that they are refused. overload.cpp says what is done.
"""

from __future__ import annotations

from pathlib import Path

from faults.system import ANYWHERE, Scene, System

Found = dict[str, float | None]


def overload_2x(system: System, quick: bool) -> Found | None:
    """At a server with a limit. Ours in C++ alone."""
    return _measured(system, quick, limited=True)


def overload_2x_no_limit(system: System, quick: bool) -> Found | None:
    """The same without one, where calls wait until their deadlines."""
    return _measured(system, quick, limited=False)


def _measured(system: System, quick: bool, *, limited: bool) -> Found | None:
    if system.name != "mf":
        return None
    program = str(Path(system.server[0]).with_name("bench-faults-overload"))
    both = System("mf", [program, "server"], [program, "client"], env=system.env)
    with Scene(both) as scene:
        server = scene.start([*both.server, ANYWHERE, *([] if limited else ["none"])])
        answer = scene.client(server.address).ask(f"measure {2 if quick else 5}")
    found = {
        "peak_per_s": answer["peak"],
        "goodput_percent": 100.0 * answer["goodput"] / answer["peak"],
        "refused": answer["refused"],
    }
    if answer["refused"]:
        found["refused_p99_ms"] = answer["refused_p99_ms"]
    return found
