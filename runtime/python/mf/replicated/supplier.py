"""R6. How a replica gives others what they lack: what follows on their log, or the state of its servant and
the log behind that. Part of a replica, as that has the log; a file of its own, since it is a role of its own.
"""

from typing import Protocol

from mf.replicated.log import Log, Origins
from mf.replicated.messages import MOST_ENTRIES, Head, Message, PeerId, Report, Restore, Sync, Took
from mf.replicated.settings import ReplicaSettings
from mf.replicated.states import Giving


class Holder(Protocol):
    """What a supplier uses of the replica that it belongs to (replica.py)."""

    settings: ReplicaSettings
    can_snapshot: bool
    log: Log
    promised: int
    now: float

    def send(self, to: PeerId, message: Message) -> None: ...

    def members_connected(self) -> list[str]: ...

    def has_job_for(self, member: str) -> bool:
        """Whether the servant was asked for a state for this one."""

    def take_state_for(self, member: str, report: Report) -> None:
        """Asks the servant for its state; `Supplier.give` follows."""


class Supplier:
    """See above."""

    def __init__(self, replica: Holder) -> None:
        self._replica = replica
        self._taken = 0
        self._giving: dict[str, Giving] = {}

    def supply(self, to: str, report: Report) -> None:
        """Sends a member what its log lacks: what follows, or a new beginning where it is no part of this
        one.
        """
        replica = self._replica
        giving = self._giving.get(to)
        if self._keeps(report.head):
            self._giving.pop(to, None)
            self._send_sync(to, report.head)
        elif giving is not None and giving.instead == report.head and self._keeps(giving.at):
            if replica.now - giving.used >= replica.settings.repeat:
                self._send_state(to, giving)  # what was not answered
        elif replica.can_snapshot:
            if not replica.has_job_for(to):
                replica.take_state_for(to, report)
        elif replica.log.base == Head():
            self._send_restore(to, Giving(report.head, Head(), 0, b"", Origins()), with_state=False)

    def give(self, to: str, report: Report, state: bytes, counter: int, origins: Origins) -> None:
        """The servant's state is there. `counter`, `origins`: what it contains."""
        replica = self._replica
        at = replica.log.head_at(counter)
        if at is None or report.epoch != replica.promised or to not in replica.members_connected():
            return  # overtaken: it is asked for again
        self._taken += 1
        giving = self._giving[to] = Giving(report.head, at, self._taken, state, origins)
        self._send_state(to, giving)

    def took(self, sender: str, message: Took) -> None:
        giving = self._giving.get(sender)
        if giving is None or message.epoch != self._replica.promised or message.number != giving.number:
            return
        if giving.took(message.size):
            self._send_state(sender, giving)

    def tick(self) -> None:
        """Forgets states that were not used for so long."""
        idle = self._replica.now - self._replica.settings.patience
        self._giving = {to: each for to, each in self._giving.items() if each.used > idle}

    def forget(self, member: str) -> None:
        self._giving.pop(member, None)

    def forget_all(self) -> None:
        self._giving.clear()

    @property
    def is_idle(self) -> bool:
        """Whether it keeps no state."""
        return not self._giving

    def _keeps(self, head: Head) -> bool:
        """Whether the log had this end, as far as it is kept."""
        return self._replica.log.head_at(head.version.counter) == head

    def _send_sync(self, to: str, after: Head) -> None:
        replica = self._replica
        log, settings = replica.log, replica.settings
        entries = log.after(after.version.counter, settings.chunk_entries, settings.chunk_bytes)
        last = after.version.counter + len(entries) == log.head.version.counter
        replica.send(to, Sync(replica.promised, after, entries, last))

    def _send_state(self, to: str, giving: Giving) -> None:
        """The next part, or what ends them."""
        replica = self._replica
        giving.used = replica.now
        if giving.is_whole:
            self._send_restore(to, giving, with_state=True)
        else:
            replica.send(to, giving.part(replica.promised, replica.settings.chunk_bytes))

    def _send_restore(self, to: str, giving: Giving, *, with_state: bool) -> None:
        """The log behind the state. Without one: behind that of a new servant."""
        if not self._keeps(giving.at):
            return  # overtaken: it is asked for again
        replica, counter = self._replica, giving.at.version.counter
        entries = replica.log.after(counter, MOST_ENTRIES, replica.settings.chunk_bytes)
        last = counter + len(entries) == replica.log.head.version.counter
        about, clients = giving.about() if with_state else None, giving.origins.states()
        made = Restore(replica.promised, giving.instead, about, giving.at, clients, entries, last)
        replica.send(to, made)
