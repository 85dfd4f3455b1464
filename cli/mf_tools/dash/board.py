"""What the dashboard shows, as plain data: the processes that a controller lists, what they answer, recent
changes.

The board is changed on one thread. Every change marks what it concerns; `taken` returns all marked parts
once, as the JSON object that a page applies, so that any number of changes between two looks costs one
message.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mf.controller import Change, Instance, Key

MOST_PROCESSES = 10_000
"""Further processes are counted, and not shown."""
MOST_CHANGES = 200
KEEP_OLD = 10.0
"""Seconds in which a process must register again after another controller, or the same one after a restart,
has answered without it; clients keep it for as long."""
POINTS = 90
"""How many points a chart has."""
_NAMED = 4
_JOINED_WITHIN = 2.0

Json = dict[str, Any]
OfferKey = tuple[str, str, str]
"""Kind ("service" or "topic"), name, agent."""


@dataclass(slots=True)
class Process:
    """One process with its offers. `nonce`: 32 hexadecimal digits. `health`: see `Board.answered`."""

    nonce: str
    name: str = ""
    identity: str = ""
    verified: bool = True
    addresses: list[str] = field(default_factory=list)
    offers: dict[OfferKey, Json] = field(default_factory=dict)
    health: Json = field(default_factory=dict)

    def as_json(self) -> Json:
        return {
            "id": self.nonce,
            "name": self.name,
            "identity": self.identity,
            "verified": self.verified,
            "addresses": self.addresses,
            "offers": [self.offers[key] for key in sorted(self.offers)],
            "health": self.health,
        }


class Board:
    """`clock`: seconds since 1970, for recent changes."""

    def __init__(self, where: str, clock: Callable[[], float] = time) -> None:
        self.processes: dict[str, Process] = {}
        self.left_out: set[str] = set()
        """The nonces of processes beyond MOST_PROCESSES."""
        self.where = where
        self._clock = clock
        self._changes: deque[Json] = deque(maxlen=MOST_CHANGES)
        self._next = 1
        self._kinds: set[str] = set()
        self._doubted: dict[tuple[str, OfferKey], float] = {}
        self._controller: Json = {"where": where, "answers": None, "trouble": ""}
        self._points: deque[Json] = deque(maxlen=POINTS)
        self._methods: list[Json] = []
        self._topics: list[Json] = []
        self._monitors: list[Json] = []
        self._marked: set[str] = set()
        self._gone: set[str] = set()
        self._parts: set[str] = set()
        self._new_changes = 0
        self._new_points = 0

    # What a controller says

    def snapshot(self, kind: str, instances: "list[Instance]", *, again: bool) -> None:
        """Replaces everything of a kind. The first one is no change that a person wants to read about.
        `again`: of another run of the controller, which may not have all registrations yet."""
        first = kind not in self._kinds
        self._kinds.add(kind)
        wanted = {(each.instance.hex, key_of(each.offer.key)) for each in instances}
        missing = [
            (nonce, key)
            for nonce, each in self.processes.items()
            for key in each.offers
            if key[0] == kind and (nonce, key) not in wanted
        ]
        if again:
            self._doubted.update(dict.fromkeys(missing, self._clock() + KEEP_OLD))
        else:
            self._leave(missing)
        put = [(each.instance.hex, *self._put(each)) for each in instances]
        if not first:
            self._report("came", put)

    def forget_doubted(self) -> None:
        """Removes what has not been registered again in time."""
        now = self._clock()
        late = [each for each, until in self._doubted.items() if until <= now]
        self._leave(late)

    def _leave(self, gone: list[tuple[str, OfferKey]]) -> None:
        self._report("left", [(nonce, *self._remove(nonce, key)) for nonce, key in gone])

    def changed(self, change: "Change") -> None:
        """One step of a watch that is no snapshot."""
        self._leave([(each.instance.hex, key_of(each.key)) for each in change.gone])
        self._report("came", [(each.instance.hex, *self._put(each)) for each in change.put])

    def controller(self, **facts: Any) -> None:
        """`answers`, `trouble`, and the figures of its status."""
        made = {**self._controller, **facts}
        if made != self._controller:
            if self._controller["answers"] not in (None, made["answers"]):
                self._note({"what": "answers" if made["answers"] else "silent", "name": self.where})
            self._controller = made
            self._parts.add("controller")

    def _put(self, instance: "Instance") -> tuple[str, str, bool]:
        nonce, offer = instance.instance.hex, instance.offer
        process = self.processes.get(nonce)
        if process is None:
            if len(self.processes) >= MOST_PROCESSES:
                self.left_out.add(nonce)
                self._parts.add("controller")
                return "", "", False
            process = self.processes[nonce] = Process(nonce)
            self._gone.discard(nonce)
        key = key_of(offer.key)
        self._doubted.pop((nonce, key), None)
        is_new = key not in process.offers
        process.name, process.identity = instance.process, instance.identity
        process.verified, process.addresses = instance.verified, list(offer.addresses)
        process.offers[key] = {
            "kind": key[0],
            "name": offer.key.name,
            "agent": offer.key.agent,
            "schema": offer.fingerprint.hex if offer.fingerprint.int else "",
            "weight": offer.weight or 1,
            "labels": dict(offer.labels),
            "alone": offer.alone,
        }
        self._marked.add(nonce)
        return process.name, offer.key.name, is_new

    def _remove(self, nonce: str, key: OfferKey) -> tuple[str, str, bool]:
        if nonce in self.left_out:
            self.left_out.discard(nonce)
            self._parts.add("controller")
        self._doubted.pop((nonce, key), None)
        process = self.processes.get(nonce)
        if process is None or process.offers.pop(key, None) is None:
            return "", "", False
        if process.offers:
            self._marked.add(nonce)
        else:
            del self.processes[nonce]
            self._marked.discard(nonce)
            self._gone.add(nonce)
        return process.name, key[1], True

    def _report(self, what: str, offers: list[tuple[str, str, str, bool]]) -> None:
        """One entry for each process, however many of its offers have changed at once."""
        names: dict[str, tuple[str, list[str]]] = {}
        for nonce, process, name, is_new in offers:
            if is_new:
                names.setdefault(nonce, (process, []))[1].append(name)
        for nonce, (process, of) in names.items():
            entry = {"what": what, "id": nonce, "name": process, "offers": of}
            self._note(self._joined(entry))

    def _joined(self, entry: Json) -> Json:
        """An entry that continues the one before, which it replaces then: services and topics of a process
        come in two watches."""
        last = self._changes[-1] if self._changes else {}
        same = all(last.get(each) == entry[each] for each in ("what", "id"))
        if not same or self._clock() - last["at"] > _JOINED_WITHIN:
            return self._shortened(entry, 0)
        self._changes.pop()
        self._new_changes = max(0, self._new_changes - 1)
        offers = [*last["offers"], *entry["offers"]]
        return {**self._shortened({**entry, "offers": offers}, last["more"]), "replaces": last["number"]}

    def _shortened(self, entry: Json, more: int) -> Json:
        different = list(dict.fromkeys(entry["offers"]))
        return {**entry, "offers": different[:_NAMED], "more": more + max(0, len(different) - _NAMED)}

    def _note(self, entry: Json) -> None:
        self._changes.append({"number": self._next, "at": round(self._clock(), 3), **entry})
        self._next += 1
        self._new_changes += 1

    # What processes answer

    def answered(self, nonce: str, **health: Any) -> None:
        """`state`: "serving", "not_serving", "answers" (a server without the health service), "silent",
        "denied", "unasked"; `why`: lines; `days`: until its certificate ends."""
        process = self.processes.get(nonce)
        if process is None or process.health == health:
            return
        before = process.health.get("state", "")
        process.health = health
        self._marked.add(nonce)
        bad = ("silent", "not_serving")
        if before and (before in bad) != (health["state"] in bad):
            self._note(
                {"what": health["state"], "id": nonce, "name": process.name, "why": health.get("why", [])}
            )

    def measured(self, point: Json, methods: list[Json], topics: list[Json], monitors: list[Json]) -> None:
        """What monitors say: one point of the charts, and the latest figures by method and by topic."""
        self._points.append(point)
        self._new_points += 1
        for name, new in (("methods", methods), ("topics", topics), ("monitors", monitors)):
            if getattr(self, f"_{name}") != new:
                setattr(self, f"_{name}", new)
                self._parts.add(name)

    # For pages

    @property
    def services(self) -> list[Json]:
        """The latest figures by service."""
        return self._methods

    @property
    def monitors(self) -> list[Json]:
        """The latest figures by monitor."""
        return self._monitors

    @property
    def shown_controller(self) -> Json:
        return {**self._controller, "left_out": len(self.left_out)}

    def whole(self) -> Json:
        """All of it."""
        return {
            "put": [each.as_json() for each in self.processes.values()],
            "changes": list(self._changes),
            "points": list(self._points),
            "methods": self._methods,
            "topics": self._topics,
            "monitors": self._monitors,
            "controller": self.shown_controller,
        }

    def taken(self) -> Json | None:
        """What has changed since the last time; None: nothing."""
        made: Json = {}
        if self._marked:
            made["put"] = [self.processes[each].as_json() for each in sorted(self._marked)]
        if self._gone:
            made["gone"] = sorted(self._gone)
        if self._new_changes:
            made["changes"] = list(self._changes)[-self._new_changes :]
        if self._new_points:
            made["points"] = list(self._points)[-self._new_points :]
        for name in self._parts & {"methods", "topics", "monitors"}:
            made[name] = getattr(self, f"_{name}")
        if "controller" in self._parts:
            made["controller"] = self.shown_controller
        self._marked.clear()
        self._gone.clear()
        self._parts.clear()
        self._new_changes = self._new_points = 0
        return made or None


def key_of(key: "Key") -> OfferKey:
    from mf.controller import KeyKind

    return "topic" if key.kind == KeyKind.topic else "service", key.name, key.agent
