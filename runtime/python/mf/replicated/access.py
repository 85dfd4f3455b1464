"""R6. What an access file allows the peers of a replica: to be one of its members, or a client of its
service."""

from typing import TYPE_CHECKING

from mf.core.current import current_call
from mf.core.error import Code, not_executed
from mf.core.log import line, warning
from mf.core.service import ServiceInfo

if TYPE_CHECKING:
    from mf.access.rules import Decision, Rules
    from mf.core.identity import Identity
    from mf.server.async_server import AsyncServer


class GroupAccess:
    """`server`: the replica's, which reads the access file. `agent`: that of the service, as on the wire."""

    __slots__ = ("_agent", "_server", "_service")

    def __init__(self, server: "AsyncServer", service: ServiceInfo, agent: str) -> None:
        self._server = server
        self._service = service
        self._agent = agent

    def check_member(self, member: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the caller of the running handler may not be this member."""
        identity = current_call().identity
        decision = self._may_be(identity, member)
        if not decision.allowed:
            self._deny(identity, f"be the replica {member!r} of", member, decision)

    def check_client(self) -> None:
        """The same for a client."""
        identity = current_call().identity
        decision = self._may_call(identity)
        if not decision.allowed:
            self._deny(identity, "call the replicated methods of", "", decision)

    def check_either(self, members: list[str]) -> None:
        """The same for a caller that may become any of the members, or a client."""
        identity = current_call().identity
        decision = self._may_call(identity)
        if not decision.allowed and not any(self._may_be(identity, each).allowed for each in members):
            self._deny(identity, "see the replicas of", "", decision)

    def _may_be(self, identity: "Identity", member: str) -> "Decision":
        from mf.access.rules import Action, Wish

        return self._rules.decide(identity, Wish(Action.REPLICATE, f"{self._service.name}.{member}"))

    def _may_call(self, identity: "Identity") -> "Decision":
        """The first method that is denied decides."""
        from mf.access.rules import Action, Decision, Wish

        rules, decision = self._rules, Decision(True)
        for method in self._service.methods:
            if method.replicated is not None:
                wish = Wish(Action.CALL, f"{self._service.name}.{method.name}", self._agent)
                decision = rules.decide(identity, wish)
                if not decision.allowed:
                    break
        return decision

    @property
    def _rules(self) -> "Rules":
        rules = self._server.access_rules
        assert rules is not None
        return rules

    def _deny(self, identity: "Identity", verb: str, member: str, decision: "Decision") -> None:
        peer, name = current_call().peer, self._service.name
        fields = {"peer": peer, "identity": identity, "service": name, "member": member}
        denied = line("replica_denied", **fields, line=decision.line)
        warning("%s", denied, peer=peer, identity=identity.name)
        raise not_executed(Code.PERMISSION_DENIED, f"{identity} may not {verb} {name}")
