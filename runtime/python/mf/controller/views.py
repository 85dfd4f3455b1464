"""R6. What a client knows of one service from a controller, and for how long.

When the controller is lost, what was known stays. When it comes back as another one (a new epoch), what the
old one knew is kept for KEEP_OLD seconds beside what the new one says, for servers need a moment to register
again.
"""

from collections.abc import Iterable
from itertools import islice

from mf.controller._generated.mf.controller import Instance as Entry
from mf.controller._generated.mf.controller import View as Answer
from mf.core.options import CallOptions
from mf.link.resolver import Instance, View
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES

KEEP_OLD = 10.0
_POLL_MS = 30_000
_ANSWER_WITHIN = 10.0
_FIRST_WITHIN = 0.8  # so that a user is told within a second why nobody answers
_AGAIN_WITHIN = 5.0
_MAX_AGENTS = 10_000  # that are remembered without an instance


class Watched:
    """One service: the newest answer, and until when an older controller's entries count too."""

    __slots__ = ("answer", "old", "old_until", "view")

    def __init__(self) -> None:
        self.answer = Answer()
        self.old: list[Entry] = []
        self.old_until = 0.0
        self.view = View({}, reached=False)

    def question(self, now: float) -> tuple[int, CallOptions]:
        """How many milliseconds the controller may take to answer, and the options of that call."""
        wait_ms = _POLL_MS
        if self.old:  # come back when they are to be forgotten
            wait_ms = max(min(int((self.old_until - now) * 1000) + 1, _POLL_MS), 1)
        if not self.view.reached or self.view.trouble:
            # Who waits for an answer is to learn soon why none comes; a controller that is slow gets its time
            # when that was said.
            return 0, CallOptions(deadline=_AGAIN_WITHIN if self.view.trouble else _FIRST_WITHIN)
        return wait_ms, CallOptions(deadline=wait_ms / 1000 + _ANSWER_WITHIN)

    def takes(self, answer: Answer, now: float) -> bool:
        """Whether the answer brings anything new."""
        before = self.view
        same = (answer.epoch, answer.revision) == (self.answer.epoch, self.answer.revision)
        if same and before.reached and not before.trouble and not self.old:
            return False
        self._take(answer, now)
        return True

    def lost(self, trouble: str) -> bool:
        """What is known stays known; who waits for a first answer learns why there is none. Whether that is
        new."""
        if self.view.trouble == trouble:
            return False
        self.view = View(self.view.agents, reached=self.view.reached, trouble=trouble)
        return True

    def _take(self, answer: Answer, now: float) -> None:
        if self.answer.epoch not in (0, answer.epoch):
            self.old = self._entries(now)
            self.old_until = now + KEEP_OLD
        self.answer = answer
        self.view = to_view(self._entries(now), self.view.agents)

    def _entries(self, now: float) -> list[Entry]:
        if now >= self.old_until:
            self.old = []
        known = {(entry.agent, entry.nonce) for entry in self.answer.instances}
        return [*self.answer.instances, *(e for e in self.old if (e.agent, e.nonce) not in known)]


def to_view(entries: Iterable[Entry], known: Iterable[str]) -> View:
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
