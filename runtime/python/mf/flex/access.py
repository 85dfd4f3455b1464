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
    from mf.server.async_server import AsyncServer

_SERVICE: Final = MAILBOX_SERVICE.name


class MailAccess:
    """`server`: the node's, which reads the access file. Thread-safe."""

    __slots__ = ("_server",)

    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    def check_send(self, identity: Identity, peer: str, process: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the peer may not send to this process, also by its groups."""
        from mf.access.rules import Action, Wish

        decision = self._rules.decide(identity, Wish(Action.SEND, process))
        if not decision.allowed:
            denied = line("send_denied", peer=peer, identity=identity, process=process, line=decision.line)
            warning("%s", denied, peer=peer, identity=identity.name)
            raise not_executed(Code.PERMISSION_DENIED, f"{identity} may not send to {process!r}")

    def check_source(self, identity: Identity, peer: str, name: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the peer may not be the process of this name."""
        from mf.access.rules import Action, Wish

        decision = self._rules.decide(identity, Wish(Action.REGISTER, _SERVICE, name))
        if not decision.allowed:
            denied = line("source_denied", peer=peer, identity=identity, source=name, line=decision.line)
            warning("%s", denied, peer=peer, identity=identity.name)
            raise not_executed(Code.PERMISSION_DENIED, f"{identity} may not send as {name[:255]!r}")

    @property
    def _rules(self) -> Rules:
        rules = self._server.access_rules
        assert rules is not None
        return rules
