"""What monitors serve at /metrics, read and made into rates: calls and errors a second, percentiles of
latencies, and the subscribers and drops of topics (docs/observability.md). For the dashboard and for `mf
top`.
"""

import http.client
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from mf_tools.guard import USAGE, CommandError

_WITHIN = 2.0
_MOST_BYTES = 8 << 20
_MOST_SERIES = 50_000
_LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: \S+)?\Z")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?')
_NO_ERRORS = ("OK", "DECLARED", "CANCELLED")

Labels = tuple[tuple[str, str], ...]
Samples = dict[str, dict[Labels, float]]
"""By the name of a series."""
Method = tuple[str, str]
"""Service and method."""


def endpoint(text: str) -> tuple[str, int]:
    """The host and port of a monitor. Ends the command for what is none."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdecimal() or not 0 < int(port[:9]) < 65_536:
        raise CommandError(f"--monitor '{text}' is no HOST:PORT", USAGE)
    return host.removeprefix("[").removesuffix("]"), int(port)


def fetched(host: str, port: int) -> str:
    """What the monitor there serves. Raises OSError, in one sentence, within a few seconds."""
    connection = http.client.HTTPConnection(host, port, timeout=_WITHIN)
    try:
        connection.request("GET", "/metrics", headers={"Accept": "text/plain"})
        answer = connection.getresponse()
        data = answer.read(_MOST_BYTES + 1)
    except http.client.HTTPException as failed:
        raise OSError(f"{host}:{port} does not speak HTTP: {type(failed).__name__}") from None
    except OSError as failed:
        raise OSError(f"{host}:{port} does not answer: {failed.strerror or failed}") from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise OSError(f"{host}:{port} answers {answer.status} to /metrics")
    if len(data) > _MOST_BYTES:
        raise OSError(f"{host}:{port} has more than {_MOST_BYTES >> 20} MiB of metrics")
    return data.decode("utf-8", "replace")


def parsed(text: str) -> Samples:
    """The samples of a text in the format of Prometheus. Lines that are none are left out."""
    found: Samples = {}
    for number, line in enumerate(text.splitlines()):
        if number >= _MOST_SERIES:
            break
        match = None if line.startswith("#") else _LINE.match(line.strip())
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        labels = tuple((name, _plain(of)) for name, of in _LABEL.findall(match[2] or ""))
        found.setdefault(match[1], {})[labels] = value
    return found


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda each: "\n" if each[1] == "n" else each[1], text)


@dataclass(slots=True)
class Rate:
    """Of one method between two readings. `buckets`: calls by the upper bound of their seconds."""

    calls: float = 0.0
    errors: float = 0.0
    buckets: dict[float, float] = field(default_factory=dict)

    def add(self, other: "Rate") -> None:
        self.calls += other.calls
        self.errors += other.errors
        for bound, count in other.buckets.items():
            self.buckets[bound] = self.buckets.get(bound, 0.0) + count

    def percentile(self, percent: float) -> float | None:
        """Seconds: the upper bound of the bucket in which it is; None: nothing was measured."""
        bounds = sorted(self.buckets)
        below: list[float] = []
        for bound in bounds:
            below.append((below[-1] if below else 0.0) + self.buckets[bound])
        if not below or below[-1] <= 0:
            return None
        place = bisect_left(below, below[-1] * percent / 100)
        found = bounds[min(place, len(bounds) - 1)]
        return found if found != inf else (bounds[-2] if len(bounds) > 1 else None)


class Meter:
    """Rates of one server, from what it says again and again."""

    def __init__(self) -> None:
        self._before: Samples = {}
        self._at = 0.0
        self.methods: dict[Method, Rate] = {}
        self.topics: dict[str, dict[str, float]] = {}
        """By topic: subscribers, and since the server's start published and dropped."""

    def take(self, samples: Samples, now: float) -> None:
        """`now`: monotonic seconds. A counter that fell is of a new process, and counts from 0."""
        seconds = now - self._at
        if self._before and seconds > 0:
            self.methods = self._rates(samples, seconds)
        self._before, self._at = samples, now
        self.topics = _topics(samples)

    def _rates(self, samples: Samples, seconds: float) -> dict[Method, Rate]:
        found: dict[Method, Rate] = {}
        for labels, more in self._grown("mf_server_calls_total", samples):
            rate = found.setdefault(_method(labels), Rate())
            rate.calls += more / seconds
            if labels.get("code") not in _NO_ERRORS:
                rate.errors += more / seconds
        below: dict[Method, dict[float, float]] = {}
        for labels, more in self._grown("mf_server_call_duration_seconds_bucket", samples):
            below.setdefault(_method(labels), {})[_bound(labels)] = more
        for method, counts in below.items():
            before = 0.0
            buckets = found.setdefault(method, Rate()).buckets
            for bound in sorted(counts):
                buckets[bound] = max(0.0, counts[bound] - before)
                before = counts[bound]
        return found

    def _grown(self, name: str, samples: Samples) -> Iterator[tuple[Mapping[str, str], float]]:
        before = self._before.get(name, {})
        for labels, value in samples.get(name, {}).items():
            was = before.get(labels, 0.0)
            yield dict(labels), value - was if value >= was else value


