"""R5. From (service, agent) to a bound route on a connection: when to wait, and when to fail at once.
router.py and async_router.py implement the waiting.

nobody reached yet (no controller, or a server that never was)    wait with back-off until the deadline
reached, but nobody offers it, and this client never saw it       wait at most `wait_for_server` seconds
seen before, now gone                                             UNAVAILABLE at once, not executed
offered, but by servers whose schemas do not have the method      UNKNOWN_METHOD at once, not executed
offered, but by servers whose schemas do not allow the call       SCHEMA_MISMATCH at once, not executed

Servers with another schema are equivalent where the method can be called on them (docs/evolution.md).
"""

from collections.abc import Callable
from copy import copy
from time import monotonic
from typing import Any, Generic, Self, TypeVar

from mf.core.agent_names import shown_agent
from mf.core.backoff import JITTER, Backoff
from mf.core.cached import Caches
from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.error import Code, Error, not_executed, shortened, some_of
from mf.core.log import info, quote, warning
from mf.core.service import Method, ServiceInfo
from mf.link.balancing import usual_with
from mf.link.core import HANDSHAKE_TIMEOUT, LinkCore
from mf.link.places import Places
from mf.link.resolver import Instance, View, Views
from mf.protocol.call import Call, RetryBudget
from mf.protocol.call_table import CallEvent
from mf.protocol.calls import Binding

L = TypeVar("L", bound=LinkCore)
V = TypeVar("V", bound=Views)
P = TypeVar("P", bound=Places[Any, Any])

_MOST_CHECKED = 4096
_SHORT = 0.1  # an attempt with less time may only have been too late: the previous failure says more

_TELL_AFTER = 0.5
"""Seconds after which a search that goes on is logged."""
_MOST_TOLD = 1000
# A server that refuses with one of these will continue to do so (for MESSAGE_TOO_LARGE the client itself
# refuses): waiting is useless.
_FINAL = frozenset(
    (
        Code.UNKNOWN_SERVICE,
        Code.UNKNOWN_AGENT,
        Code.UNKNOWN_METHOD,
        Code.SCHEMA_MISMATCH,
        Code.MESSAGE_TOO_LARGE,
        Code.PROTOCOL_ERROR,
        Code.UNAUTHENTICATED,
        Code.PERMISSION_DENIED,
    )
)


class Route(Generic[L]):
    """The destination of a call: a connection, and the route numbers of the service's methods on it."""

    __slots__ = ("binding", "chosen", "link")

    def __init__(self, link: L, binding: Binding, chosen: bool) -> None:
        self.link = link
        self.binding = binding
        self.chosen = chosen
        """Whether there were several candidates, so that the outcome of a call is recorded for balancing."""


class _SinceAnswered:
    """`wait_for_server` counts from the first answer of the resolver's source, not from the start of the
    call."""

    __slots__ = ("_answered",)

    def __init__(self) -> None:
        self._answered: float | None = None

    def start(self, view: View) -> float:
        """When the source was first seen to have answered; the current time before that."""
        if not view.reached:
            self._answered = None
            return monotonic()
        if self._answered is None:
            self._answered = monotonic()
        return self._answered


