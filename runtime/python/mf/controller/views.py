"""R7. A client's knowledge of one service from a controller's watch, and how long it is kept: pure data; time
is an argument.

A snapshot applies when it is complete. When the controller is lost, known instances stay. When another one
answers, or the same one after a restart (a new run), earlier instances are kept for KEEP_OLD seconds beside
the new ones, since servers need a moment to register again.
"""

from collections.abc import Iterable
from uuid import UUID

from mf.controller._generated.mf.controller import Change, Filter, KeyKind
from mf.controller._generated.mf.controller import Instance as Entry
from mf.core.error import Code, Error, Execution
from mf.core.weight import MOST_WEIGHT
from mf.route.resolver import TOPIC_VIEW, Instance, View, is_topic_view
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES

KEEP_OLD = 10.0
_SECRET = ("tls", "memory")
_MOST_UNREADABLE = 64
_MAX_AGENTS = 10_000  # including agents that are remembered without an instance

_Known = dict[str, dict[UUID, Instance]]
"""Instances by agent."""


_UNKNOWN = View({}, reached=False)


class Watched:
    """One service. `run` and `revision`: the position of its watch."""

    __slots__ = (
        "_coming",
        "_known",
        "_old",
        "_over_tls",
        "old_until",
        "revision",
        "run",
        "skipped",
        "unreadable",
        "view",
    )

    def __init__(self, first: View = _UNKNOWN, *, over_tls: bool = False) -> None:
        """`first`: what is known before a controller has answered. `over_tls`: instances without an address
        at tls:// are skipped, and so are all paths."""
        self._over_tls = over_tls
        self.skipped: dict[str, None] = {}
        """The addresses of instances that were skipped since the caller last emptied this."""
        self.unreadable: dict[str, str] = {}
        """The same of addresses that cannot be read, with the reason. No connection is made there."""
        self.run = 0
        self.revision = 0
        self.view = first
        self.old_until = 0.0
        """When earlier instances are dropped; 0: never."""
        self._known: _Known = {}
        self._old: _Known = {}
        self._coming: _Known | None = None  # an incomplete snapshot

    def begins(self) -> None:
        """A new stream starts: the previous one's incomplete snapshot is dropped."""
        self._coming = None

    def takes(self, change: Change, now: float) -> bool:
        """Whether the change brings anything new. Raises Error for one that does not fit the previous
        ones."""
        if change.snapshot:
            self._coming = {}
        if self._coming is not None:
            self._apply(change, self._coming)
            if change.more:
                return False
            return self._take_snapshot(change, now)
        if change.run != self.run:
            self.run = self.revision = 0  # so that the next stream starts with a snapshot
            text = "the controller goes on from what this client does not know"
            raise Error(Code.PROTOCOL_ERROR, text, Execution.UNKNOWN)
        agents = self._apply(change, self._known, self._old)
        self.revision = change.revision
        return self._publish(agents)

    def _take_snapshot(self, change: Change, now: float) -> bool:
        assert self._coming is not None
        if self.run not in (0, change.run):
            for agent, instances in self._known.items():
                self._old.setdefault(agent, {}).update(instances)
            self.old_until = now + KEEP_OLD
        self._known, self._coming = self._coming, None
        for agent, instances in self._known.items():
            for known in instances:
                self._old.get(agent, {}).pop(known, None)
        self.run, self.revision = change.run, change.revision
        return self._publish([*self.view.agents, *self._known])

    def forgets(self, now: float) -> bool:
        """Whether earlier instances were dropped because their time is over."""
        if not self.old_until or now < self.old_until:
            return False
        old, self._old, self.old_until = self._old, {}, 0.0
        return self._publish(old)

    def lost(self, trouble: str, code: Code = Code.UNAVAILABLE) -> bool:
        """Known instances stay; a caller that waits for a first answer learns why there is none. Returns
        whether that is new."""
        if self.view.trouble == trouble:
            return False
        self.view = View(self.view.agents, reached=self.view.reached, trouble=trouble, code=code)
        return True

    def _publish(self, changed: Iterable[str]) -> bool:
        """Agents that lost their instances stay, with none, so that a scattered call to all agents reports
        them."""
        before = self.view
        agents = dict(before.agents)
        for agent in changed:
            agents[agent] = self._instances(agent)
        if len(agents) > _MAX_AGENTS:
            agents = {agent: instances for agent, instances in agents.items() if instances}
        if agents == before.agents and before.reached and not before.trouble:
            return False
        self.view = View(agents)
        return True

    def _instances(self, agent: str) -> tuple[Instance, ...]:
        """One instance for each address and certificate: a process that replaced another one there is
        preferred."""
        by_address: dict[str, Instance] = {}
        for known in (self._known, self._old):
            for instance in known.get(agent, {}).values():
                by_address.setdefault(instance.place, instance)
        return tuple(by_address.values())

    def _apply(self, change: Change, *to: _Known) -> list[str]:
        """The agents that the change concerns. Instances are put to the first of `to`, and removed from the
        others."""
        agents: dict[str, None] = {}
        for gone in change.gone:
            agents[gone.key.agent] = None
            for known in to:
                known.get(gone.key.agent, {}).pop(gone.instance, None)
        for entry in change.put:
            agent = entry.offer.key.agent
            agents[agent] = None
            for known in to:
                known.get(agent, {}).pop(entry.instance, None)
            instance = _reachable(entry, self.unreadable, over_tls=self._over_tls)
            if instance is not None:
                to[0].setdefault(agent, {})[entry.instance] = instance
            elif self._over_tls:
                self.skipped.update(dict.fromkeys(entry.offer.addresses))
        return list(agents)


def all_of(watched: str) -> Filter:
    """The filter for a watch of a service, or of a topic (`topic_view`)."""
    if is_topic_view(watched):
        return Filter(KeyKind.topic, watched.removeprefix(TOPIC_VIEW), None)
    return Filter(KeyKind.service, watched, None)


def _reachable(entry: Entry, unreadable: dict[str, str], *, over_tls: bool) -> Instance | None:
    """The first network address and the first path that this runtime can connect to. So if a server lists
    tls:// before tcp://, no client uses plain text. An instance that has nothing but a path has it as both.
    With `over_tls` only addresses count whose bytes are encrypted, or stay in this process."""
    network = local = ""
    for text in entry.offer.addresses:
        try:
            address = Address.parse(text)
        except ValueError as wrong:
            if len(unreadable) < _MOST_UNREADABLE:
                unreadable[text] = str(wrong)
            continue
        if over_tls and address.scheme not in _SECRET:
            continue
        if address.local:
            local = local or text
        elif address.scheme in SCHEMES:
            network = network or text
    network = network or local
    if not network:
        return None
    fingerprint = entry.offer.fingerprint
    certified = network.startswith("tls:") and not entry.identity.startswith(("uid:", "token:"))
    return Instance(
        network,
        min(entry.offer.weight or 1, MOST_WEIGHT),
        local,
        entry.instance.bytes,
        fingerprint.bytes if fingerprint.int else b"",
        entry.identity if certified else "",
    )
