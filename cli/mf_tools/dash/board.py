"""What the dashboard sends, as plain data: the rows that a controller lists, what its processes answer, and
the steps that led there. The page makes processes and recent changes of them (page/model.js); the form is
that of docs/dashboard.md, which a controller that serves the page itself sends, too.

The board is changed on one thread. Every change marks what it concerns; `taken` returns all marked parts
once, as the JSON object that a page applies, so that any number of changes between two looks costs one
message.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mf.controller import Change, Instance, Key

MOST_ROWS = 10_000
"""Further rows are counted, and not shown."""
MOST_STEPS = 200
POINTS = 90
"""How many points a chart has."""

Json = dict[str, Any]
OfferKey = tuple[str, str, str]
"""Kind ("service" or "topic"), name, agent."""
RowKey = tuple[str, OfferKey]
"""The nonce of a process as 32 hexadecimal digits, and what it offers."""


@dataclass(slots=True)
class Process:
    """One process with its offers. `nonce`: 32 hexadecimal digits. `health`: see `Board.answered`."""

    nonce: str
    name: str = ""
    addresses: list[str] = field(default_factory=list)
    offers: dict[OfferKey, Json] = field(default_factory=dict)
    """The row of each."""
    health: Json = field(default_factory=dict)


class Board:
    """`clock`: seconds since 1970, for steps."""

    def __init__(self, where: str, clock: Callable[[], float] = time) -> None:
        self.processes: dict[str, Process] = {}
        self.where = where
        self._clock = clock
        self._run = token_hex(8)
        self._rows = 0
        self._left_out: set[RowKey] = set()
        self._steps: deque[Json] = deque(maxlen=MOST_STEPS)
        self._next = 1
        self._kinds: set[str] = set()
        self._controller: Json = {"where": where, "answers": None, "trouble": ""}
        self._points: deque[Json] = deque(maxlen=POINTS)
        self._latest: dict[str, list[Json]] = {"methods": [], "topics": [], "monitors": []}
        self._put: set[RowKey] = set()
        self._gone: set[RowKey] = set()
        self._doubted: set[RowKey] = set()
        self._asked: set[str] = set()
        self._parts: set[str] = set()
        self._new_steps = 0
        self._new_points = 0

    # What a controller says

    def snapshot(self, kind: str, instances: "list[Instance]", *, again: bool) -> None:
        """Replaces everything of a kind. The first one makes no steps. `again`: of another run of the
        controller, which may not have all registrations yet: a page keeps what is missing for a while."""
        first = kind not in self._kinds
        self._kinds.add(kind)
        wanted = {(each.instance.hex, key_of(each.offer.key)) for each in instances}
        missing = [
            (nonce, key)
            for nonce, each in self.processes.items()
            for key in each.offers
            if key[0] == kind and (nonce, key) not in wanted
        ]
        for nonce, key in missing:
            self._remove(nonce, key, is_doubted=again)
        for each in instances:
            self._put_row(each, is_step=not first and not again)

    def changed(self, change: "Change") -> None:
        """One step of a watch that is no snapshot."""
        for gone in change.gone:
            self._remove(gone.instance.hex, key_of(gone.key))
        for put in change.put:
            self._put_row(put, is_step=True)

    def controller(self, **facts: Any) -> None:
        """`answers`, `trouble`, and the figures of its status."""
        made = {**self._controller, **facts}
        if made != self._controller:
            if self._controller["answers"] not in (None, made["answers"]):
                what = "answers" if made["answers"] else "silent"
                self._step({"what": what, "id": "", "process": self.where, "why": []})
            self._controller = made
            self._parts.add("controller")

    def _put_row(self, instance: "Instance", *, is_step: bool) -> None:
        nonce, offer = instance.instance.hex, instance.offer
        key = key_of(offer.key)
        process = self.processes.get(nonce) or Process(nonce)
        is_new = key not in process.offers
        if is_new and self._rows >= MOST_ROWS:
            self._left_out.add((nonce, key))
            return
        self.processes[nonce] = process
        self._rows += is_new
        process.name, process.addresses = instance.process, list(offer.addresses)
        process.offers[key] = row = {
            **_key_as_json((nonce, key)),
            "process": instance.process,
            "identity": instance.identity,
            "verified": instance.verified,
            "addresses": process.addresses,
            "schema": offer.fingerprint.hex if offer.fingerprint.int else "",
            "weight": offer.weight or 1,
            "labels": dict(offer.labels),
            "alone": offer.alone,
        }
        self._put.add((nonce, key))
        self._gone.discard((nonce, key))
        self._doubted.discard((nonce, key))
        if is_new and is_step:
            self._step({"what": "came", **_named(row)})

    def _remove(self, nonce: str, key: OfferKey, *, is_doubted: bool = False) -> None:
        self._left_out.discard((nonce, key))
        process = self.processes.get(nonce)
        row = process.offers.pop(key, None) if process else None
        if process is None or row is None:
            return
        self._rows -= 1
        if not process.offers:
            del self.processes[nonce]
            self._asked.discard(nonce)
        self._put.discard((nonce, key))
        (self._doubted if is_doubted else self._gone).add((nonce, key))
        if not is_doubted:
            self._step({"what": "left", **_named(row)})

    def _step(self, step: Json) -> None:
        self._steps.append({"number": self._next, "at": round(self._clock(), 3), **step})
        self._next += 1
        self._new_steps += 1

    # What processes answer

    def answered(self, nonce: str, **health: Any) -> None:
        """`state`: "serving", "not_serving", "answers" (a server without the health service), "silent",
        "denied", "unasked"; `why`: lines; `days`: until its certificate ends."""
        process = self.processes.get(nonce)
        if process is None or process.health == health:
            return
        before = process.health.get("state", "")
        process.health = health
        self._asked.add(nonce)
        bad = ("silent", "not_serving")
        if before and (before in bad) != (health["state"] in bad):
            what = {"what": health["state"], "why": health.get("why", [])}
            self._step({"id": nonce, "process": process.name, **what})

    def measured(self, point: Json, methods: list[Json], topics: list[Json], monitors: list[Json]) -> None:
        """What monitors say: one point of the charts, and the latest figures by method and by topic."""
        self._points.append(point)
        self._new_points += 1
        for name, new in (("methods", methods), ("topics", topics), ("monitors", monitors)):
            if self._latest[name] != new:
                self._latest[name] = new
                self._parts.add(name)

    # For pages

    @property
    def services(self) -> list[Json]:
        """The latest figures by service."""
        return self._latest["methods"]

    @property
    def monitors(self) -> list[Json]:
        """The latest figures by monitor."""
        return self._latest["monitors"]

    @property
    def shown_controller(self) -> Json:
        return self._controller

    def whole(self) -> Json:
        """All of it."""
        return {
            "server": "mf dash",
            "run": self._run,
            "at": round(self._clock(), 3),
            "rows": [row for each in self.processes.values() for row in each.offers.values()],
            "left_out": len(self._left_out),
            "steps": list(self._steps),
            "health": {nonce: each.health for nonce, each in self.processes.items() if each.health},
            "points": list(self._points),
            **self._latest,
            "controller": self._controller,
        }

    def taken(self) -> Json | None:
        """What has changed since the last time; None: nothing."""
        made: Json = {}
        if self._put:
            made["put"] = [self.processes[nonce].offers[key] for nonce, key in sorted(self._put)]
        for name, keys in (("gone", self._gone), ("doubted", self._doubted)):
            if keys:
                made[name] = [_key_as_json(each) for each in sorted(keys)]
        if self._asked:
            made["health"] = {each: self.processes[each].health for each in sorted(self._asked)}
        if self._new_steps:
            made["steps"] = _last(self._steps, self._new_steps)
        if self._new_points:
            made["points"] = _last(self._points, self._new_points)
        for name in self._parts:
            made[name] = self._controller if name == "controller" else self._latest[name]
        for marked in (self._put, self._gone, self._doubted, self._asked, self._parts):
            marked.clear()
        self._new_steps = self._new_points = 0
        return made or None


def _named(row: Json) -> Json:
    return {name: row[name] for name in ("id", "process", "kind", "name", "agent")}


def _key_as_json(key: RowKey) -> Json:
    nonce, (kind, name, agent) = key
    return {"id": nonce, "kind": kind, "name": name, "agent": agent}


def _last(items: Iterable[Json], count: int) -> list[Json]:
    return list(items)[-count:]


def key_of(key: "Key") -> OfferKey:
    from mf.controller import KeyKind

    return "topic" if key.kind == KeyKind.topic else "service", key.name, key.agent