class Routing(Generic[V, P]):
    """The state that all targets of a client share: where servers are, and the rules above. `budget`: limits
    repetitions of calls. `forward_metadata`: keys that are forwarded from a handler's call to calls that it
    makes here. `caches`: cached results. `replications`: senders of replicated calls, by service and agent;
    `replicator`: creates them for blocking clients.
    """

    __slots__ = (
        "_checked",
        "_one_way",
        "_usual",
        "_wait_for_server",
        "budget",
        "caches",
        "forward_metadata",
        "pool",
        "quiet",
        "replications",
        "replicator",
        "resolver",
        "seen",
        "some_refuse",
        "told",
    )

    def __init__(
        self, resolver: V, pool: P, options: ClientOptions = DEFAULTS, caches: Caches | None = None
    ) -> None:
        self.resolver = resolver
        self.pool = pool
        self._wait_for_server = options.wait_for_server
        self.forward_metadata = tuple(options.forward_metadata)
        self.budget = RetryBudget()
        self.caches = Caches() if caches is None else caches
        self.replications: dict[tuple[str, str], Any] = {}
        self.replicator: Any = None
        self.quiet = False
        """Its owner logs what cannot be reached."""
        self.told: set[tuple[str, str | None]] = set()
        """What could not be reached, and was logged as such."""
        self.seen: set[tuple[str, str | None]] = set()
        self.some_refuse = False  # some server was overloaded before
        self._checked: set[tuple[int, bytes]] = set()
        """By method, schemas that lack some of its values."""
        self._one_way: dict[str, bytes] = {}  # by service: the schema of the latest one-way call at a relay
        self._usual: dict[int, float] = {}  # seconds that a method usually takes

    def passing_on(self, keys: tuple[str, ...]) -> Self:
        """A copy for calls that forward more keys."""
        other = copy(self)
        other.forward_metadata = (*self.forward_metadata, *keys)
        return other

    def limit(
        self, key: tuple[str, str | None], view: View, candidates: bool, start: float, deadline: float
    ) -> float:
        """The time until which attempts continue."""
        if key in self.seen and (view.reached or candidates):
            return start
        if view.reached and not candidates:
            return min(deadline, start + self._wait_for_server)
        if not view.reached and not candidates and view.code in _FINAL:
            return start  # no controller will answer
        return deadline

    def ordered(
        self, candidates: list[tuple[str, Instance]], service: ServiceInfo, method: Method[Any, Any]
    ) -> list[tuple[str, Instance]]:
        """The candidates with the best choice first."""
        if self.resolver.of_relays and len(candidates) > 1:
            chosen = self._ordered_relays(candidates, service, method)
        else:
            chosen = self.pool.ordered(candidates)
        if self._checked:
            chosen = self._sure_first(chosen, method)
        if not self.some_refuse:
            return chosen
        now = monotonic()
        return sorted(chosen, key=lambda candidate: self._refuses(candidate[1], now))

    def _ordered_relays(
        self, candidates: list[tuple[str, Instance]], service: ServiceInfo, method: Method[Any, Any]
    ) -> list[tuple[str, Instance]]:
        """A relay is a candidate for each schema behind it. It gets calls in proportion to the servers that
        have them; but order holds only among calls that it has in one binding, so that calls go where the
        latest one-way call went."""
        kept = self._one_way.get(service.name, b"" if method.oneway else None)
        relays: dict[str, list[tuple[str, Instance]]] = {}
        for candidate in candidates:
            relays.setdefault(candidate[1].address, []).append(candidate)
        for of_relay in relays.values():
            if kept is not None:
                of_relay.sort(key=lambda each: _preference(each[1], service, kept))
            else:  # drawn without replacement, by weight
                of_relay.sort(key=lambda each: JITTER.random() ** (1 / each[1].weight), reverse=True)
        firsts = self.pool.ordered([of_relay[0] for of_relay in relays.values()])
        return firsts + [each for agent, first in firsts for each in relays[first.address][1:]]

    def _sure_first(
        self, candidates: list[tuple[str, Instance]], method: Method[Any, Any]
    ) -> list[tuple[str, Instance]]:
        sure = [each for each in candidates if self._checks_key(method, each[1]) not in self._checked]
        if not any(self.pool.usable(instance) for _, instance in sure):
            return candidates
        return sure + [each for each in candidates if each not in sure]

    def surer(
        self,
        binding: Binding,
        method: Method[Any, Any],
        instance: Instance,
        left: list[tuple[str, Instance]],
    ) -> list[tuple[str, Instance]]:
        """The candidates whose schemas may have all values of the method, where that of `instance` lacks
        some."""
        if binding.adaptation is None or not binding.adaptation.checks(method):
            return []
        if len(self._checked) > _MOST_CHECKED:
            self._checked.clear()
        self._checked.add(self._checks_key(method, instance))
        return [
            (agent, other)
            for agent, other in left
            if self._checks_key(method, other) not in self._checked
            and (self.pool.usable(other) or self.pool.is_untried(other))
        ]

    @staticmethod
    def _checks_key(method: Method[Any, Any], instance: Instance) -> tuple[int, bytes]:
        return id(method), instance.fingerprint or instance.address.encode()

    def used(self, service: ServiceInfo, schema: bytes, method: Method[Any, Any], *, only: bool) -> None:
        """A call goes to servers of this schema behind a relay. `only`: others may follow unseen."""
        if method.oneway:
            self._one_way[service.name] = schema
        elif only and any(each.oneway for each in service.methods):
            self._one_way.setdefault(service.name, schema)

    def schema_of(self, instance: Instance) -> bytes:
        """The fingerprint by which bindings to the instance are known: only a relay has several."""
        return instance.fingerprint if self.resolver.of_relays else b""

    def _refuses(self, instance: Instance, now: float) -> bool:
        link: LinkCore | None = self.pool.usable(instance)
        return link is not None and link.refuses_until > now

    def _may_take_it(self, instance: Instance, now: float) -> bool:
        """The instance is connected and has refused nothing lately, or was never tried. One that was tried
        and has no connection is down."""
        link: LinkCore | None = self.pool.usable(instance)
        return link.refuses_until <= now if link is not None else self.pool.is_untried(instance)

    def rest_of(
        self, call: Call[Any], link: LinkCore, service: ServiceInfo, agent: str | None, now: float
    ) -> float:
        """A server has refused the call as OVERLOADED, and it is to be sent again. Returns the seconds that
        it rests before: 0 if another instance may accept it."""
        link.refused(now)
        self.some_refuse = True
        view: View = self.resolver.view(service.name)
        candidates = view.find("" if agent is None and service.agent is None else agent)
        if any(self._may_take_it(instance, now) for _, instance in candidates):
            return 0.0
        backoff = Backoff()
        for _ in range(call.attempts - 2):
            backoff.next()
        return backoff.next()

    def learn(self, route: "Route[Any]", call: Call[Any], sent: float, now: float) -> None:
        """Records the end of a request that was sent at `sent` on a chosen route, before the call is
        settled."""
        standing = route.link.standing
        if call.failure is not None:
            if call.ended_by is CallEvent.EXPIRED:
                standing.missed(now)
        elif call.status == Code.DEADLINE_EXCEEDED:
            standing.missed(now)
        elif call.status == Code.UNAVAILABLE:
            standing.failed(now)
        elif call.status == Code.OVERLOADED:
            return  # rest_of() handles that
        elif call.items != 1:
            standing.replied(now - sent, 0.0, sent, now)
        else:
            key = id(call.method)
            usual = self._usual.get(key, 0.0)
            standing.replied(now - sent, usual, sent, now)
            self._usual[key] = usual_with(usual, now - sent)


