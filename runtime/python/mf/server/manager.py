"""R5. What the service manager of a system (systemd) hears of a program: sd_notify(3), without its library.

Server.run() and AsyncServer.serve() say by themselves when they are ready, read files again, and stop. A
server under a watchdog (WatchdogSec=) gives its signs of life from the thread, or loop, that reads requests.
"""

import os
import socket
from contextlib import suppress

NEVER = float("inf")


def tell_manager(state: str) -> None:
    """Says it to the service manager: "READY=1", "STATUS=…", several with newlines between them. Does nothing
    without one (NOTIFY_SOCKET)."""
    where = os.environ.get("NOTIFY_SOCKET", "")
    if not where.startswith(("/", "@")):
        return
    address = "\0" + where[1:] if where.startswith("@") else where
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(state.encode(), address)


def watchdog_period() -> float:
    """How often, in seconds, the service manager wants a sign of life ("WATCHDOG=1") of this process;
    infinity: it wants none. It kills a process that gives none for twice this time."""
    microseconds, process = (os.environ.get(name, "") for name in ("WATCHDOG_USEC", "WATCHDOG_PID"))
    if not microseconds.isdecimal() or int(microseconds) == 0:
        return NEVER
    if process.isdecimal() and int(process) != os.getpid():
        return NEVER
    return int(microseconds) / 2e6
