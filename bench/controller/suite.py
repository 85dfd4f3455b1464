"""What `make bench-controller` runs: registrations and look-ups per second at a controller on one core, how
long a change takes to reach a thousand watchers, how much of its memory a watcher costs (main.cpp describes
the works), and what its dashboard costs at a thousand processes and ten changes a second; and what the
registry costs at the size of docs/scale.md, without sockets (scale.cpp)."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import statistics
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from harness.child import BenchError, Child, output_of
from harness.rows import Samples

NAME = "controller"
CHART = {
    "register": "requests_per_s",
    "look_up": "requests_per_s",
    "push_1000": "ms",
    "dashboard_page": "core_percent",
}

_LIMIT_SECONDS = 120.0
_END_SECONDS = 20.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PLACEMENT = "controller on one core"
_WITHOUT_SOCKETS = "registry alone"
_SCALE = (  # name, watchers, instances, services, changes
    ("scale_spread", 100_000, 10_000, 1_000, 2_000),
    ("scale_one_service", 100_000, 10, 1, 20),
    ("scale_instances", 100_000, 100_000, 10_000, 2_000),
)


def run(build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    for name in ("mf-controller", "bench/bench-controller", "bench/bench-controller-scale"):
        binary = build / name
        if not binary.exists():
            raise BenchError(f"{binary} is not there; `make bench-controller` builds it")
    for _ in range(1 if quick else 5):
        for work, count in (("register", 10_000), ("look_up", 20_000 if quick else 100_000)):
            seconds, used = _measured(build, work, count)
            of_one = {"server_cpu_us_per_request": used / count * 1e6} if work == "register" else {}
            samples.add(work, _PLACEMENT, "mf", {"requests_per_s": count / seconds[0], **of_one})
        times, _used = _measured(build, "push", 20)
        samples.add("push_1000", _PLACEMENT, "mf", {"ms": statistics.median(times), "p99_ms": max(times)})
        for work, count in (("connect", 500), ("watch", 5_000)):
            samples.add(work, _PLACEMENT, "mf", {"kb": _memory_of_one(build, work, count)})
        for name, pages in (("dashboard_off", None), ("dashboard_idle", 0), ("dashboard_page", 1)):
            percent = _dashboard(build, 50 if quick else 200, pages)
            samples.add(name, _PLACEMENT, "mf", {"core_percent": percent})
        for name, *size in _SCALE:
            samples.add(name, _WITHOUT_SOCKETS, "mf", _scale(build, size))


def _measured(build: Path, work: str, count: int) -> tuple[list[float], float]:
    """The program's output, and the seconds of processor time that the controller used."""
    cores = sorted(os.sched_getaffinity(0))
    rest = set(cores[1:]) or set(cores)
    with (
        _controller(build, {cores[0]}) as (url, pid, _),
        Child([str(build / "bench/bench-controller"), url, work, str(count)], rest) as client,
    ):
        before = _processor_seconds(pid)
        answer = [float(word) for word in client.hear(_LIMIT_SECONDS).split()]
        return answer, _processor_seconds(pid) - before


def _memory_of_one(build: Path, work: str, count: int) -> float:
    """KB of the controller's memory for each connected watcher."""
    cores = sorted(os.sched_getaffinity(0))
    rest = set(cores[1:]) or set(cores)
    with _controller(build, {cores[0]}) as (url, pid, _):
        before = _memory(pid)
        with Child([str(build / "bench/bench-controller"), url, work, str(count)], rest) as client:
            client.hear(_LIMIT_SECONDS)
            return (_memory(pid) - before) / count


def _dashboard(build: Path, changes: int, pages: int | None) -> float:
    """The part of a core that the controller uses while its registry changes, with so many open pages; None:
    it serves no dashboard."""
    cores = sorted(os.sched_getaffinity(0))
    rest = set(cores[1:]) or set(cores)
    options = () if pages is None else ("--dashboard", "127.0.0.1:0")
    with (
        _controller(build, {cores[0]}, *options) as (url, pid, dashboard),
        Child([str(build / "bench/bench-controller"), url, "change", str(changes)], rest) as client,
        contextlib.ExitStack() as readers,
    ):
        client.hear(_LIMIT_SECONDS)
        for _ in range(pages or 0):
            readers.enter_context(_page(dashboard))
        before = _processor_seconds(pid)
        client.say("go on")
        seconds = float(client.hear(_LIMIT_SECONDS))
        return (_processor_seconds(pid) - before) / seconds * 100


@contextlib.contextmanager
def _page(address: str) -> Iterator[None]:
    """A reader of the events, once it has everything."""
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port), _LIMIT_SECONDS) as page:
        page.sendall(f"GET /events HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
        begun = b""
        while b"event: all" not in begun:
            more = page.recv(1 << 16)
            if not more:
                raise BenchError(f"the dashboard at {address} answers {begun.decode()}")
            begun += more

        def read() -> None:
            while page.recv(1 << 16):
                pass

        reader = threading.Thread(target=read)
        reader.start()
        yield
        page.shutdown(socket.SHUT_RDWR)
        reader.join()


def _memory(pid: int) -> int:
    """Resident memory in KB."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def _scale(build: Path, size: list[int]) -> dict[str, float | None]:
    command = [str(build / "bench/bench-controller-scale"), *map(str, size)]
    answer = output_of(command, _LIMIT_SECONDS)
    instance, watcher, told, change, _alone, value, *_snapshot = map(float, answer.split())
    return {
        "instance_bytes": instance,
        "watcher_bytes": watcher,
        "told": told,
        "cpu_us_per_change": change,
        "bytes": value,
    }


@contextlib.contextmanager
def _controller(build: Path, cores: set[int], *options: str) -> Iterator[tuple[str, int, str]]:
    """Its address, its process, and the address of its dashboard if the options ask for one."""
    command = [str(build / "mf-controller"), "--listen", "tcp://127.0.0.1:0", "--log-level", "off", *options]
    with Child(command, cores) as child:
        url = "tcp" + child.hear(_END_SECONDS).removeprefix("mf")
        yield url, child.pid, child.hear(_END_SECONDS) if options else ""
        child.signal(signal.SIGTERM)
        child.wait(_END_SECONDS)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
