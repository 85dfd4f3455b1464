"""R5. What the peers of a server may do: its access file, and its functions `authenticate` and `authorize`.

Asked once for each connection, BIND and subscription, never for a call; and again about what was allowed when
files were read again. Thread-safe, as far as the functions of the user are.
"""

import ipaddress
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mf.core.agent_names import shown_agent
from mf.core.error import Code, Error, not_executed, shortened
from mf.core.files import stamp_of
from mf.core.identity import Identity, IdentityKind
from mf.core.log import host_of, info, line, log_escaped_exception, warning
from mf.core.server_options import PeerHello, ServerOptions
from mf.core.service import ADMIN, ServiceInfo
from mf.protocol.handshake import Hello
from mf.protocol.server_session import Denied
from mf.protocol.wire import Unauthenticated

if TYPE_CHECKING:  # servers without an access file do not load its parser
    from mf.access.rules import Rules

SUBSCRIBE = "subscribe"
_WITHIN = "memory"
"""The peer of a connection within this process."""
_MOST_NOT_BELIEVED = 64


class Access:
    """Raises ValueError, with file, line and a suggestion, for an access file that cannot be used."""

    __slots__ = (
        "_authenticate",
        "_authorize",
        "_file",
        "_not_believed",
        "_rules",
        "_stamp",
        "generation",
        "tokens",
    )

    def __init__(self, options: ServerOptions) -> None:
        self._authenticate = options.authenticate
        self._authorize = options.authorize
        self._file = options.access
        self._stamp = stamp_of(self._file)  # before it is read: one that is replaced meanwhile is read again
        self._rules = rules_of(self._file)
        self.tokens = None
        if options.token_keys:
            from mf.server.token_gate import TokenGate

            self.tokens = TokenGate(options.token_keys, options.token_audience)
        self._not_believed: set[str] = set()
        """The relays of which the log has said that they are not believed."""
        self.generation = 0
        """Changes when what peers may do has changed, or may have."""

    @property
    def limits_nothing(self) -> bool:
        """Whether every peer may do everything."""
        return self._rules is None and self._authorize is None

    @property
    def decides_nothing(self) -> bool:
        """Whether nothing depends on identities."""
        return self.limits_nothing and self._authenticate is None and self.tokens is None

    @property
    def rules(self) -> "Rules | None":
        """Those of the access file, as it was read last."""
        return self._rules

    @property
    def has_files(self) -> bool:
        return bool(self._file) or self.tokens is not None

    def refresh(self, *, always: bool) -> bool:
        """Reads the access file and the keys of tokens again if they were replaced, or `always`. False: one
        cannot be used, which the log says, and what was read before stays in use."""
        usable = self.tokens is None or self.tokens.refresh(always=always)
        return self._refresh_rules(always=always) and usable

    def _refresh_rules(self, *, always: bool) -> bool:
        stamp = stamp_of(self._file)
        if always:
            self.generation += 1
        if not self._file or (stamp == self._stamp and not always):
            return True
        try:
            rules = rules_of(self._file)
        except ValueError as refused:  # tried again at the next look
            warning("%s", line("access_file_kept", reason=refused))
            return False
        self._stamp, self._rules = stamp, rules
        self.generation += 1
        info("%s", line("access_file_read", file=self._file))
        return True

    def admit(self, hello: Hello, peer: str, identity: Identity) -> None:
        """Raises Unauthenticated for a peer that is not admitted."""
        authenticate = self._authenticate
        if authenticate is not None:
            shown = PeerHello(hello.auth, hello.name, peer)
            if not _asked("authenticate", authenticate, shown, identity):
                raise Unauthenticated(f"this server does not admit {identity}")

    def client_of(self, relay: Identity, client: Identity, peer: str) -> Identity:
        """The identity that counts at this server: `relay`, or the client that it passes on, if the access
        file lets it relay. A user of a host is one only there: passed on over a network, it counts as no
        identity."""
        if not self.may_relay(relay):
            self._note_not_believed(relay, client, peer)
            return relay
        via = (*client.via, relay.name)
        if client.kind is IdentityKind.UID and not peer.startswith("unix:"):
            return Identity(via=via)
        return Identity(client.kind, client.name, client.issuer, via)

    def may_relay(self, relay: Identity) -> bool:
        """Whether the peer may pass on the identities of its clients."""
        if self._rules is None or not relay.known:
            return False
        from mf.access.rules import Action, Wish

        return self._rules.decide(relay, Wish(Action.RELAY)).allowed

    def _note_not_believed(self, relay: Identity, client: Identity, peer: str) -> None:
        """Logs once for each relay."""
        name = relay.name or host_of(peer)
        if not client.known or self.decides_nothing or name in self._not_believed:
            return
        if len(self._not_believed) < _MOST_NOT_BELIEVED:
            self._not_believed.add(name)
            meaning = "no line of the access file allows it to relay: its clients count as itself"
            text = line("relay_not_believed", peer=peer, identity=relay, client=client, meaning=meaning)
            warning("%s", text, peer=peer)

    def targets(
        self, peer: str, identity: Identity, service: ServiceInfo, agent: str, bound: list[Any]
    ) -> list[Any] | tuple[Code, str]:
        """The handlers that a BIND has found, with Denied in the place of those that the peer may not call,
        or the refusal if it may call none of them."""
        denied = _Denials(peer, identity, service, agent)
        targets: list[Any] = []
        for handler in bound:
            allowed, at = self._call(identity, service.name, agent, handler.method.name)
            targets.append(handler if allowed else denied.of(handler, at))
        if bound and all(isinstance(each, Denied) for each in targets):
            return Code.PERMISSION_DENIED, denied.logged("", at).message
        return targets

    def denied(
        self, peer: str, identity: Identity, service: ServiceInfo, agent: str, methods: Sequence[str]
    ) -> tuple[Code, str] | None:
        """The refusal of a BIND for an agent that is not offered, if the peer may call none of the methods
        for it: it does not learn which agents there are."""
        at = 0
        for method in methods:
            allowed, at = self._call(identity, service.name, agent, method)
            if allowed:
                return None
        denied = _Denials(peer, identity, service, agent)
        return (Code.PERMISSION_DENIED, denied.logged("", at).message) if methods else None

    def check_subscription(self, peer: str, identity: Identity, topic: str, agents: str) -> None:
        """Raises Error(PERMISSION_DENIED)."""
        allowed, at = self._subscription(identity, topic, agents)
        if not allowed:
            fields = {"peer": peer, "identity": identity, "topic": topic, "agents": agents, "line": at}
            warning("%s", line("subscription_denied", **fields), peer=peer, identity=identity.name)
            shown = f' for "{shortened(agents)}"' if agents else ""
            raise not_executed(Code.PERMISSION_DENIED, f"{identity} may not subscribe to {topic}{shown}")

    def may_subscribe(self, identity: Identity, topic: str, agents: str) -> bool:
        return self._subscription(identity, topic, agents)[0]

    def may_call(self, identity: Identity, service: str, agent: str, method: str) -> bool:
        return self._call(identity, service, agent, method)[0]

    def may_administer(
        self, identity: Identity, peer: str, method: str, *, relayed: bool
    ) -> tuple[bool, int]:
        """Whether a peer may steer this server (mf.admin), and by which line of the access file. Without
        one a peer must be a process of this host, of root or of the server's own user as far as the system
        says so, and `relayed`, that its calls come through a relay, refuses it."""
        if self._rules is not None:
            from mf.access.rules import Action, Wish

            decision = self._rules.decide(identity, Wish(Action.ADMINISTER))
            allowed, at = decision.allowed, decision.line
        else:
            allowed, at = not relayed and _is_local(identity, peer), 0
        return self._authorized(identity, ADMIN, "", method, at) if allowed else (False, at)

    def administered(
        self, peer: str, identity: Identity, service: ServiceInfo, bound: list[Any], *, relayed: bool
    ) -> list[Any] | tuple[Code, str]:
        """What `targets` returns, for the service of operators. It is all or nothing, and is logged each
        time."""
        for handler in bound:
            method = handler.method.name
            allowed, at = self.may_administer(identity, peer, method, relayed=relayed)
            if not allowed:
                return Code.PERMISSION_DENIED, _Denials(peer, identity, service, "").logged(
                    method, at
                ).message
        return bound

    # Each answers whether it is allowed, and by which line of the access file: 0 if there is none, and for
    # what `authorize` denies.

    def _subscription(self, identity: Identity, topic: str, agents: str) -> tuple[bool, int]:
        at = 0
        if self._rules is not None:
            from mf.access.rules import Action, Wish

            decision = self._rules.decide(identity, Wish(Action.SUBSCRIBE, topic, agents))
            at = decision.line
            if not decision.allowed:
                return False, at
        return self._authorized(identity, topic, agents, SUBSCRIBE, at)

    def _call(self, identity: Identity, service: str, agent: str, method: str) -> tuple[bool, int]:
        at = 0
        if self._rules is not None:
            from mf.access.rules import Action, Wish

            decision = self._rules.decide(identity, Wish(Action.CALL, f"{service}.{method}", agent))
            at = decision.line
            if not decision.allowed:
                return False, at
        return self._authorized(identity, service, agent, method, at)

    def _authorized(
        self, identity: Identity, service: str, agent: str, method: str, at: int
    ) -> tuple[bool, int]:
        authorize = self._authorize
        allowed = authorize is None or _asked("authorize", authorize, identity, service, agent, method)
        return allowed, at if allowed else 0