def _method(labels: Mapping[str, str]) -> Method:
    return labels.get("service", ""), labels.get("method", "")


def _bound(labels: Mapping[str, str]) -> float:
    try:
        return float(labels.get("le", "+Inf"))
    except ValueError:
        return inf


_TOPIC_SERIES = {
    "subscribers": "mf_topic_subscribers",
    "published": "mf_topic_published_total",
    "dropped": "mf_topic_dropped_total",
}


def _topics(samples: Samples) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for short, series in _TOPIC_SERIES.items():
        for labels, value in samples.get(series, {}).items():
            topic = dict(labels).get("topic", "")
            found.setdefault(topic, dict.fromkeys(_TOPIC_SERIES, 0.0))[short] += value
    return found


def summed(rates: Iterable[Rate]) -> Rate:
    total = Rate()
    for each in rates:
        total.add(each)
    return total


class Meters:
    """Those of several servers, by the name that is shown."""

    def __init__(self) -> None:
        self._meters: dict[str, Meter] = {}
        self._trouble: dict[str, str] = {}

    def take(self, name: str, text: str, now: float) -> None:
        self._meters.setdefault(name, Meter()).take(parsed(text), now)
        self._trouble[name] = ""

    def failed(self, name: str, why: str) -> None:
        self._meters.pop(name, None)
        self._trouble[name] = why

    def forget(self, name: str) -> None:
        self._meters.pop(name, None)
        self._trouble.pop(name, None)

    def by_server(self) -> dict[str, Rate]:
        return {name: summed(meter.methods.values()) for name, meter in self._meters.items()}

    def by_service(self) -> dict[str, Rate]:
        found: dict[str, Rate] = {}
        for meter in self._meters.values():
            for (service, _), rate in meter.methods.items():
                found.setdefault(service, Rate()).add(rate)
        return found

    def by_topic(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for meter in self._meters.values():
            for topic, figures in meter.topics.items():
                total = found.setdefault(topic, dict.fromkeys(figures, 0.0))
                for name, value in figures.items():
                    total[name] += value
        return found

    def total(self) -> Rate:
        return summed(self.by_server().values())

    def monitors(self) -> list[dict[str, Any]]:
        """Each with its figures, or why there are none."""
        rates = self.by_server()
        return [
            {"name": name, "trouble": why, **shown(rates.get(name, Rate()))}
            for name, why in sorted(self._trouble.items())
        ]


def shown(rate: Rate) -> dict[str, Any]:
    """The figures of a rate, for people: a second, and in seconds."""
    return {
        "calls": round(rate.calls, 2),
        "errors": round(rate.errors, 2),
        "p50": rate.percentile(50),
        "p99": rate.percentile(99),
    }
