"""What an access file allows the peers of a node: to send to its processes, and under which names.

allow uid:1000 send north                               # to the process, also as a member of a group
allow uid:1000 register mf.flex.Mailbox per south       # to be the process 'south', also as a sender
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mf.core.error import Code, not_executed
from mf.core.log import line, warning
from mf.flex._generated.mf.flex import MAILBOX_SERVICE

if TYPE_CHECKING:
    from mf.access.rules import Rules
    from mf.core.identity import Identity

_SERVICE: Final = MAILBOX_SERVICE.name


class MailAccess:
    """Thread-safe."""

    __slots__ = ("_rules",)

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def authorize(self, identity: Identity, service: str, agent: str, method: str) -> bool:  # noqa: ARG002
        """Whether the peer may send to the process, whose name stands behind that of a group."""
        from mf.access.rules import Action, Wish

        return self._rules.decide(identity, Wish(Action.SEND, agent.rpartition("/")[2])).allowed

    def check_source(self, identity: Identity, peer: str, name: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the peer may not be the process of this name."""
        from mf.access.rules import Action, Wish

        if not self._rules.decide(identity, Wish(Action.REGISTER, _SERVICE, name)).allowed:
            warning("%s", line("source_denied", peer=peer, identity=identity, source=name), peer=peer)
            raise not_executed(Code.PERMISSION_DENIED, f"{identity} may not send as {name[:255]!r}")
