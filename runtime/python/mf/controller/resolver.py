"""R6. The resolver over a controller: watches each service that the client uses, and outlives the
controller.

One daemon thread a watched service waits in `watch`, which the controller answers when something changed.
When the controller is lost, what was known stays. When it comes back as another one (a new epoch), what the
old one knew is kept for KEEP_OLD seconds beside what the new one says, for servers need a moment to
register again.
"""

import threading
from collections.abc import Iterable
from itertools import islice
from time import monotonic

from mf.controller._generated.mf.controller import Instance as Entry
from mf.controller._generated.mf.controller import View as Answer
from mf.controller.connection import ControllerConnection
from mf.core.error import Error
from mf.core.log import info, quote
from mf.core.options import CallOptions
from mf.link import fork
from mf.link.reconnect import Backoff
from mf.link.resolver import Instance, Resolver, View
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES

KEEP_OLD = 10.0
_POLL_MS = 30_000
_ANSWER_WITHIN = 10.0
_MAX_AGENTS = 10_000  # that are remembered without an instance


class _Watched:
    """One service: the newest answer, and until when an older controller's entries count too."""

    __slots__ = ("answer", "old", "old_until", "view")

    def __init__(self) -> None:
        self.answer = Answer()
        self.old: list[Entry] = []
        self.old_until = 0.0
        self.view = View({}, reached=False)

    def take(self, answer: Answer, now: float) -> None:
        if self.answer.epoch not in (0, answer.epoch):
            self.old = self._entries(now)
            self.old_until = now + KEEP_OLD
        self.answer = answer
        self.view = _to_view(self._entries(now), self.view.agents)

    def _entries(self, now: float) -> list[Entry]:
        if now >= self.old_until:
            self.old = []
        known = {(entry.agent, entry.nonce) for entry in self.answer.instances}
        return [*self.answer.instances, *(e for e in self.old if (e.agent, e.nonce) not in known)]


def _to_view(entries: Iterable[Entry], known: Iterable[str]) -> View:
    """`known` agents stay, if with no instance: a scatter over all says that one is missing."""
    agents: dict[str, list[Instance]] = {agent: [] for agent in islice(known, _MAX_AGENTS)}
    for entry in entries:
        instance = _reachable(entry)
        if instance is not None:
            agents.setdefault(entry.agent, []).append(instance)
    return View({agent: tuple(instances) for agent, instances in agents.items()})


def _reachable(entry: Entry) -> Instance | None:
    """The first address over the network and the first path, as far as this runtime can connect to them. So
    where a server lists tls:// before tcp://, nobody is led to send in clear text."""
    network = local = ""
    for text in entry.addresses:
        try:
            address = Address.parse(text)
        except ValueError:
            continue  # of a kind that this runtime does not know
        if address.local:
            local = local or text
        elif address.scheme in SCHEMES:
            network = network or text
    if not network:
        network, local = local, ""
    return Instance(network, entry.weight or 1, local, entry.nonce.bytes) if network else None


class ControllerResolver(Resolver):
    """Any number of threads may ask. Raises ValueError for an address that is none."""

    __slots__ = ("__weakref__", "_changed", "_closed", "_connection", "_watched", "_where", "generation")

    def __init__(self, where: str) -> None:
        self.generation = 0
        self._where = where
        self._connection = ControllerConnection(where)
        self._changed = threading.Condition()
        self._watched: dict[str, _Watched] = {}
        self._closed = False
        fork.register(self)

    def view(self, service: str) -> View:
        watched = self._watched.get(service)
        if watched is None:
            with self._changed:
                watched = self._watched.get(service)
                if watched is None:
                    watched = self._watched[service] = _Watched()
                    name = f"mf-watch-{service}"
                    threading.Thread(
                        target=self._watch, args=(service, watched), name=name, daemon=True
                    ).start()
        return watched.view

    def wait(self, service: str, old: View, timeout: float) -> View:
        until = monotonic() + timeout
        with self._changed:
            while (view := self._watched[service].view) is old and not self._closed:
                left = until - monotonic()
                if left <= 0:
                    break
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
        return view

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._connection.close()

    def after_fork(self) -> None:
        self._changed = threading.Condition()
        self._watched = {}
        self._connection = ControllerConnection(self._where)
        self.generation += 1

    # The thread of one service

    def _watch(self, service: str, watched: _Watched) -> None:
        connection = self._connection
        backoff = Backoff()
        while not self._closed and connection is self._connection:
            wait_ms = _POLL_MS
            if watched.old:  # come back when they are to be forgotten
                wait_ms = max(min(int((watched.old_until - monotonic()) * 1000) + 1, _POLL_MS), 1)
            options = CallOptions(deadline=wait_ms / 1000 + _ANSWER_WITHIN)
            known = watched.answer
            try:
                answer = connection.stub.watch(service, known.epoch, known.revision, wait_ms, options=options)
            except Error as error:
                self._lost(watched, connection.trouble(error))
                self._pause(backoff.next())
                continue
            backoff.reset()
            self._take(watched, answer)

    def _take(self, watched: _Watched, answer: Answer) -> None:
        before = watched.view
        same = (answer.epoch, answer.revision) == (watched.answer.epoch, watched.answer.revision)
        if same and before.reached and not before.trouble and not watched.old:
            return
        watched.take(answer, monotonic())
        with self._changed:
            self.generation += 1
            self._changed.notify_all()

    def _lost(self, watched: _Watched, trouble: str) -> None:
        """What is known stays known; who waits for a first answer learns why there is none."""
        view = watched.view
        if view.trouble == trouble or self._closed:
            return
        info("%s", quote(trouble))
        with self._changed:
            watched.view = View(view.agents, reached=view.reached, trouble=trouble)
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        """Sleeps, but no longer than the resolver lives."""
        until = monotonic() + seconds
        with self._changed:
            while not self._closed and (left := until - monotonic()) > 0:
                self._changed.wait(left)
