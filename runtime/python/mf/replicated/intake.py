"""R6. What comes into a replica's log and goes from there to its servant: messages that wait for those before
them, the log's growth, what the servant is asked for, and the peers that are notified of it. Part of a
replica, which has the log and the epoch; a file of its own, since it is a role of its own.

A message with a version waits until all before it are there. Then it is in the log, the servant is asked to
apply it, and once the servant has done so, it is acknowledged as its pattern wants it (acknowledging.py).
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from mf.core.error import Code
from mf.replicated.acknowledging import Holder as AcknowledgingHolder
from mf.replicated.acknowledging import Owed
from mf.replicated.log import Log, Origins, Seen
from mf.replicated.messages import (
    Apply,
    Body,
    ClientState,
    Effect,
    Entry,
    Head,
    Numbered,
    Origin,
    Outcome,
    PeerId,
    Report,
    RestoreState,
    Stamped,
    TakeSnapshot,
    Version,
)
from mf.replicated.settings import ReplicaSettings

NO_VERSION = Version()


class Holder(AcknowledgingHolder, Protocol):
    """What this uses of the replica that it belongs to (replica.py)."""

    settings: ReplicaSettings
    log: Log
    promised: int

    def emit(self, effect: Effect) -> None: ...

    def refuse(self, to: PeerId, origin: Origin, code: Code, text: str) -> None: ...

    def give_state(self, to: str, report: Report, state: bytes, counter: int, origins: Origins) -> None:
        """The servant's state is there that a member was to get."""

    def give_up(self, reason: str) -> None: ...


@dataclass(slots=True)
class _Job:
    """What the servant was asked for. `generation`: of the state that it is about. `counter`: which entry it
    is to apply, up to which its state is restored, or up to which a snapshot goes; 0 for a message without a
    version.
    """

    effect: Apply | RestoreState | TakeSnapshot
    generation: int
    counter: int
    seen: Seen | None = None
    wanted_by: tuple[str, Report] | None = None
    origins: Origins | None = None


