"""R6. What an access file allows the peers of a replica: to be one of its members, or a client of its
service."""

from typing import TYPE_CHECKING

from mf.core.current import current_call
from mf.core.error import Code, not_executed
from mf.core.log import line, warning
from mf.core.service import ServiceInfo

if TYPE_CHECKING:
    from mf.access.rules import Rules
    from mf.core.identity import Identity


class GroupAccess:
    """`agent`: that of the service, as on the wire."""

    __slots__ = ("_agent", "_rules", "_service")

    def __init__(self, rules: "Rules", service: ServiceInfo, agent: str) -> None:
        self._rules = rules
        self._service = service
        self._agent = agent

    def check_member(self, member: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the caller of the running handler may not be this member."""
        identity = current_call().identity
        if not self._may_be(identity, member):
            self._deny(identity, f"be the replica {member!r} of", member)

    def check_client(self) -> None:
        """The same for a client."""
        identity = current_call().identity
        if not self._may_call(identity):
            self._deny(identity, "call the replicated methods of", "")

    def check_either(self, members: list[str]) -> None:
        """The same for a caller that may become any of the members, or a client."""
        identity = current_call().identity
        if not self._may_call(identity) and not any(self._may_be(identity, each) for each in members):
            self._deny(identity, "see the replicas of", "")

    def _may_be(self, identity: "Identity", member: str) -> bool:
        from mf.access.rules import Action, Wish

        wish = Wish(Action.REPLICATE, f"{self._service.name}.{member}")
        return self._rules.decide(identity, wish).allowed

    def _may_call(self, identity: "Identity") -> bool:
        from mf.access.rules import Action, Wish

        wishes = [
            Wish(Action.CALL, f"{self._service.name}.{method.name}", self._agent)
            for method in self._service.methods
            if method.replicated is not None
        ]
        return all(self._rules.decide(identity, wish).allowed for wish in wishes)

    def _deny(self, identity: "Identity", verb: str, member: str) -> None:
        peer, name = current_call().peer, self._service.name
        denied = line("replica_denied", peer=peer, identity=identity, service=name, member=member)
        warning("%s", denied, peer=peer)
        raise not_executed(Code.PERMISSION_DENIED, f"{identity} may not {verb} {name}")
