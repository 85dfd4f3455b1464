"""R6. Which peers a replica notifies that a message was applied, and when: acknowledgements, as the message's
pattern wants them. Part of a replica, as that has the log; a file of its own, since it is a role of its own.
"""

from typing import Protocol

from mf.core.error import Code
from mf.replicated.log import Origins
from mf.replicated.messages import Ack, Leading, Message, Origin, Outcome, Pattern, PeerId, Stamped, Version
from mf.replicated.versioner import Versioner

_MOST = 4  # of one message that is repeated by a client in a hurry
_NEVER_APPLIED = Outcome(
    int(Code.INTERNAL), 0, b"it was applied before, and its outcome is not known any more"
)


class Holder(Protocol):
    """What this uses of the replica that it belongs to (replica.py)."""

    me: str
    origins: Origins
    normal: int
    leader: Leading | None
    versioner: Versioner | None

    @property
    def applied(self) -> int: ...

    @property
    def is_normal(self) -> bool: ...

    def send(self, to: PeerId, message: Message) -> None: ...


class Owed:
    """Messages whose application is to be acknowledged, by their counters."""

    def __init__(self, replica: Holder) -> None:
        self._replica = replica
        self._owed: dict[int, list[Stamped]] = {}

    def owe(self, counter: int, message: Stamped) -> None:
        """An acknowledgement is sent when this has been applied."""
        if message.entry.body is not None:
            owed = self._owed.setdefault(counter, [])
            if len(owed) < _MOST:
                owed.append(message)
            if counter <= self._replica.applied:
                self.pay()

    def pay(self) -> None:
        """For all that is applied by now."""
        if self._replica.is_normal:
            applied = self._replica.applied
            for counter in [each for each in self._owed if each <= applied]:
                for message in self._owed.pop(counter):
                    self._pay_one(message)

    def unversioned(self, origin: Origin, outcome: Outcome) -> None:
        """A message without a version, which is applied at once."""
        replica = self._replica
        ack = Ack(origin.client, origin.sequence, Version(), 0, [replica.me], outcome)
        replica.send(origin.client, ack)

    def clear(self) -> None:
        self._owed.clear()

    def _pay_one(self, message: Stamped) -> None:
        replica, body = self._replica, message.entry.body
        assert body is not None
        seen = replica.origins.find(body.origin)
        if seen is None:
            return  # the client awaits it no more
        if body.pattern is Pattern.chain:
            applied = [*message.applied, replica.me]
            then = [each for each in message.then if each != replica.me]
            if then:
                replica.send(then[0], Stamped(message.entry, replica.normal, then[1:], applied))
                return
        else:
            applied = [replica.me]
        outcome = seen.outcome or _NEVER_APPLIED
        ack = Ack(body.origin.client, body.origin.sequence, seen.version, replica.normal, applied, outcome)
        if body.pattern is not Pattern.one_hop:
            replica.send(body.origin.client, ack)
        elif replica.versioner is not None:
            replica.versioner.acknowledged(ack)
        elif replica.leader is not None:
            replica.send(replica.leader.member, ack)