class Search:
    """The search of one call for a route: the driver tries `candidates`, reports the result, and waits for
    `pause` seconds or until a server is known.
    """

    __slots__ = (
        "_agent",
        "_backoff",
        "_begun",
        "_clock",
        "_deadline",
        "_found",
        "_note",
        "_router",
        "_service",
        "_since",
        "_start",
        "_trouble",
        "only",
        "pause",
        "view",
    )

    view: View
    """The snapshot from which the candidates were taken."""

    def __init__(
        self,
        router: Routing[Any, Any],
        service: ServiceInfo,
        agent: str | None,
        deadline: float,
        note: Callable[[Error], None] | None = None,
    ) -> None:
        self._router = router
        self._note = note
        self._service = service
        self._agent = "" if agent is None and service.agent is None else agent
        self._deadline = deadline
        self._clock = _SinceAnswered()
        self._backoff = Backoff()
        self._begun = self._start = 0.0
        self._since = monotonic()
        self._found = False
        self._trouble: Error | None = None
        self.only = False
        """Whether the found route is the only possible one."""
        self.pause = 0.0

    def known(self) -> list[tuple[str, Instance]]:
        view: View = self._router.resolver.view(self._service.name)
        return view.find(self._agent)

    def candidates(self) -> list[tuple[str, Instance]]:
        """Starts an attempt. Raises Error, NOT_EXECUTED, if the client was closed."""
        if self._router.pool.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        self._begun = monotonic()
        self.view = self._router.resolver.view(self._service.name)
        self._start = self._clock.start(self.view)
        candidates = self.view.find(self._agent)
        self._found = bool(candidates)
        self.only = len(candidates) == 1
        return candidates

    def succeeded(self, binding: Binding, method: Method[Any, Any]) -> None:
        key = (self._service.name, self._agent)
        self._router.seen.add(key)
        if key in self._router.told:
            self._router.told.discard(key)
            info("%s is reached again", _what(self._service, self._agent))
        if binding.schema:
            self._router.used(self._service, binding.schema, method, only=self.only)

    def failed(self, troubles: "Troubles") -> None:
        """No candidate could be reached: try again after `pause` seconds, or as soon as `view` is outdated.
        Raises Error, NOT_EXECUTED, when it is time to give up. One that did not answer within a moment may
        still do so: it is given as long as one that is alone."""
        trouble = troubles.worst(_what(self._service, self._agent))
        if trouble is not None and trouble.code in _FINAL and not troubles.late:
            raise trouble
        key = (self._service.name, self._agent)
        limit = self._router.limit(key, self.view, self._found, self._start, self._deadline)
        if trouble is not None and trouble.code is Code.OVERLOADED:
            limit = self._deadline  # a binding becomes free when the calls on it have ended
        elif troubles.late:
            limit = max(limit, min(self._deadline, self._start + HANDSHAKE_TIMEOUT))
        if self._trouble is None or self._begun + _SHORT < limit:
            self._trouble = trouble
        left = limit - monotonic()
        failure = self._trouble or _nobody(self._service, self._agent, self.view)
        if self._note is not None:
            self._note(failure)
        if left <= 0:
            raise failure if limit < self._deadline or failure.code in _FINAL else _gave_up(failure)
        if not self._tell(failure):
            left = min(left, _TELL_AFTER)
        self.pause = min(self._backoff.next(), left) if self._found else left

    def _tell(self, failure: Error) -> bool:
        """Logs once why a search takes long, until one for the same succeeds. What a controller does not
        answer is logged by what asks it. Returns whether nothing is left to be logged."""
        told, key = self._router.told, (self._service.name, self._agent)
        if key in told or not self.view.reached or self._router.quiet:
            return True
        if monotonic() - self._since < _TELL_AFTER:
            return False
        if len(told) >= _MOST_TOLD:
            told.clear()
        told.add(key)
        warning("%s; trying on", quote(failure.message))
        return True


