"""R6. How a replica takes from others what it lacks: entries that follow on its log, or the state of a
servant and the log behind that. The counterpart of supplier.py. Part of a replica, as that has the log; a
file of its own, since it is a role of its own.
"""

from collections.abc import Sequence
from typing import Protocol

from mf.replicated.intake import Holder as IntakeHolder
from mf.replicated.intake import Intake
from mf.replicated.messages import (
    Distrust,
    Entry,
    Head,
    Leading,
    Part,
    Pattern,
    Report,
    Restore,
    RestoreState,
    Stamped,
    Sync,
    Took,
)
from mf.replicated.states import Taking

_NO_RESTORE = "its log is no part of what the others keep, and its servant has no restore()"


class Holder(IntakeHolder, Protocol):
    """What this uses of the replica that it belongs to (replica.py)."""

    now: float
    can_snapshot: bool
    resolved: bool
    asked_at: float

    def become_normal(self, epoch: int) -> None: ...

    def report(self, *, missing: bool = False) -> Report: ...


class Takeover:
    """See above."""

    def __init__(self, replica: Holder, intake: Intake) -> None:
        self._replica = replica
        self._intake = intake
        self._taking: Taking | None = None

    def forget(self) -> None:
        """A state that was on its way comes no more: its epoch is over."""
        self._taking = None

    def lost(self, member: str) -> None:
        """The connection with a member has ended, so what was on its way from there comes no more."""
        if self._taking is not None and self._taking.sender == member:
            self._taking = None

    def sync(self, sender: str, message: Sync) -> None:
        """Entries that follow, as the sender believes, on this log's end."""
        replica = self._replica
        if self._intake.is_full or not self._takes_from(sender, message.epoch):
            return
        entries, was_normal = self._new_of(message), replica.is_normal
        if entries is not None and self._has_gaps(sender, replica.log.head, entries):
            return
        for entry in entries or ():
            self._intake.append(entry)
            if was_normal and entry.body is not None and entry.body.pattern is not Pattern.chain:
                self._intake.owe(Stamped(entry, message.epoch))
        self._taken_over(sender, message.epoch, entries is not None and message.last)

    def _new_of(self, message: Sync) -> list[Entry] | None:
        """The entries that follow on the log's end. None: they do not."""
        replica = self._replica
        head = replica.log.head
        if message.after == head:
            return message.entries
        mine = replica.log.head_at(message.after.version.counter)
        if mine is None or mine != message.after:
            return None
        skipped = head.version.counter - message.after.version.counter
        if not 0 < skipped <= len(message.entries) or message.entries[skipped - 1].version != head.version:
            return None
        return message.entries[skipped:]

    def _takes_from(self, sender: str, epoch: int) -> bool:
        """Whether this member may give this replica a log: it leads, or was asked as the leader."""
        replica = self._replica
        if epoch != replica.promised:
            return False
        if replica.versioner is not None:
            return replica.versioner.pulls_from(sender)
        return replica.resolved and replica.leader is not None and replica.leader == Leading(epoch, sender)

    def _taken_over(self, sender: str, epoch: int, whole: bool) -> None:
        replica = self._replica
        if replica.versioner is not None:
            replica.versioner.pulled(whole)
            return
        if whole and replica.normal != epoch:
            replica.become_normal(epoch)
        else:
            self._intake.go_on()
        replica.send(sender, replica.report(missing=not whole))

    def _has_gaps(self, sender: str, behind: Head, entries: Sequence[Entry]) -> bool:
        """Whether these do not go on behind a log's end, one by one, as all logs do."""
        counter = behind.version.counter
        for each in entries:
            counter += 1
            if each.version.counter != counter:
                reason = f"its log goes on with {each.version.counter} where {counter} comes next"
                self._replica.emit(Distrust(sender, reason))
                return True
        return False

    def part(self, sender: str, message: Part) -> None:
        """A part of the state of the sender's servant; the next one is asked for."""
        replica = self._replica
        if not self._takes_from(sender, message.epoch) or message.instead != replica.log.head:
            return
        about, most = message.state, replica.settings.most_state
        if not replica.can_snapshot:
            replica.give_up(_NO_RESTORE)
            return
        if about.size > most:
            replica.give_up(f"the state of '{sender}' takes {about.size:,} bytes; this one takes {most:,}")
            return
        replica.asked_at = replica.now
        if replica.versioner is not None:
            replica.versioner.progressed()
        if self._taking is None or not self._taking.is_of(sender, about):
            self._taking = Taking(sender, about)
        self._taking.add(message)
        replica.send(sender, Took(message.epoch, about.number, len(self._taking.data)))

    def restored(self, sender: str, message: Restore) -> None:
        """The log behind the state whose parts have come, or behind that of a new servant."""
        replica = self._replica
        if not self._takes_from(sender, message.epoch) or message.instead != replica.log.head:
            return
        end = message.at.version.counter + len(message.entries)
        if replica.normal == message.epoch and end < replica.log.head.version.counter:
            return  # no replica goes back within an epoch: what was acknowledged stays
        if self._has_gaps(sender, message.at, message.entries):
            return
        snapshot = None
        if message.state is not None:
            taking = self._taking or Taking(sender, message.state)
            if not taking.is_of(sender, message.state) or not taking.is_whole:
                return  # a part was lost: it is asked for again
            snapshot = bytes(taking.data)
        self._taking = None
        restored = None
        if snapshot is not None or not self._intake.state_is_new:
            if not replica.can_snapshot:
                replica.give_up(_NO_RESTORE)
                return
            restored = RestoreState(snapshot)
        replica.normal = 0
        self._intake.restart(message.at, message.clients, restored)
        for entry in message.entries:
            self._intake.append(entry)
        self._taken_over(sender, message.epoch, message.last)