def _is_local(identity: Identity, peer: str) -> bool:
    if identity.kind is IdentityKind.UID:
        return identity.name in (f"uid:{os.geteuid()}", "uid:0")
    host = host_of(peer).rpartition("/")[2].removeprefix("[").removesuffix("]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return peer == _WITHIN


def rules_of(path: str) -> "Rules | None":
    """The rules of an access file; None without a path. Raises ValueError, as Access does."""
    if not path:
        return None
    from mf.access.parse import load_rules

    try:
        return load_rules(path)
    except Error as refused:
        raise ValueError(refused.message) from None


class _Denials:
    """The denied methods of one BIND. That one of them is called is logged once for each."""

    __slots__ = ("_agent", "_identity", "_logged", "_peer", "_service")

    def __init__(self, peer: str, identity: Identity, service: ServiceInfo, agent: str) -> None:
        self._peer = peer
        self._identity = identity
        self._service = service
        self._agent = agent
        self._logged: set[str] = set()

    def of(self, handler: Any, at: int) -> Denied:
        """`at`: the line of the access file that has decided."""
        method = handler.method.name
        return Denied(lambda: self.logged(method, at))

    def logged(self, method: str, at: int) -> Error:
        """The failure; `method` is empty for the whole service."""
        service, agent = self._service, shown_agent(self._service, self._agent)
        if method not in self._logged:
            self._logged.add(method)
            fields = {"service": service.name, "agent": agent, "method": method or "*", "line": at}
            denied = line("call_denied", peer=self._peer, identity=self._identity, **fields)
            warning("%s", denied, peer=self._peer, identity=self._identity.name)
        what = f"this method of {service.name}" if method else service.name
        shown = f' for agent "{shortened(agent)}"' if agent else ""
        return not_executed(Code.PERMISSION_DENIED, f"{self._identity} may not call {what}{shown}")


def _asked(name: str, function: Any, *arguments: Any) -> bool:
    """The answer of a function of the user; False if it raises or answers something else."""
    try:
        allowed = function(*arguments)
        if isinstance(allowed, bool):
            return allowed
        if hasattr(allowed, "close"):  # a coroutine, which would complain that it was not awaited
            allowed.close()
        raise TypeError(f"{name} must return True or False, not {type(allowed).__name__}")
    except Exception as raised:
        log_escaped_exception(f"ServerOptions.{name}", raised)
        return False
