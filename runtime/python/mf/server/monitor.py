"""R5. `Monitor`: whether a server lives, is ready, and what it does, by HTTP on a port of its own."""

import resource
import socket
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from mf.core.openmetrics import CONTENT_TYPE, OpenMetrics
from mf.core.version import runtime_version
from mf.server.base import BaseServer
from mf.server.durations import BOUNDS, Histogram
from mf.server.monitor_http import Answer, HttpThread

_MOST_METHODS: Final = 1_000
"""Further ones are one series, "other"."""
_CUTS: Final = ("handshakes", "progress", "memory", "protocol", "idle")
_STARTED: Final = time.time()

Check = Callable[[], str]


class Monitor:
    """Answers to GET by HTTP, from its construction until `close()`, on a thread of its own:

    `/livez`: 200. `/readyz`: 200, or 503 with one reason a line: the server has not started, is stopped, is
    not registered at one of its controllers, or one of `checks` has returned a reason. `/metrics`: text of
    OpenMetrics (docs/observability.md).

    `listen`: 'host:port'; port 0: the system chooses, see `address`. Requests whose Host header names another
    host are refused while this is a loopback address. From now on the server measures how long its calls
    take. Raises OSError if it cannot listen.
    """

    def __init__(
        self, server: BaseServer[Any, Any], listen: str = "127.0.0.1:0", checks: tuple[Check, ...] = ()
    ) -> None:
        host, _, port = listen.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f"a monitor listens at host:port, not at {listen!r}")
        self._server = server
        self._checks = checks
        server.measure()
        bare = host.strip("[]")
        family = socket.AF_INET6 if ":" in bare else socket.AF_INET
        listening = socket.create_server((bare, int(port)), family=family, backlog=64)
        self.address = f"{host}:{listening.getsockname()[1]}"
        """Where it listens, with the chosen port."""
        self._hosts = frozenset({"localhost", "127.0.0.1", "::1", bare}) if _is_loopback(bare) else None
        self._thread = HttpThread(listening, self._answer)

    def close(self) -> None:
        self._thread.close()

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, path: str, host: str) -> Answer:
        if self._hosts is not None and host not in self._hosts:
            return Answer(421, "this is another host\n")
        if path == "/livez":
            return Answer(200, "ok\n")
        if path == "/readyz":
            reasons = self.reasons()
            return Answer(503, "".join(f"{each}\n" for each in reasons)) if reasons else Answer(200, "ok\n")
        if path == "/metrics":
            return Answer(200, self.metrics(), CONTENT_TYPE)
        return Answer(404, "there is /livez, /readyz and /metrics\n")

    def reasons(self) -> list[str]:
        """Why the server is not ready; empty if it is."""
        found = self._server.not_ready()
        for check in self._checks:
            try:
                reason = check()
            except Exception as raised:
                reason = f"a check raised {type(raised).__name__}: {raised}"
            if reason:
                found.append(" ".join(reason.split()))
        return found

    def metrics(self) -> str:
        """What /metrics answers."""
        out = OpenMetrics()
        out.family("mf_build", "info", "The version of the runtime")
        out.sample("mf_build_info", 1, {"version": runtime_version(), "language": "python"})
        out.one("mf_server_ready", "gauge", "1 if /readyz says so", not self._server.not_ready())
        self._write_calls(out)
        self._write_connections(out)
        _write_process(out)
        return out.text()

    def _write_calls(self, out: OpenMetrics) -> None:
        stats = self._server.stats()
        counts: dict[tuple[str, str], list[int]] = {}
        for each in stats.methods:
            sums = counts.setdefault(_series(counts, each.service, each.method), [0, 0, 0, 0])
            for at, count in enumerate((each.executed, each.refused, each.expired, each.dropped)):
                sums[at] += count
        meanings = (
            ("executed", "Calls whose handlers were started; each item of a batch counts"),
            ("refused", "Calls that a limit refused as OVERLOADED"),
            ("expired", "Calls whose deadlines passed before they could run"),
            ("dropped", "One-way calls that a limit refused, without an answer"),
        )
        for at, (what, meaning) in enumerate(meanings):
            out.family(f"mf_server_calls_{what}", "counter", meaning)
            for labels, sums in _labelled(counts):
                out.sample(f"mf_server_calls_{what}_total", sums[at], labels)
        self._write_durations(out)

    def _write_durations(self, out: OpenMetrics) -> None:
        """A message of a batch counts once."""
        name = "mf_server_call_duration_seconds"
        out.family(name, "histogram", "From the arrival of a request until its answer")
        found: dict[tuple[str, str], dict[str, Histogram]] = {}
        for service, method, durations in self._server.durations():
            codes = found.setdefault(_series(found, service, method), {})
            for code, histogram in durations.by_code().items():
                codes[code] = codes[code].plus(histogram) if code in codes else histogram
        for labels, codes in _labelled(found):
            for code, histogram in codes.items():
                out.histogram(name, BOUNDS, histogram.counts, histogram.total, {**labels, "code": code})

    def _write_connections(self, out: OpenMetrics) -> None:
        now = self._server.stats().connections
        out.one("mf_server_connections", "gauge", "Open connections", now.open)
        out.one("mf_server_handshakes", "gauge", "Open connections without a HELLO", now.handshakes)
        out.one("mf_server_calls_in_flight", "gauge", "Calls that wait or run", now.calls)
        out.one("mf_server_held_bytes", "gauge", "Bytes that all connections hold together", now.held_bytes)
        out.one("mf_server_connections_accepted", "counter", "Connections that were accepted", now.accepted)
        out.one("mf_server_connections_refused", "counter", "Connections above max_connections", now.refused)
        out.one("mf_server_connections_turned_away", "counter", "Those without a descriptor", now.turned_away)
        out.family("mf_server_connections_cut", "counter", "Connections that the server ended, by its reason")
        for reason in _CUTS:
            labels = {"reason": reason}
            out.sample("mf_server_connections_cut_total", getattr(now, f"cut_{reason}"), labels)


def _series(known: dict[tuple[str, str], Any], service: str, method: str) -> tuple[str, str]:
    """The series of a method, while there are not too many."""
    key = (service, method)
    return key if key in known or len(known) < _MOST_METHODS else ("other", "other")


def _labelled(known: dict[tuple[str, str], Any]) -> Iterator[tuple[dict[str, str], Any]]:
    for (service, method), value in known.items():
        yield {"service": service, "method": method}, value


def _write_process(out: OpenMetrics) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    out.one("process_cpu_seconds", "counter", "User and system time", used.ru_utime + used.ru_stime)
    out.one("process_start_time_seconds", "gauge", "When the runtime was loaded, since 1970", _STARTED)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    out.one("process_resident_memory_bytes", "gauge", "Resident memory", pages * resource.getpagesize())
    out.one("process_open_fds", "gauge", "Open descriptors", sum(1 for _ in Path("/proc/self/fd").iterdir()))
    out.one("process_max_fds", "gauge", "The limit of these", resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