class Troubles:
    """The failure of one attempt with several candidates: the first failure counts, or the last if it is
    final. A refusal by schema counts only if there is no other failure. `late`: some did not answer within a
    moment, and were left alone since there were others."""

    __slots__ = ("_refusal", "_refusals", "_trouble", "late")

    def __init__(self) -> None:
        self.late = False
        self._trouble: Error | None = None
        self._refusal: Error | None = None
        self._refusals = 0

    def worst(self, what: str) -> Error | None:
        """`what`: the service and agent that the candidates offer."""
        refusal = self._refusal
        if self._trouble is not None or refusal is None or self._refusals == 1:
            return self._trouble or refusal
        text = f"all servers of {what} have another schema: {refusal.message}"
        return not_executed(refusal.code, text)

    def add(self, error: Error) -> None:
        if error.code is Code.SCHEMA_MISMATCH:
            self.refused(error)
        elif self._trouble is None or error.code in _FINAL:
            self._trouble = error

    def refused(self, refusal: Error) -> None:
        """Refused by the client itself, as the server has another schema. A refusal of the call is more
        specific than that the method is unknown."""
        self._refusals += 1
        if self._refusal is None or refusal.code is Code.SCHEMA_MISMATCH:
            self._refusal = refusal


def _preference(instance: Instance, service: ServiceInfo, kept: bytes) -> tuple[bool, bool, int, bytes]:
    schema = instance.fingerprint
    return schema != kept, schema != service.fingerprint, -instance.weight, schema


def refusal_of(binding: Binding, method: Method[Any, Any]) -> Error | None:
    """The reason why the method cannot be called there."""
    return None if binding.adaptation is None else binding.adaptation.refusal(method)


class AgentsSearch:
    """All agents known so far, including those whose servers have gone; its driver waits for the first."""

    __slots__ = ("_clock", "_deadline", "_router", "_service", "pause", "view")

    view: View

    def __init__(self, router: Routing[Any, Any], service: ServiceInfo, deadline: float) -> None:
        self._router = router
        self._service = service
        self._deadline = deadline
        self._clock = _SinceAnswered()
        self.pause = 0.0

    def attempt(self) -> list[str] | None:
        """None: try again after `pause` seconds, or as soon as `view` is outdated. Raises Error,
        NOT_EXECUTED."""
        router, service = self._router, self._service
        if router.pool.closed:
            raise not_executed(Code.CANCELLED, "the client was closed")
        view = self.view = router.resolver.view(service.name)
        start = self._clock.start(view)
        if view.whole:
            text = f"it is not known which agents {service.name} has: name them, or use a controller"
            raise not_executed(Code.INVALID_ARGUMENT, text)
        if view.agents:
            gone = (agent for agent, instances in view.agents.items() if not instances)
            router.seen.update((service.name, agent) for agent in gone)  # no call waits for these
            return list(view.agents)
        limit = router.limit((service.name, None), view, False, start, self._deadline)
        self.pause = limit - monotonic()
        if self.pause <= 0:
            raise _nobody(service, None, view)
        return None


def _gave_up(failure: Error) -> Error:
    return Error(failure.code, f"gave up at the deadline: {failure.message}", failure.execution)


def _what(service: ServiceInfo, agent: str | None) -> str:
    return f'{service.name} for agent "{shortened(shown_agent(service, agent))}"' if agent else service.name


def _nobody(service: ServiceInfo, agent: str | None, view: View) -> Error:
    what = _what(service, agent)
    if not view.reached:
        text = f"no server of {what} is known yet"
        if view.trouble:
            text = f"nothing is known of {what}: {view.trouble}"
        return not_executed(view.code, text)
    text = f"no server offers {what}"
    known = [shown_agent(service, name) for name, instances in view.agents.items() if instances and name]
    if service.agent is not None and known:
        text += "; known agents: " + some_of(known, mark='"')
    return not_executed(Code.UNAVAILABLE, text)
