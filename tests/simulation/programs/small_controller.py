"""A controller in Python, for tests: a servant of the controller's own interface, on one loop of asyncio. Its
log of changes is so short, and its snapshots come in pieces so small, that clients take every way of getting
a change.
"""

import time
from asyncio import Event
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from uuid import UUID

from mf.codec.times import Duration, Timestamp
from mf.controller._generated.mf.controller import (
    Change,
    ControllerAsyncServant,
    Credential,
    Entry,
    Filter,
    Found,
    Gone,
    Instance,
    Key,
    Lead,
    NotOwner,
    NotRegistered,
    Offer,
    Standing,
    Status,
    StoreStatus,
)
from mf.controller._generated.mf.controller import Warning as Concern
from mf.core.error import Code, Error, Execution

KeyOf = tuple[int, str, str]


def key_of(key: Key) -> KeyOf:
    return (int(key.kind), key.name, key.agent)


class News:
    """Wakes all that wait; none misses what happens between two waits."""

    def __init__(self) -> None:
        self._event = Event()

    def tell(self) -> None:
        self._event.set()
        self._event = Event()

    def next(self) -> Event:
        return self._event


class Process:
    """One that is registered."""

    def __init__(self, who: Credential, name: str) -> None:
        self.secret = who.secret
        self.name = name
        self.offers: dict[KeyOf, Offer] = {}
        self.warnings: list[Concern] = []
        self.ended = False


