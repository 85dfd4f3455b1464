"""R6. What a replica does besides while it has the lead: it gives out the versions of its epoch.

    preparing -> a majority (or, where some are blank, each member) has reported -> the best log is taken over
    -> ready

"Best" is the log that was normal in the latest epoch, and of these the longest: whatever a majority has
acknowledged under one epoch is part of it. From then on each new message gets the next counter, and travels
as its pattern says. Part of a replica, as that has the log; a file of its own, since it is a role of its own.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from mf.core.error import Code
from mf.replicated.log import Log, Origins
from mf.replicated.messages import (
    MOST_AHEAD,
    Ack,
    Body,
    Entry,
    Given,
    Message,
    Numbered,
    Origin,
    Pattern,
    PeerId,
    Prepare,
    Pull,
    Report,
    Seal,
    Sealed,
    Stamped,
    Version,
    needed,
)
from mf.replicated.settings import ReplicaSettings

_MOST_GATHERED = 4_096


@dataclass(slots=True)
class _GivenOut:
    """A version that its client has, and the log has not."""

    origin: Origin
    since: float
    sealed: set[str] = field(default_factory=set)
    asked_at: float = -1e9


@dataclass(slots=True)
class _Gathered:
    """Acknowledgements of one message that the versioning server passes on together (one hop)."""

    need: int
    applied: set[str] = field(default_factory=set)


class Holder(Protocol):
    """What a versioner uses of the replica that it belongs to (replica.py)."""

    me: str
    members: tuple[str, ...]
    others: tuple[str, ...]
    majority: int
    settings: ReplicaSettings
    log: Log
    origins: Origins
    promised: int
    normal: int
    now: float

    @property
    def applied(self) -> int: ...

    def send(self, to: PeerId, message: Message) -> None: ...

    def refuse(self, to: PeerId, origin: Origin, code: Code, text: str) -> None: ...

    def resign(self, reason: str) -> None: ...

    def promise(self, epoch: int) -> None: ...

    def become_normal(self, epoch: int) -> None: ...

    def set_leader(self, epoch: int, member: str) -> None: ...

    def members_connected(self) -> list[str]: ...

    def report(self) -> Report: ...

    def hold(self, sender: PeerId, message: Stamped) -> None: ...

    def supply(self, to: str, report: Report) -> None: ...


class Versioner:
    """See above."""

    def __init__(self, replica: Holder, epoch: int) -> None:
        self.epoch = epoch
        self.ready = False
        self._replica = replica
        self._reports: dict[str, Report] = {}
        self._pulls: str | None = None
        self._asked_at = replica.now
        self._alone_since: float | None = None
        self._given: dict[int, _GivenOut] = {}
        self._given_to: dict[tuple[UUID, int], int] = {}
        self._gathered: OrderedDict[tuple[UUID, int], _Gathered] = OrderedDict()
        self._next = 0
        self._supplied: set[str] = set()
        self._blank: dict[str, int] = {}
        self._notified_at: dict[str, float] = {}

    # Taking the lead

    def begin(self) -> None:
        replica = self._replica
        if replica.promised >= self.epoch:
            replica.resign(f"epoch {replica.promised} has begun")
            return
        replica.promise(self.epoch)
        self._prepare()

    def connected(self, member: PeerId) -> None:
        self._replica.send(member, self._prepared())

    def disconnected(self, member: str) -> None:
        """The reports of the member are void: it may return with another state."""
        self._reports.pop(member, None)
        self._notified_at.pop(member, None)
        if self._pulls == member:
            self._pulls = None

    def reported(self, member: str, report: Report) -> None:
        if report.epoch > self.epoch:
            self._replica.resign(f"epoch {report.epoch} has begun")
            return
        if report.epoch < self.epoch:
            self._replica.send(member, self._prepared())
            return
        self._reports[member] = report
        if self.ready:
            self._supply(member, report)
        elif self._pulls is None:
            self._choose()

    def pulls_from(self, member: str) -> bool:
        return self._pulls == member

    def progressed(self) -> None:
        """More of what it has pulled is here, and more is on its way."""
        self._asked_at = self._replica.now

    def pulled(self, whole: bool) -> None:
        """More of the best log is there. `whole`: all of it."""
        if self.ready and (whole or self._replica.normal == self.epoch):
            self._pulls = None
            self._replica.become_normal(self.epoch)
        elif whole:
            self._start()
        elif self._pulls is not None:
            self._pull(self._pulls)

    def _prepared(self) -> Prepare:
        return Prepare(self.epoch, self.ready, self._replica.log.head)

    def _prepare(self) -> None:
        self._asked_at = self._replica.now
        self._pulls = None
        self._reports = {self._replica.me: self._replica.report()}
        for member in self._replica.members_connected():
            self._replica.send(member, self._prepared())
        self._choose()

    def _choose(self) -> None:
        """Whose log this epoch goes on with, once enough have said what they have."""
        replica, reports = self._replica, self._reports
        counting = {member: report for member, report in reports.items() if report.normal}
        if len(counting) < replica.majority and len(reports) < len(replica.members):
            return
        best = max(
            counting,
            key=lambda each: (counting[each].normal, counting[each].head.version.counter, each == replica.me),
            default=replica.me,
        )
        if best == replica.me or counting[best].head == replica.log.head:
            self._start()
        else:
            self._pull(best)

    def _pull(self, best: str) -> None:
        self._pulls = best
        self._asked_at = self._replica.now
        self._send_pull(best)

    def _send_pull(self, member: str) -> None:
        report = self._reports.get(member)
        if report is not None:
            self._replica.send(member, Pull(self.epoch, self._replica.log.head, report.head))

    def _start(self) -> None:
        replica = self._replica
        self.ready = True
        self._pulls = None
        replica.become_normal(self.epoch)
        self._next = replica.log.head.version.counter + 1
        replica.set_leader(self.epoch, replica.me)
        for member in replica.members_connected():
            replica.send(member, self._prepared())

    def _tell(self, member: str) -> None:
        """That this epoch has begun: not again at once, as each Prepare is answered by a Report."""
        now = self._replica.now
        if now - self._notified_at.get(member, -1e9) >= self._replica.settings.repeat:
            self._notified_at[member] = now
            self._replica.send(member, self._prepared())

    def _supply(self, member: str, report: Report) -> None:
        head, theirs = self._replica.log.head, report.head
        mine = self._replica.log.head_at(theirs.version.counter)
        if report.normal == self.epoch:
            if theirs.version.counter > head.version.counter:
                return  # clients have sent it there first
            if (mine is None or mine == theirs) and (not report.missing or theirs == head):
                return
        if report.normal == 0:
            # Since it was supplied it may have acknowledged anything that was given out before it lost its
            # memory. Others count on that, so it does not count before that is here.
            last = self._next - 1 if member in self._supplied else 0
            if head.version.counter < self._blank.setdefault(member, last):
                return
            del self._blank[member]
        if report.normal != self.epoch:
            self._tell(member)
        self._supplied.add(member)
        self._replica.supply(member, report)

    # Giving out versions

    def ask(self, client: PeerId, origin: Origin) -> None:
        """A client wants a version, and will send the message with it to all."""
        replica = self._replica
        if not self._takes(client, origin):
            return
        key = (origin.client, origin.sequence)
        seen = replica.origins.find(origin)
        if seen is not None:
            replica.send(client, Given(origin.sequence, seen.version, self.epoch))
            return
        counter = self._given_to.get(key)
        if counter is None:
            if not self._has_room(client, origin):
                return
            counter = self._take_next()
            self._given[counter] = _GivenOut(origin, replica.now)
            self._given_to[key] = counter
        replica.send(client, Given(origin.sequence, Version(self.epoch, counter), self.epoch))

    def submit(self, client: PeerId, body: Body) -> None:
        """A client's message: it gets a version, and goes on as its pattern says. One that came before does
        so again, for those that have missed it.
        """
        replica, origin = self._replica, body.origin
        if not self._takes(client, origin):
            return
        seen = replica.origins.find(origin)
        if seen is not None:
            entry = Entry(seen.version, body)
        elif self._has_room(client, origin):
            entry = Entry(Version(self.epoch, self._take_next()), body)
        else:
            return
        if body.pattern is Pattern.one_hop:
            self._gather(body)
        chain = self._chain() if body.pattern is Pattern.chain else []
        self._spread(client, entry, body)
        replica.hold(replica.me, Stamped(entry, self.epoch, chain, []))

    def acknowledged(self, ack: Ack) -> None:
        """A replica has applied a message (one hop)."""
        gathered = self._gathered.get((ack.client, ack.sequence))
        if gathered is None or ack.under != self.epoch:
            return
        gathered.applied.update(ack.applied)
        if len(gathered.applied) >= gathered.need:
            del self._gathered[ack.client, ack.sequence]
            applied = sorted(gathered.applied)
            whole = Ack(ack.client, ack.sequence, ack.version, self.epoch, applied, ack.outcome)
            self._replica.send(ack.client, whole)

    def _takes(self, client: PeerId, origin: Origin) -> bool:
        """Whether the client still awaits this message of its own. One that is further ahead than any caller
        sends (caller.py) is refused for good: replicas keep no more of a client than that.
        """
        if client != origin.client or self._replica.origins.is_over(origin):
            return False
        ahead = origin.sequence - origin.oldest
        if 0 <= ahead < MOST_AHEAD:
            return True
        text = (
            f"message {origin.sequence} of a client that still awaits {origin.oldest}: at most {MOST_AHEAD}"
        )
        self._replica.refuse(client, origin, Code.INVALID_ARGUMENT, f"{text} may be under way")
        return False

    def _has_room(self, client: PeerId, origin: Origin) -> bool:
        replica = self._replica
        waiting = self._next - 1 - replica.applied
        if waiting < replica.settings.most_unapplied:
            return True
        replica.refuse(client, origin, Code.OVERLOADED, f"{waiting} messages wait to be applied")
        return False

    def _take_next(self) -> int:
        counter = self._next
        self._next += 1
        return counter

    def _spread(self, client: PeerId, entry: Entry, body: Body) -> None:
        replica = self._replica
        match body.pattern:
            case Pattern.one_hop | Pattern.one_hop_ack_client:
                for member in replica.members_connected():
                    replica.send(member, Stamped(entry, self.epoch))
            case Pattern.wait_for_version:
                for member in replica.members_connected():
                    replica.send(member, Numbered(body.origin, entry.version, self.epoch))
            case Pattern.message_returns_version:
                replica.send(client, Given(body.origin.sequence, entry.version, self.epoch))
            case _:
                pass

    def _chain(self) -> list[str]:
        """Those that can pass a message on: they are there, and have this epoch's log."""
        reports = self._reports
        return [
            each
            for each in self._replica.members_connected()
            if each in reports and reports[each].normal == self.epoch
        ]

    def _gather(self, body: Body) -> None:
        key = (body.origin.client, body.origin.sequence)
        if key not in self._gathered:
            self._gathered[key] = _Gathered(needed(body.require, len(self._replica.members)))
            if len(self._gathered) > _MOST_GATHERED:
                self._gathered.popitem(last=False)

    # Versions that are not used

    def sealed(self, member: str, message: Sealed) -> None:
        counter = message.version.counter
        given = self._given.get(counter)
        if message.epoch != self.epoch or given is None:
            return
        if message.entry is not None:
            self._replica.hold(member, Stamped(message.entry, self.epoch))
            return
        given.sealed.add(member)
        self._leave_empty(message.version, given)

    def _leave_empty(self, version: Version, given: _GivenOut) -> None:
        """If a majority does not have it; or no member has it, where a majority has lost its memory."""
        replica = self._replica
        blank = {each for each, report in self._reports.items() if not report.normal and each != replica.me}
        without = len(given.sealed) + 1
        if without >= replica.majority or len(given.sealed | blank) + 1 >= len(replica.members):
            empty = Stamped(Entry(version), self.epoch)
            for other in replica.members_connected():
                replica.send(other, empty)
            replica.hold(replica.me, empty)

    def _seal_unused(self) -> None:
        """The log waits for a message whose client had its version long ago: unless a member has it, it is
        empty.
        """
        replica = self._replica
        head = replica.log.head.version.counter
        for counter in [each for each in self._given if each <= head]:
            given = self._given.pop(counter)
            self._given_to.pop((given.origin.client, given.origin.sequence), None)
        first = self._given.get(head + 1)
        if first is None or replica.now - max(first.since, first.asked_at) < replica.settings.repeat:
            return
        ahead = self._ahead(head)
        if ahead is not None:
            first.asked_at = replica.now
            self._pulls = ahead
            self._send_pull(ahead)
        elif replica.now - first.since >= replica.settings.unused:
            first.asked_at = replica.now
            version = Version(self.epoch, head + 1)
            for member in replica.members_connected():
                replica.send(member, Seal(self.epoch, version))
            self._leave_empty(version, first)

    def _ahead(self, head: int) -> str | None:
        """A member that has more of this epoch: clients have sent it there, and here it was lost."""
        connected = self._replica.members_connected()
        return next(
            (
                member
                for member, report in self._reports.items()
                if report.normal == self.epoch and report.head.version.counter > head and member in connected
            ),
            None,
        )

    # Time

    def tick(self) -> None:
        replica, settings = self._replica, self._replica.settings
        connected = replica.members_connected()
        if len(connected) + 1 >= replica.majority:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = replica.now
        elif replica.now - self._alone_since > settings.patience:
            replica.resign(f"it reaches {len(connected)} of {len(replica.others)} other replicas")
            return
        if self.ready:
            self._seal_unused()
        if replica.now - self._asked_at < settings.repeat:
            return
        if not self.ready:
            self._prepare()
            return
        self._asked_at = replica.now
        for member in connected:
            report = self._reports.get(member)
            if report is None or report.normal != self.epoch or report.head != replica.log.head:
                replica.send(member, self._prepared())
