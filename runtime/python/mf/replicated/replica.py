"""R4. One replica of a group: what it holds, applies and acknowledges.

Messages go in with the time, effects come out of `take`. A replica holds a log whose order is that of the
versions; what comes early waits, what is missing is asked for, and everything is applied once, in order, when
all before it is there. It is normal in an epoch once it has taken over that epoch's log, and then it
acknowledges: under that epoch, since only what a majority holds under one epoch is certain to be in the log
of the next.

blank (normal is 0, nothing counts) -> Recovered by a majority -> Prepare, Sync -> normal in an epoch
normal -> Prepare of a later epoch: takes nothing of the older one any more -> Sync or Restore -> normal in
that one

A process that has lost its memory may have promised something before. So it first asks the others
which epoch is the latest, and takes no log of an older one.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mf.core.error import Code
from mf.replicated.acknowledging import Owed
from mf.replicated.log import Log, Origins, Seen
from mf.replicated.messages import (
    MOST_ENTRIES,
    MOST_MEMBERS,
    Ack,
    Apply,
    Ask,
    Body,
    Direct,
    Distrust,
    Effect,
    Entry,
    Head,
    Leading,
    Message,
    Numbered,
    Origin,
    Outcome,
    Part,
    Pattern,
    PeerId,
    Prepare,
    Pull,
    Recover,
    Recovered,
    Refused,
    Report,
    Resign,
    Restore,
    RestoreState,
    Seal,
    Sealed,
    Send,
    Stamped,
    Stuck,
    Submit,
    Sync,
    Tagged,
    TakeSnapshot,
    Took,
    Version,
    majority,
)
from mf.replicated.settings import ReplicaSettings
from mf.replicated.states import Taking
from mf.replicated.supplier import Supplier
from mf.replicated.versioner import Versioner

NO_VERSION = Version()
_NO_RESTORE = "its log is no part of what the others keep, and its servant has no restore()"


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


class Replica:
    """See above. `life` is a number of this run of the process alone."""

    def __init__(
        self,
        me: str,
        members: Sequence[str],
        schema: UUID,
        life: UUID,
        *,
        can_snapshot: bool = False,
        settings: ReplicaSettings | None = None,
    ) -> None:
        if me not in members:
            raise ValueError(f"'{me}' is none of the members {', '.join(members)}")
        if len(set(members)) != len(members) or len(members) > MOST_MEMBERS:
            raise ValueError(f"a group has up to {MOST_MEMBERS} members, each with a name of its own")
        self.me = me
        self.members = tuple(members)
        self.others = tuple(each for each in members if each != me)
        self.majority = majority(len(members))
        self.schemas = {schema}
        """Of messages that clients may send: more are added as they are learned of."""
        self.settings = settings or ReplicaSettings()
        self.can_snapshot = can_snapshot
        self.log = Log(min(self.settings.most_entries, MOST_ENTRIES), self.settings.most_bytes)
        self.origins = Origins()
        self.promised = 0
        self.normal = 0
        self.leader: Leading | None = None
        self.versioner: Versioner | None = None
        self.now = 0.0
        self.stuck = False
        self._life = life
        self._resolved = not self.others
        self._recovered: dict[str, Recovered] = {}
        self._peers: dict[PeerId, None] = {}
        self._early: dict[int, tuple[PeerId, Stamped]] = {}
        self._sealed: set[int] = set()
        self._tagged: OrderedDict[tuple[UUID, int], Body] = OrderedDict()
        self._numbered: OrderedDict[tuple[UUID, int], Numbered] = OrderedDict()
        self._owed = Owed(self)
        self._direct = Origins()
        self._jobs: deque[_Job] = deque()
        self._unapplied: deque[int] = deque()
        self._generation = 0
        self._state_is_new = True
        self._asked_at = -1e9
        self._supplier = Supplier(self)
        self._taking: Taking | None = None
        self._effects: list[Effect] = []

    # What the driver calls

    def take(self) -> list[Effect]:
        """The effects since the last call, in their order."""
        effects, self._effects = self._effects, []
        return effects

    def receive(self, sender: PeerId, message: Message, now: float) -> None:
        """A message of a peer. What makes no sense now is dropped: senders repeat."""
        self.now = now
        if not self.stuck:
            receivers = _OF_CLIENTS if isinstance(sender, UUID) else _OF_MEMBERS
            receiver = receivers.get(type(message))
            if receiver is not None:
                receiver(self, sender, message)

    def connected(self, peer: PeerId, now: float) -> None:
        self.now = now
        self._peers[peer] = None
        if isinstance(peer, UUID):
            if self.leader is not None:
                self.send(peer, self.leader)
        elif self.versioner is not None:
            self.versioner.connected(peer)

    def disconnected(self, peer: PeerId, now: float) -> None:
        self.now = now
        self._peers.pop(peer, None)
        if isinstance(peer, UUID):
            return
        self._supplier.forget(peer)
        if self._taking is not None and self._taking.sender == peer:
            self._taking = None
        if self.versioner is not None:
            self.versioner.disconnected(peer)

    def lead(self, epoch: int, now: float) -> None:
        """This process has got the lead. It has it until a later epoch begins, or it resigns: replicas are
        fenced by what they have promised, so that nothing is lost by one who no longer has the controller's
        word.
        """
        self.now = now
        self.versioner = Versioner(self, epoch)
        self.versioner.begin()

    def tick(self, now: float) -> None:
        """Now and then, a few times in `repeat`: repeats what was not answered."""
        self.now = now
        if self.stuck:
            return
        if not self._resolved and now - self._asked_at >= self.settings.repeat:
            self._asked_at = now
            for other in self.others:
                self.send(other, Recover(self._life))
        elif self._lacks_something() and now - self._asked_at >= self.settings.repeat:
            self._asked_at = now
            if self.leader is None or self.leader.epoch < self.promised:
                for other in self.others:  # whoever leads has missed that this one has started anew
                    self.send(other, self._report(missing=True))
            elif self.leader.member != self.me:
                self.send(self.leader.member, self._report(missing=True))
        self._supplier.tick()
        if self.versioner is not None:
            self.versioner.tick()

    def done(self, outcome: Outcome, now: float) -> None:
        """The servant has done the oldest of what it was asked for."""
        self.now = now
        job = self._jobs.popleft()
        match job.effect:
            case TakeSnapshot():
                current = job.generation == self._generation and not outcome.status
                if current and job.wanted_by is not None and job.origins is not None:
                    self._supplier.give(*job.wanted_by, outcome.payload, job.counter, job.origins)
                return
            case RestoreState() if outcome.status:
                self._get_stuck(f"its state was not restored: {outcome.payload.decode(errors='replace')}")
                return
            case Apply(_, body) if job.seen is not None:
                job.seen.outcome = outcome
                if not job.counter:
                    self._owed.unversioned(body.origin, outcome)
                    return
        if job.generation == self._generation:
            self._unapplied.popleft()
            self._drain()
            self._owed.pay()

    @property
    def applied(self) -> int:
        """The counter up to which the servant has applied."""
        return self._unapplied[0] - 1 if self._unapplied else self.log.head.version.counter

    @property
    def is_normal(self) -> bool:
        """Whether it takes and acknowledges what is sent under its epoch."""
        return self.normal != 0 and self.normal == self.promised

    # For the versioner, too

    def send(self, to: PeerId, message: Message) -> None:
        self._effects.append(Send(to, message))

    def resign(self, reason: str) -> None:
        self.versioner = None
        self._effects.append(Resign(reason))

    def members_connected(self) -> list[str]:
        return [each for each in self.others if each in self._peers]

    def promise(self, epoch: int) -> None:
        if epoch > self.promised:
            self.promised = epoch
            if self.versioner is not None and self.versioner.epoch < epoch:
                self.resign(f"epoch {epoch} has begun")
            self._early.clear()
            self._sealed.clear()
            self._numbered.clear()
            self._supplier.forget_all()
            self._taking = None

    def become_normal(self, epoch: int) -> None:
        """The log is that of this epoch now."""
        self.normal = epoch
        self._resolved = True
        self._drain()
        self._owed.pay()

    def set_leader(self, epoch: int, member: str) -> None:
        if self.leader is None or epoch > self.leader.epoch:
            self.leader = Leading(epoch, member)
            for peer in self._peers:
                if isinstance(peer, UUID):
                    self.send(peer, self.leader)

    def hold(self, sender: PeerId, message: Stamped) -> None:
        """A message with a version, of the epoch that it is sent under."""
        if message.under != self.promised:
            return
        counter = message.entry.version.counter
        head = self.log.head.version.counter
        if counter > head:
            if counter in self._sealed and isinstance(sender, UUID):
                return
            if counter == head + 1 or len(self._early) < self.settings.most_early:
                self._early[counter] = (sender, message)
                if counter == head + 1:
                    self._drain()
        elif self.is_normal:
            held = self.log.head_at(counter)
            if held is None or held.version == message.entry.version:
                self._owed.owe(counter, message)

    def supply(self, to: str, report: Report) -> None:
        self._supplier.supply(to, report)

    def has_job_for(self, member: str) -> bool:
        return any(job.wanted_by is not None and job.wanted_by[0] == member for job in self._jobs)

    def take_state_for(self, member: str, report: Report) -> None:
        at = self.log.head.version.counter  # the servant has applied all that when it is asked
        wanted_by, origins = (member, report), self.origins.copy()
        self._ask_servant(_Job(TakeSnapshot(), self._generation, at, None, wanted_by, origins))

    # Messages of clients

    def _ask(self, sender: UUID, message: Ask) -> None:
        if self._leads(sender):
            assert self.versioner is not None
            self.versioner.ask(sender, message.origin)

    def _submit(self, sender: UUID, message: Submit) -> None:
        if self._fits(sender, message.body) and self._leads(sender):
            assert self.versioner is not None
            self.versioner.submit(sender, message.body)

    def _tag(self, sender: UUID, message: Tagged) -> None:
        body = message.body
        if not self._fits(sender, body):
            return
        if message.tag == self.me:
            self._submit(sender, Submit(body))
            return
        key = (body.origin.client, body.origin.sequence)
        seen = self.origins.find(body.origin)
        numbered = self._numbered.pop(key, None)
        if seen is not None:
            self.hold(sender, Stamped(Entry(seen.version, body), self.promised))
        elif numbered is not None:
            self.hold(sender, Stamped(Entry(numbered.version, body), numbered.under))
        elif not self.origins.is_over(body.origin):
            self._tagged[key] = body
            if len(self._tagged) > self.settings.most_early:
                self._tagged.popitem(last=False)

    def _direct_message(self, sender: UUID, message: Direct) -> None:
        body = message.body
        if not self._fits(sender, body):
            return
        seen = self._direct.find(body.origin)
        if seen is None:
            if self._direct.is_over(body.origin):
                return
            if len(self._jobs) >= self.settings.most_unapplied:
                self.refuse(sender, body.origin, Code.OVERLOADED, "the replica has too much to apply")
                return
            seen = self._direct.add(body.origin, NO_VERSION)
            self._ask_servant(_Job(Apply(NO_VERSION, body), self._generation, 0, seen))
        elif seen.outcome is not None:
            self._owed.unversioned(body.origin, seen.outcome)

    def _fits(self, sender: PeerId, body: Body) -> bool:
        """Whether a client's message is of the schema and of the client itself."""
        if body.schema not in self.schemas:
            text = "the replica does not know that schema, or not yet"
            self.refuse(sender, body.origin, Code.UNAVAILABLE, text)
            return False
        return sender == body.origin.client

    def refuse(self, to: PeerId, origin: Origin, code: Code, text: str) -> None:
        self.send(to, Refused(origin.sequence, int(code), text))

    def _leads(self, client: PeerId) -> bool:
        if self.versioner is not None and self.versioner.ready:
            return True
        if self.leader is not None and self.leader.member != self.me:
            self.send(client, self.leader)
        return False

    # Messages with versions

    def _stamped_by_client(self, sender: UUID, message: Stamped) -> None:
        body = message.entry.body
        if body is not None and self._fits(sender, body):
            self.hold(sender, message)

    def _number(self, sender: str, message: Numbered) -> None:
        origin = message.origin
        body = self._tagged.pop((origin.client, origin.sequence), None)
        if body is not None:
            self.hold(sender, Stamped(Entry(message.version, body), message.under))
        elif message.under == self.promised:
            self._numbered[origin.client, origin.sequence] = message
            if len(self._numbered) > self.settings.most_early:
                self._numbered.popitem(last=False)

    def _drain(self) -> None:
        """Takes what is next into the log, as long as it is there and the servant keeps up."""
        while self.is_normal and len(self._unapplied) < self.settings.most_unapplied:
            counter = self.log.head.version.counter + 1
            early = self._early.pop(counter, None)
            if early is None:
                break
            self._append(early[1].entry)
            self._owed.owe(counter, early[1])

    def _append(self, entry: Entry) -> None:
        """One more entry of the log: the servant is to apply it, unless it is empty or comes twice."""
        self.log.append(entry)
        counter, body = entry.version.counter, entry.body
        self._sealed.discard(counter)
        self._early.pop(counter, None)
        if body is None:
            return
        key = (body.origin.client, body.origin.sequence)
        self._tagged.pop(key, None)
        self._numbered.pop(key, None)
        if self.origins.find(body.origin) is None and not self.origins.is_over(body.origin):
            seen = self.origins.add(body.origin, entry.version)
            self._state_is_new = False
            self._unapplied.append(counter)
            self._ask_servant(_Job(Apply(entry.version, body), self._generation, counter, seen))

    def _ask_servant(self, job: _Job) -> None:
        self._jobs.append(job)
        self._effects.append(job.effect)

    def _acked(self, sender: str, message: Ack) -> None:
        if self.versioner is not None and message.applied == [sender]:
            self.versioner.acknowledged(message)

    # Epochs

    def _prepare(self, sender: str, message: Prepare) -> None:
        self.promise(message.epoch)
        missing = False
        if message.epoch == self.promised:
            if message.ready:
                self.set_leader(message.epoch, sender)
            missing = self.log.head.version.counter < message.head.version.counter
        self.send(sender, self._report(missing=missing))

    def _took(self, sender: str, message: Took) -> None:
        self._supplier.took(sender, message)

    def _report(self, *, missing: bool = False) -> Report:
        return Report(self.promised, self.normal if self._resolved else 0, self.log.head, missing)

    def own_report(self) -> Report:
        return self._report()

    def _reported(self, sender: str, message: Report) -> None:
        if self.versioner is not None:
            self.versioner.reported(sender, message)

    def _pull(self, sender: str, message: Pull) -> None:
        wanted = message.wanted
        has = self.normal != 0 and self.log.head_at(wanted.version.counter) == wanted
        if has and message.epoch == self.promised:
            self.supply(sender, Report(message.epoch, 0, message.head))

    def _sync(self, sender: str, message: Sync) -> None:
        if (
            not self._takes_from(sender, message.epoch)
            or len(self._unapplied) >= self.settings.most_unapplied
        ):
            return
        entries, was_normal = self._new_of(message), self.is_normal
        if entries is not None and self._has_gaps(sender, self.log.head, entries):
            return
        for entry in entries or ():
            self._append(entry)
            if was_normal and entry.body is not None and entry.body.pattern is not Pattern.chain:
                self._owed.owe(entry.version.counter, Stamped(entry, message.epoch))
        self._taken_over(sender, message.epoch, entries is not None and message.last)

    def _new_of(self, message: Sync) -> list[Entry] | None:
        """The entries that follow on the log's end. None: they do not."""
        head = self.log.head
        if message.after == head:
            return message.entries
        mine = self.log.head_at(message.after.version.counter)
        if mine is None or mine != message.after:
            return None
        skipped = head.version.counter - message.after.version.counter
        if not 0 < skipped <= len(message.entries) or message.entries[skipped - 1].version != head.version:
            return None
        return message.entries[skipped:]

    def _takes_from(self, sender: str, epoch: int) -> bool:
        """Whether somebody may give this replica a log: who leads, or whom it asked as the leader."""
        if epoch != self.promised:
            return False
        if self.versioner is not None:
            return self.versioner.pulls_from(sender)
        return self._resolved and self.leader is not None and self.leader == Leading(epoch, sender)

    def _taken_over(self, sender: str, epoch: int, whole: bool) -> None:
        if self.versioner is not None:
            self.versioner.pulled(whole)
            return
        if whole and self.normal != epoch:
            self.become_normal(epoch)
        else:
            self._drain()
            self._owed.pay()
        self.send(sender, self._report(missing=not whole))

    def _has_gaps(self, sender: str, behind: Head, entries: Sequence[Entry]) -> bool:
        """Whether these do not go on behind a log's end, one by one, as all logs do."""
        counter = behind.version.counter
        for each in entries:
            counter += 1
            if each.version.counter != counter:
                reason = f"its log goes on with {each.version.counter} where {counter} comes next"
                self._effects.append(Distrust(sender, reason))
                return True
        return False

    def _part(self, sender: str, message: Part) -> None:
        if not self._takes_from(sender, message.epoch) or message.instead != self.log.head:
            return
        about, most = message.state, self.settings.most_state
        if not self.can_snapshot:
            self._get_stuck(_NO_RESTORE)
            return
        if about.size > most:
            self._get_stuck(f"the state of '{sender}' takes {about.size:,} bytes; this one takes {most:,}")
            return
        self._asked_at = self.now
        if self.versioner is not None:
            self.versioner.progressed()
        if self._taking is None or not self._taking.is_of(sender, about):
            self._taking = Taking(sender, about)
        self._taking.add(message)
        self.send(sender, Took(message.epoch, about.number, len(self._taking.data)))

    def _restored(self, sender: str, message: Restore) -> None:
        if not self._takes_from(sender, message.epoch) or message.instead != self.log.head:
            return
        end = message.at.version.counter + len(message.entries)
        if self.normal == message.epoch and end < self.log.head.version.counter:
            return  # nobody goes back within an epoch: what was acknowledged stays
        if self._has_gaps(sender, message.at, message.entries):
            return
        snapshot = None
        if message.state is not None:
            taking = self._taking or Taking(sender, message.state)
            if not taking.is_of(sender, message.state) or not taking.is_whole:
                return  # a part was lost: it is asked for again
            snapshot = bytes(taking.data)
        self._taking = None
        restores = False
        if snapshot is not None or not self._state_is_new:
            if not self.can_snapshot:
                self._get_stuck(_NO_RESTORE)
                return
            restores = True
        self._generation += 1
        self._unapplied.clear()
        self._owed.clear()
        self._early = {at: each for at, each in self._early.items() if at > message.at.version.counter}
        self.log.reset(message.at)
        self.origins.restore(message.clients)
        self.normal = 0
        if restores:
            self._unapplied.append(message.at.version.counter)
            restored = RestoreState(snapshot)
            self._ask_servant(_Job(restored, self._generation, message.at.version.counter))
        for entry in message.entries:
            self._append(entry)
        self._taken_over(sender, message.epoch, message.last)

    def _seal(self, sender: str, message: Seal) -> None:
        if message.epoch != self.promised or not self.is_normal:
            return
        counter = message.version.counter
        early = self._early.get(counter)
        entry = self.log.at(counter) or (early[1].entry if early is not None else None)
        if entry is None:
            if counter <= self.log.head.version.counter:  # no longer kept: the other sees that it is behind
                self.send(sender, self._report())
                return
            self._sealed.add(counter)
        self.send(sender, Sealed(message.epoch, message.version, entry))

    def _sealed_at(self, sender: str, message: Sealed) -> None:
        if self.versioner is not None:
            self.versioner.sealed(sender, message)

    def _recover(self, sender: str, message: Recover) -> None:
        self.send(sender, Recovered(message.life, not self._resolved or self.normal == 0, self.promised))

    def _recovered_by(self, sender: str, message: Recovered) -> None:
        if self._resolved or message.life != self._life:
            return
        self._recovered[sender] = message
        counting = sum(not each.blank for each in self._recovered.values())
        if counting >= self.majority or len(self._recovered) == len(self.others):
            self.promise(max(each.promised for each in self._recovered.values()))
            self._resolved = True

    # Parts

    def _lacks_something(self) -> bool:
        return bool(self._early) or self.normal != self.promised or bool(self._numbered)

    def give_up(self, reason: str) -> None:
        """Takes part no more: the servant cannot apply what others have applied."""
        self._get_stuck(reason)

    def _get_stuck(self, reason: str) -> None:
        if not self.stuck:
            self.stuck = True
            self._effects.append(Stuck(reason))


_Receiver = Callable[[Replica, Any, Any], None]
_OF_CLIENTS: dict[type[Any], _Receiver] = {
    Ask: Replica._ask,
    Submit: Replica._submit,
    Tagged: Replica._tag,
    Direct: Replica._direct_message,
    Stamped: Replica._stamped_by_client,
}
_OF_MEMBERS: dict[type[Any], _Receiver] = {
    Stamped: Replica.hold,
    Ack: Replica._acked,
    Numbered: Replica._number,
    Prepare: Replica._prepare,
    Report: Replica._reported,
    Pull: Replica._pull,
    Sync: Replica._sync,
    Restore: Replica._restored,
    Seal: Replica._seal,
    Sealed: Replica._sealed_at,
    Recover: Replica._recover,
    Recovered: Replica._recovered_by,
    Part: Replica._part,
    Took: Replica._took,
}