class SmallController(ControllerAsyncServant):
    """`run`: see Change. `log`: so many changes are remembered. `piece`: so many instances are in one value
    of a snapshot. `now`: milliseconds since 1970."""

    def __init__(
        self,
        run: int,
        *,
        lease: float = 0.3,
        log: int = 8,
        piece: int = 2,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self.run = run
        self.revision = 0
        self.processes: dict[UUID, Process] = {}
        self.epochs: dict[KeyOf, int] = {}
        """The highest that was given; a test may keep it beyond a restart, as a store does."""
        self.changed: Callable[[], None] = lambda: None
        """Called when a revision is complete."""
        self.stopped = False
        self.updates: list[tuple[list[str], list[str]]] = []
        """Agents that were put and removed, of each update that said anything."""
        self.signs_of_life = 0
        self.farewells = 0
        """Processes that have deregistered."""
        self.denies = 0
        """So many updates are answered as those of a process that is not registered."""
        self.refuses: dict[str, Code] = {}
        """Updates that put one of these agents are refused so; those without any by that of ''."""
        self.refusals = 0
        self.refuses_leads = 0
        """So many leads are refused."""
        self.watches: list[tuple[str, int, int]] = []
        """What was asked for: name, run, revision."""
        self.owners: list[tuple[UUID, UUID, str]] = []
        """The processes that registered: nonce, secret, name."""
        self._lease = Duration.from_seconds(lease)
        self._piece = piece
        self._now = now
        self._log: deque[tuple[int, Instance | Gone]] = deque(maxlen=log)
        self._news = News()
        self._queues: dict[KeyOf, list[object]] = {}
        self.ids = 0
        self._cuts = 0

    # What a test sees and does

    def instances(self, what: Filter | None = None) -> list[Instance]:
        """All, or those that match."""
        return [
            Instance(offer, nonce, process.name, verified=True)
            for nonce, process in list(self.processes.items())
            for offer in list(process.offers.values())
            if what is None or matches(what, offer.key)
        ]

    def forget(self) -> None:
        """All registrations end, as if their connections had."""
        for nonce in list(self.processes):
            self._remove(nonce)

    def cut(self) -> None:
        """All watches end."""
        self._cuts += 1
        self._news.tell()

    def stop(self) -> None:
        """All streams end."""
        self.stopped = True
        self._news.tell()

    # The interface

    async def client_id(self) -> int:
        self.ids += 1
        return self.ids

    async def register(self, who: Credential, process: str, offers: list[Offer]) -> AsyncIterator[Standing]:
        self._check_owner(who)
        self.owners.append((who.nonce, who.secret, process))
        mine = Process(who, process)
        if who.nonce in self.processes:
            self._remove(who.nonce)
        self.processes[who.nonce] = mine
        self._put(who.nonce, mine, offers)
        try:
            yield self._standing(mine)
            while not (mine.ended or self.stopped):
                await self._news.next().wait()
                if mine.warnings:
                    yield self._standing(mine)
        finally:
            if self.processes.get(who.nonce) is mine:
                self._remove(who.nonce)

    async def update(self, who: Credential, put: list[Offer], remove: list[Key]) -> None:
        process = self._registered(who)
        if self.denies:
            self.denies -= 1
            raise NotRegistered(who.nonce.hex[:8])
        agents = [each.key.agent for each in put]
        for code in [self.refuses[agent] for agent in agents or [""] if agent in self.refuses][:1]:
            self.refusals += 1
            raise Error(code, "no room for it", Execution.NOT_EXECUTED)
        if put or remove:
            self.updates.append((agents, [key.agent for key in remove]))
        else:
            self.signs_of_life += 1
        for key in remove:
            self._take(who.nonce, process, key)
        self._put(who.nonce, process, put)

    async def deregister(self, who: Credential) -> None:
        self._registered(who)
        self.farewells += 1
        self._remove(who.nonce)

    async def watch(self, what: Filter, run: int, revision: int) -> AsyncIterator[Change]:
        self.watches.append((what.name, run, revision))
        cursor = revision if run == self.run else -1
        cuts = self._cuts
        while not self.stopped and cuts == self._cuts:
            if cursor < self.revision - len(self._log) or cursor > self.revision:
                cursor = self.revision
                for change in self._snapshot(what):
                    yield change
            elif cursor < self.revision:
                change = self._since(what, cursor)
                cursor = self.revision
                if change.put or change.gone:
                    yield change
            else:
                await self._news.next().wait()

    async def find(self, what: Filter) -> Found:
        return Found(self.instances(what))

    async def lead(self, who: Credential, what: Key) -> AsyncIterator[Lead]:
        process = self._registered(who)
        if self.refuses_leads:
            self.refuses_leads -= 1
            raise Error(Code.PERMISSION_DENIED, "not you", Execution.NOT_EXECUTED)
        key = key_of(what)
        turn = object()
        queue = self._queues.setdefault(key, [])
        queue.append(turn)
        try:
            while queue[0] is not turn and not (process.ended or self.stopped):
                await self._news.next().wait()
            if queue[0] is turn and not (process.ended or self.stopped):
                self.epochs[key] = max(self.epochs.get(key, 0) + 1, self._now())
                yield Lead(self.epochs[key])
                while not (process.ended or self.stopped):
                    await self._news.next().wait()
        finally:
            queue.remove(turn)
            self._news.tell()

    async def list_(self) -> AsyncIterator[Entry]:
        for each in self.instances():
            yield Entry(each.offer, each.instance.hex[:8], each.process, "", each.verified)

    async def status(self) -> Status:
        store = StoreStatus("memory", True, Timestamp(0), "")
        count = sum(len(process.offers) for process in self.processes.values())
        return Status(UUID(int=1), self.run, self.revision, self._lease, len(self.processes), count, 0, store)

    # The inside

    def _check_owner(self, who: Credential) -> Process | None:
        process = self.processes.get(who.nonce)
        if process is not None and process.secret != who.secret:
            raise NotOwner(who.nonce.hex[:8])
        return process

    def _registered(self, who: Credential) -> Process:
        process = self._check_owner(who)
        if process is None:
            raise NotRegistered(who.nonce.hex[:8])
        return process

    def _put(self, nonce: UUID, process: Process, offers: list[Offer]) -> None:
        for offer in offers:
            process.offers[key_of(offer.key)] = offer
            self._warn(offer.key)
            self._append(Instance(offer, nonce, process.name, verified=True))
        self._news.tell()

    def _warn(self, key: Key) -> None:
        """Warns all processes that offer it, if one of them wants to be alone."""
        concerned = [each for each in self.processes.values() if key_of(key) in each.offers]
        if len(concerned) > 1 and any(each.offers[key_of(key)].alone for each in concerned):
            text = f"{len(concerned)} processes offer {key.name}, and one wants to be alone"
            for each in concerned:
                each.warnings.append(Concern(key, text))

    def _remove(self, nonce: UUID) -> None:
        process = self.processes.pop(nonce)
        process.ended = True
        for offer in list(process.offers.values()):
            self._take(nonce, process, offer.key)
        self._news.tell()

    def _take(self, nonce: UUID, process: Process, key: Key) -> None:
        if process.offers.pop(key_of(key), None) is not None:
            self._append(Gone(key, nonce))

    def _append(self, what: Instance | Gone) -> None:
        self.revision += 1
        self._log.append((self.revision, what))
        self.changed()

    def _standing(self, process: Process) -> Standing:
        warnings, process.warnings = process.warnings, []
        return Standing(self._lease, UUID(int=1), self.run, warnings)

    def _snapshot(self, what: Filter) -> Iterator[Change]:
        revision = self.revision
        found = self.instances(what)
        pieces = [found[at : at + self._piece] for at in range(0, len(found), self._piece)] or [[]]
        for number, piece in enumerate(pieces):
            yield Change(self.run, revision, number == 0, number + 1 < len(pieces), piece, [])

    def _since(self, what: Filter, cursor: int) -> Change:
        """What each instance came to."""
        latest: dict[tuple[KeyOf, UUID], Instance | Gone] = {}
        for revision, each in self._log:
            key = each.key if isinstance(each, Gone) else each.offer.key
            if revision > cursor and matches(what, key):
                latest[key_of(key), each.instance] = each
        put = [each for each in latest.values() if isinstance(each, Instance)]
        gone = [each for each in latest.values() if isinstance(each, Gone)]
        return Change(self.run, self.revision, False, False, put, gone)


def matches(what: Filter, key: Key) -> bool:
    return (
        what.kind == key.kind
        and _fits(what.name, key.name)
        and (what.agent is None or _fits(what.agent, key.agent))
    )


def _fits(pattern: str, text: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