class Intake:
    """See above."""

    def __init__(self, replica: Holder) -> None:
        self._replica = replica
        self._early: dict[int, tuple[PeerId, Stamped]] = {}
        self._sealed: set[int] = set()
        self._tagged: OrderedDict[tuple[UUID, int], Body] = OrderedDict()
        self._numbered: OrderedDict[tuple[UUID, int], Numbered] = OrderedDict()
        self._owed = Owed(replica)
        self._direct = Origins()
        self._jobs: deque[_Job] = deque()
        self._unapplied: deque[int] = deque()
        self._generation = 0
        self._state_is_new = True

    @property
    def applied(self) -> int:
        """The counter up to which the servant has applied."""
        return self._unapplied[0] - 1 if self._unapplied else self._replica.log.head.version.counter

    @property
    def is_full(self) -> bool:
        """Whether the servant has as much to apply as it may have."""
        return len(self._unapplied) >= self._replica.settings.most_unapplied

    @property
    def lacks_something(self) -> bool:
        """Whether something waits for messages that have not come."""
        return bool(self._early) or bool(self._numbered)

    @property
    def state_is_new(self) -> bool:
        """Whether the servant has applied nothing yet."""
        return self._state_is_new

    # Messages with versions

    def hold(self, sender: PeerId, message: Stamped) -> None:
        """A message with a version, of the epoch that it is sent under."""
        replica = self._replica
        if message.under != replica.promised:
            return
        counter = message.entry.version.counter
        head = replica.log.head.version.counter
        if counter > head:
            if counter in self._sealed and isinstance(sender, UUID):
                return
            if counter == head + 1 or len(self._early) < replica.settings.most_early:
                self._early[counter] = (sender, message)
                if counter == head + 1:
                    self._drain()
        elif replica.is_normal:
            held = replica.log.head_at(counter)
            if held is None or held.version == message.entry.version:
                self._owed.owe(counter, message)

    def tag(self, sender: UUID, body: Body) -> None:
        """A message whose version comes on its own, from the versioning server."""
        replica = self._replica
        key = (body.origin.client, body.origin.sequence)
        seen = replica.origins.find(body.origin)
        numbered = self._numbered.pop(key, None)
        if seen is not None:
            self.hold(sender, Stamped(Entry(seen.version, body), replica.promised))
        elif numbered is not None:
            self.hold(sender, Stamped(Entry(numbered.version, body), numbered.under))
        elif not replica.origins.is_over(body.origin):
            self._tagged[key] = body
            if len(self._tagged) > replica.settings.most_early:
                self._tagged.popitem(last=False)

    def number(self, sender: str, message: Numbered) -> None:
        """The version of a message that comes on its own, from its client."""
        replica, origin = self._replica, message.origin
        body = self._tagged.pop((origin.client, origin.sequence), None)
        if body is not None:
            self.hold(sender, Stamped(Entry(message.version, body), message.under))
        elif message.under == replica.promised:
            self._numbered[origin.client, origin.sequence] = message
            if len(self._numbered) > replica.settings.most_early:
                self._numbered.popitem(last=False)

    def append(self, entry: Entry) -> None:
        """One more entry of the log: the servant is to apply it, unless it is empty or comes twice."""
        origins = self._replica.origins
        self._replica.log.append(entry)
        counter, body = entry.version.counter, entry.body
        self._sealed.discard(counter)
        self._early.pop(counter, None)
        if body is None:
            return
        key = (body.origin.client, body.origin.sequence)
        self._tagged.pop(key, None)
        self._numbered.pop(key, None)
        if origins.find(body.origin) is None and not origins.is_over(body.origin):
            seen = origins.add(body.origin, entry.version)
            self._state_is_new = False
            self._unapplied.append(counter)
            self._ask_servant(_Job(Apply(entry.version, body), self._generation, counter, seen))

    def owe(self, message: Stamped) -> None:
        """An acknowledgement is sent when this one, which is in the log, is applied."""
        self._owed.owe(message.entry.version.counter, message)

    def go_on(self) -> None:
        """Takes what waits and can be taken by now, and acknowledges what can be acknowledged."""
        self._drain()
        self._owed.pay()

    # Messages without a version

    def direct(self, sender: UUID, body: Body) -> None:
        """A message that is applied at once."""
        seen = self._direct.find(body.origin)
        if seen is None:
            if self._direct.is_over(body.origin):
                return
            if len(self._jobs) >= self._replica.settings.most_unapplied:
                text = "the replica has too much to apply"
                self._replica.refuse(sender, body.origin, Code.OVERLOADED, text)
                return
            seen = self._direct.add(body.origin, NO_VERSION)
            self._ask_servant(_Job(Apply(NO_VERSION, body), self._generation, 0, seen))
        elif seen.outcome is not None:
            self._owed.unversioned(body.origin, seen.outcome)

    # The servant

    def done(self, outcome: Outcome) -> None:
        """The servant has done the oldest of what it was asked for."""
        job = self._jobs.popleft()
        match job.effect:
            case TakeSnapshot():
                current = job.generation == self._generation and not outcome.status
                if current and job.wanted_by is not None and job.origins is not None:
                    self._replica.give_state(*job.wanted_by, outcome.payload, job.counter, job.origins)
                return
            case RestoreState() if outcome.status:
                text = outcome.payload.decode(errors="replace")
                self._replica.give_up(f"its state was not restored: {text}")
                return
            case Apply(_, body) if job.seen is not None:
                job.seen.outcome = outcome
                if not job.counter:
                    self._owed.unversioned(body.origin, outcome)
                    return
        if job.generation == self._generation:
            self._unapplied.popleft()
            self.go_on()

    def has_job_for(self, member: str) -> bool:
        """Whether the servant was asked for a state for this one."""
        return any(job.wanted_by is not None and job.wanted_by[0] == member for job in self._jobs)

    def take_state_for(self, member: str, report: Report) -> None:
        """Asks the servant for its state; `Holder.give_state` follows."""
        replica = self._replica
        at = replica.log.head.version.counter  # the servant has applied all that when it is asked
        wanted_by, origins = (member, report), replica.origins.copy()
        self._ask_servant(_Job(TakeSnapshot(), self._generation, at, None, wanted_by, origins))

    # Epochs

    def begin_epoch(self) -> None:
        """What was sent under an older epoch, and waits, does not count any more."""
        self._early.clear()
        self._sealed.clear()
        self._numbered.clear()

    def seal(self, counter: int) -> Entry | None:
        """What a replica has under a version. If it has nothing, it takes nothing from clients under it any
        more.
        """
        early = self._early.get(counter)
        entry = self._replica.log.at(counter) or (early[1].entry if early is not None else None)
        if entry is None and counter > self._replica.log.head.version.counter:
            self._sealed.add(counter)
        return entry

    def restart(self, at: Head, clients: list[ClientState], restored: RestoreState | None) -> None:
        """The log begins anew behind `at`. `restored`: what the servant's state becomes; None if that is new
        and stays so.
        """
        self._generation += 1
        self._unapplied.clear()
        self._owed.clear()
        counter = at.version.counter
        self._early = {each: waits for each, waits in self._early.items() if each > counter}
        self._replica.log.reset(at)
        self._replica.origins.restore(clients)
        if restored is not None:
            self._unapplied.append(counter)
            self._ask_servant(_Job(restored, self._generation, counter))

    def _drain(self) -> None:
        """Takes what is next into the log, as long as it is there and the servant keeps up."""
        while self._replica.is_normal and not self.is_full:
            counter = self._replica.log.head.version.counter + 1
            early = self._early.pop(counter, None)
            if early is None:
                break
            self.append(early[1].entry)
            self._owed.owe(counter, early[1])

    def _ask_servant(self, job: _Job) -> None:
        self._jobs.append(job)
        self._replica.emit(job.effect)
