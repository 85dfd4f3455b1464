"""R6. One replica of a group: what it holds, applies and acknowledges.

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

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from mf.core.error import Code
from mf.replicated.intake import Intake
from mf.replicated.log import Log, Origins
from mf.replicated.messages import (
    MOST_ENTRIES,
    MOST_MEMBERS,
    Ack,
    Ask,
    Body,
    Direct,
    Effect,
    Leading,
    Message,
    Numbered,
    Origin,
    Outcome,
    Part,
    PeerId,
    Prepare,
    Pull,
    Recover,
    Recovered,
    Refused,
    Report,
    Resign,
    Restore,
    Seal,
    Sealed,
    Send,
    Stamped,
    Stuck,
    Submit,
    Sync,
    Tagged,
    Took,
    majority,
)
from mf.replicated.settings import ReplicaSettings
from mf.replicated.supplier import Supplier
from mf.replicated.takeover import Takeover
from mf.replicated.versioner import Versioner


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
        self.resolved = not self.others
        self._recovered: dict[str, Recovered] = {}
        self._peers: dict[PeerId, None] = {}
        self._intake = Intake(self)
        self.asked_at = -1e9
        self._supplier = Supplier(self)
        self._takeover = Takeover(self, self._intake)
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
        self._takeover.lost(peer)
        if self.versioner is not None:
            self.versioner.disconnected(peer)

    def lead(self, epoch: int, now: float) -> None:
        """This process has got the lead. It has it until a later epoch begins, or it resigns: replicas are
        fenced by what they have promised, so that nothing is lost by one that no longer has the controller's
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
        if not self.resolved and now - self.asked_at >= self.settings.repeat:
            self.asked_at = now
            for other in self.others:
                self.send(other, Recover(self._life))
        elif self._lacks_something() and now - self.asked_at >= self.settings.repeat:
            self.asked_at = now
            if self.leader is None or self.leader.epoch < self.promised:
                for other in self.others:  # the leader has missed that this one has started anew
                    self.send(other, self.report(missing=True))
            elif self.leader.member != self.me:
                self.send(self.leader.member, self.report(missing=True))
        self._supplier.tick()
        if self.versioner is not None:
            self.versioner.tick()

    def done(self, outcome: Outcome, now: float) -> None:
        """The servant has done the oldest of what it was asked for."""
        self.now = now
        self._intake.done(outcome)

    @property
    def applied(self) -> int:
        """The counter up to which the servant has applied."""
        return self._intake.applied

    @property
    def is_normal(self) -> bool:
        """Whether it takes and acknowledges what is sent under its epoch."""
        return self.normal != 0 and self.normal == self.promised

    # For its parts, too

    def emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    def send(self, to: PeerId, message: Message) -> None:
        self.emit(Send(to, message))

    def resign(self, reason: str) -> None:
        self.versioner = None
        self.emit(Resign(reason))

    def members_connected(self) -> list[str]:
        return [each for each in self.others if each in self._peers]

    def promise(self, epoch: int) -> None:
        if epoch > self.promised:
            self.promised = epoch
            if self.versioner is not None and self.versioner.epoch < epoch:
                self.resign(f"epoch {epoch} has begun")
            self._intake.begin_epoch()
            self._supplier.forget_all()
            self._takeover.forget()

    def become_normal(self, epoch: int) -> None:
        """The log is that of this epoch now."""
        self.normal = epoch
        self.resolved = True
        self._intake.go_on()

    def set_leader(self, epoch: int, member: str) -> None:
        if self.leader is None or epoch > self.leader.epoch:
            self.leader = Leading(epoch, member)
            for peer in self._peers:
                if isinstance(peer, UUID):
                    self.send(peer, self.leader)

    def report(self, *, missing: bool = False) -> Report:
        """What this one has. `missing`: it asks for what it lacks."""
        return Report(self.promised, self.normal if self.resolved else 0, self.log.head, missing)

    def hold(self, sender: PeerId, message: Stamped) -> None:
        self._intake.hold(sender, message)

    def supply(self, to: str, report: Report) -> None:
        self._supplier.supply(to, report)

    def has_job_for(self, member: str) -> bool:
        return self._intake.has_job_for(member)

    def take_state_for(self, member: str, report: Report) -> None:
        self._intake.take_state_for(member, report)

    def give_state(self, to: str, report: Report, state: bytes, counter: int, origins: Origins) -> None:
        self._supplier.give(to, report, state, counter, origins)

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
        self._intake.tag(sender, body)

    def _direct_message(self, sender: UUID, message: Direct) -> None:
        if self._fits(sender, message.body):
            self._intake.direct(sender, message.body)

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
        self._intake.number(sender, message)

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
        self.send(sender, self.report(missing=missing))

    def _took(self, sender: str, message: Took) -> None:
        self._supplier.took(sender, message)

    def _reported(self, sender: str, message: Report) -> None:
        if self.versioner is not None:
            self.versioner.reported(sender, message)

    def _pull(self, sender: str, message: Pull) -> None:
        wanted = message.wanted
        has = self.normal != 0 and self.log.head_at(wanted.version.counter) == wanted
        if has and message.epoch == self.promised:
            self.supply(sender, Report(message.epoch, 0, message.head))

    def _synced(self, sender: str, message: Sync) -> None:
        self._takeover.sync(sender, message)

    def _part_came(self, sender: str, message: Part) -> None:
        self._takeover.part(sender, message)

    def _restored(self, sender: str, message: Restore) -> None:
        self._takeover.restored(sender, message)

    def _seal(self, sender: str, message: Seal) -> None:
        if message.epoch != self.promised or not self.is_normal:
            return
        entry = self._intake.seal(message.version.counter)
        if entry is None and message.version.counter <= self.log.head.version.counter:
            self.send(sender, self.report())  # no longer kept: the other sees that it is behind
            return
        self.send(sender, Sealed(message.epoch, message.version, entry))

    def _sealed_at(self, sender: str, message: Sealed) -> None:
        if self.versioner is not None:
            self.versioner.sealed(sender, message)

    def _recover(self, sender: str, message: Recover) -> None:
        self.send(sender, Recovered(message.life, not self.resolved or self.normal == 0, self.promised))

    def _recovered_by(self, sender: str, message: Recovered) -> None:
        if self.resolved or message.life != self._life:
            return
        self._recovered[sender] = message
        counting = sum(not each.blank for each in self._recovered.values())
        if counting >= self.majority or len(self._recovered) == len(self.others):
            self.promise(max(each.promised for each in self._recovered.values()))
            self.resolved = True

    # Parts

    def _lacks_something(self) -> bool:
        return self.normal != self.promised or self._intake.lacks_something

    def give_up(self, reason: str) -> None:
        """Takes part no more: the servant cannot apply what others have applied."""
        if not self.stuck:
            self.stuck = True
            self.emit(Stuck(reason))


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
    Sync: Replica._synced,
    Restore: Replica._restored,
    Seal: Replica._seal,
    Sealed: Replica._sealed_at,
    Recover: Replica._recover,
    Recovered: Replica._recovered_by,
    Part: Replica._part_came,
    Took: Replica._took,
}
