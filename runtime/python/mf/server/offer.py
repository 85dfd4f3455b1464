"""R5. The offers of a server: servants by (service, agent), and for each method the function to call."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any, NamedTuple, NoReturn

from mf.core.agent import Agent
from mf.core.agent_names import shown_agent
from mf.core.error import Code, RefusedError, not_executed, shortened, some_of
from mf.core.intercepted_servant import InterceptedFunctions
from mf.core.intercepting import Interceptors
from mf.core.offered import offered_agent
from mf.core.server_options import Limit
from mf.core.service import FEBIRD, BaseServant, Method, ServiceInfo, generated_base, services_of
from mf.core.source import OfferSource, PushServant, SourceFigures
from mf.core.tally import Tallies, Tally
from mf.core.weight import MOST_WEIGHT
from mf.protocol.events import BindRequested
from mf.protocol.frame import STREAM
from mf.server.admission import Admission, Gate
from mf.server.counters import Counters, MethodStats, ServerStats

_MOST_LABELS = 16
_LONGEST_LABEL = 64
_LONGEST_TEXT = 1024


PATIENCE = 16
"""The greatest of a handler."""


class Handler:
    """One method of one offer, the target of a route. `batch` is the servant's own batch function, if there
    is one. `gate`: that of the limits that apply, if there are any.
    """

    __slots__ = (
        "batch",
        "counters",
        "error_texts",
        "function",
        "gate",
        "inline",
        "method",
        "offer",
        "patience",
        "planned",
        "pushed",
        "tally",
        "watched",
    )

    def __init__(
        self, offer: "Offer", method: Method[Any, Any], inline: bool, gate: Gate | None = None
    ) -> None:
        servant = offer.servant
        self.offer = offer
        self.method = method
        self.planned = method.request_encoding | (STREAM if method.stream else 0)
        """The encoding and kind of call that a request must have."""
        self.function: Callable[..., Any] = getattr(servant, method.attribute, _left_out)
        if method.replicated is not None:
            self.function = _replicated
        self.batch: Callable[..., Any] | None = None
        self.pushed = isinstance(servant, PushServant)
        self.inline = inline and not method.stream  # a stream may wait
        self.gate = gate
        self.counters = Counters()
        self.patience = PATIENCE
        """Of an asyncio server, which falls with each first step after which the handler waits: not above 0,
        calls are tasks from the start."""
        self.tally: Tally | None = None
        """None: the server has no monitor."""
        self.watched = False
        """Whether its calls report their ends: to the tally, or to interceptors."""
        self.error_texts = False
        """Whether callers get the texts of exceptions that were not meant for them."""
        if self.pushed:
            return
        base = generated_base(servant)
        own = getattr(type(servant), method.batch_attribute, None)
        if own is not None and own is not getattr(base, method.batch_attribute, None):
            self.batch = getattr(servant, method.batch_attribute)

    def intercept(self, interceptors: Interceptors) -> None:
        """Puts these around its functions. Replicated methods, and those that were not generated, have none
        to call."""
        if self.method.replicated is None and hasattr(self.offer.servant, self.method.attribute):
            around = InterceptedFunctions.of(interceptors, self.method, self.offer.servant)
            self.function, self.batch = around.function, around.batch
            self.watched = True

    def __repr__(self) -> str:
        return f"{self.offer.service.short_name}.{self.method.name}"


class Announced(NamedTuple):
    """What controllers learn about an offer: see Server.offer."""

    weight: int = 1
    labels: Mapping[str, str] = {}
    alone: bool = False

    def check(self) -> None:
        """Raises ValueError for values that controllers refuse."""
        if not 0 <= self.weight <= MOST_WEIGHT:
            raise ValueError(f"weight is {self.weight}: give a number from 0 to {MOST_WEIGHT:,}")
        if len(self.labels) > _MOST_LABELS:
            raise ValueError(f"an offer has at most {_MOST_LABELS} labels, not {len(self.labels)}")
        for label, text in self.labels.items():
            if not 1 <= len(label.encode()) <= _LONGEST_LABEL or len(text.encode()) > _LONGEST_TEXT:
                limits = f"a label has 1 to {_LONGEST_LABEL} bytes, its text at most {_LONGEST_TEXT}"
                raise ValueError(f"{limits}: {shortened(label)!r}")


class Offer:
    """A servant for one agent, as one of the services that it serves. `own`: the offer of it as its own
    service, if this is one that is extended: the same limits hold for both.
    """

    __slots__ = ("agent", "announced", "decides", "handlers", "is_topic", "servant", "service")

    def __init__(
        self,
        servant: BaseServant,
        agent: str,
        inline: bool,
        limits: Mapping[str, Limit],
        admission: Admission,
        announced: Announced,
        service: ServiceInfo | None = None,
        own: "Offer | None" = None,
    ) -> None:
        self.announced = announced
        self.servant = servant
        self.is_topic = isinstance(servant, PushServant)
        self.decides = servant.mf_decides
        service = self.service = service or servant.mf_service
        self.agent = agent
        shown = f' for agent "{shown_agent(service, agent)}"' if agent else ""
        self.handlers: dict[str, Handler] = {
            method.name: Handler(
                self,
                method,
                inline,
                own.handlers[method.name].gate
                if own
                else admission.gate(limits.get(method.name), f"{service.name}.{method.name}{shown}"),
            )
            for method in (each.with_arrays() if servant.mf_arrays else each for each in service.methods)
        }
        # Methods that mfidlc does not generate yet have a name, too, and clients in other languages bind it.
        for line in self.service.descriptor.splitlines():
            name = line.removeprefix(" method ")
            if name != line and name not in self.handlers:
                self.handlers[name] = Handler(self, _not_generated(name), inline)

    def at(self, agent: str) -> "Offer":
        """The same offer for another agent: a topic is bound without agent, and announced with its agents."""
        other = copy(self)
        other.agent = agent
        return other


def handlers_of(servant: BaseServant) -> list[Any]:
    """The servant's own functions."""
    methods = generated_base(servant).mf_service.methods
    names = [name for each in methods for name in (each.attribute, each.batch_attribute)]
    return [getattr(servant, name, None) for name in names]


def _ignored(_: Iterable[Handler]) -> None:
    pass


def _left_out(*_: object) -> NoReturn:
    raise not_executed(Code.UNKNOWN_METHOD, "this method is not generated for Python")


def _replicated(*_: object) -> NoReturn:
    text = "this method is replicated: it is called through its replicas"
    raise RefusedError(not_executed(Code.UNKNOWN_METHOD, text))


def _not_generated(name: str) -> Method[Any, Any]:
    return Method(
        name=name,
        index=0,
        attribute="",
        batch_attribute="",
        request=_left_out,
        request_encoding=FEBIRD,
        result_encoding=FEBIRD,
        encode_request=_left_out,
        encode_requests=_left_out,
        decode_request=_left_out,
        decode_requests=_left_out,
        encode_result=_left_out,
        encode_results=_left_out,
        decode_result=_left_out,
        decode_results=_left_out,
        decode_results_at=_left_out,
    )


class Offers:
    """All offers of a server. Data that IO threads read are never modified, only replaced."""

    __slots__ = (
        "_admission",
        "_by_service",
        "_error_texts",
        "_interceptors",
        "_own",
        "_sources",
        "_topics",
        "makers",
        "registered",
        "tallies",
        "when_offered",
    )

    def __init__(
        self,
        limit: Limit | None = None,
        tallies: Tallies | None = None,
        interceptors: Interceptors | None = None,
        *,
        error_texts: bool = False,
    ) -> None:
        self._admission = Admission(limit)
        self._error_texts = error_texts
        self.tallies = tallies
        """None: calls are not measured."""
        self._interceptors = interceptors
        self._by_service: dict[str, dict[str, Offer]] = {}
        self._own: dict[str, dict[str, Offer]] = {}
        self.makers: dict[str, Callable[[], BaseServant]] = {}
        """Make the servants of the server's own services, which are offered without being announced or
        counted, and without limits and interceptors: these must not make a server look dead."""
        self.when_offered: Callable[[Iterable[Handler]], None] = _ignored
        """Called with the handlers of what is offered from now on."""
        self._sources: list[tuple[OfferSource, Announced]] = []
        self._topics: dict[str, dict[str, Offer]] = {}
        self.registered = False
        """Whether they are announced to a controller."""

    def add(
        self,
        servant: BaseServant,
        agent: Agent | None,
        inline: bool,
        limits: Mapping[str, Limit] | None = None,
        announced: Announced | None = None,
    ) -> Offer:
        """Raises ValueError if the offer does not fit the service or exists already, TypeError for an invalid
        agent.
        """
        service = servant.mf_service
        limits = limits or {}
        if unknown := limits.keys() - {method.name for method in service.methods}:
            raise ValueError(f"a limit for {service.name}.{min(unknown)}, which is no method of it")
        text = offered_agent(service, agent)
        if self.registered and len(text.encode()) > _LONGEST_TEXT:
            why = f"a controller takes agents of at most {_LONGEST_TEXT} bytes, not {len(text.encode())}"
            raise ValueError(why)
        announced = announced or Announced()
        announced.check()
        services = services_of(servant)
        for each in services:
            if text in self._by_service.get(each.name, {}):
                shown = f" for agent {shown_agent(service, text)!r}" if text else ""
                raise ValueError(f"{each.name} is offered already{shown}")
        offer = self._measured(Offer(servant, text, inline, limits, self._admission, announced))
        by_service = dict(self._by_service)
        for each in services:
            made = offer
            if each is not service:
                extended = Offer(servant, text, inline, limits, self._admission, announced, each, offer)
                made = self._measured(extended)
            by_service[each.name] = {**by_service.get(each.name, {}), text: made}
        self._by_service = by_service
        return offer

    def _measured(self, offer: Offer) -> Offer:
        if self.tallies is not None:
            for name, handler in offer.handlers.items():
                handler.tally = self.tallies.of(offer.service.name, name)
                handler.watched = True
        for handler in offer.handlers.values():
            handler.error_texts = self._error_texts
        if self._interceptors is not None and not offer.is_topic:
            for handler in offer.handlers.values():
                handler.intercept(self._interceptors)
        self.when_offered(offer.handlers.values())
        return offer

    def remove(self, service: str, agent: str) -> None:
        """As all that its servant serves. Raises ValueError for what is not offered."""
        found = self._by_service.get(service, {}).get(agent)
        if found is None:
            raise ValueError(f"{service} is not offered for agent {agent!r}")
        gone = {each.name for each in services_of(found.servant)}
        self._by_service = {
            name: {
                each: offer
                for each, offer in agents.items()
                if each != agent or name not in gone or offer.servant is not found.servant
            }
            for name, agents in self._by_service.items()
        }

    def add_source(self, source: OfferSource, announced: Announced) -> None:
        """Raises ValueError if it is offered already."""
        announced.check()
        if any(source is known for known, _ in self._sources):
            raise ValueError("these topics are offered already")
        self._sources = [*self._sources, (source, announced)]

    def all(self) -> list[Offer]:
        offered = (*self._by_service.values(), *self._topics.values())
        return [offer for agents in offered for offer in agents.values()]

    def handlers(self) -> list[Handler]:
        """Of all that is offered beside the server's own services."""
        return [handler for offer in self.all() for handler in offer.handlers.values()]

    def made_known(self) -> list[Offer]:
        """The offers that are announced to controllers."""
        offers = [offer for agents in self._by_service.values() for offer in agents.values()]
        for source, _ in self._sources:
            for name, agent in source.published():
                offers += [topic.at(agent) for topic in self._of(name).values()]
        return offers

    def _of(self, service: str) -> dict[str, Offer]:
        """The offers of a service by agent; empty if it is not offered."""
        agents = self._by_service.get(service) or self._topics.get(service)
        if agents is not None:
            return agents
        for source, announced in self._sources:
            servant = source.servant(service)
            if servant is not None:
                made = self._measured(Offer(servant, "", False, {}, self._admission, announced))
                self._topics = {**self._topics, service: {"": made}}
                return self._topics[service]
        own = self._own.get(service)
        if own is None and service in self.makers:
            made = Offer(self.makers[service](), "", False, {}, Admission(None), Announced())
            own = self._own.setdefault(service, {"": made})
        return own or {}

    def source_figures(self) -> list[SourceFigures]:
        """Those of all topics."""
        return [each for source, _ in self._sources for each in source.figures()]

    def has(self, service: str) -> bool:
        """Whether the service is offered, for any agent."""
        return bool(self._of(service))

    def stats(self) -> ServerStats:
        """The statistics of all methods."""
        methods = [
            MethodStats(
                service=offer.service.name,
                agent=shown_agent(offer.service, offer.agent),
                method=handler.method.name,
                executed=handler.counters.executed,
                refused=handler.counters.refused,
                expired=handler.counters.expired,
                dropped=handler.counters.dropped,
                running=running,
                waiting=waiting,
            )
            for offer in self.all()
            for handler in offer.handlers.values()
            for running, waiting in (self._now(handler),)
        ]
        running, waiting = self._admission.gauges()
        return ServerStats(
            executed=sum(each.executed for each in methods),
            refused=sum(each.refused for each in methods),
            expired=sum(each.expired for each in methods),
            dropped=sum(each.dropped for each in methods),
            running=running,
            waiting=waiting,
            methods=methods,
        )

    def _now(self, handler: Handler) -> tuple[int, int]:
        """How many calls of a method with its own limit run, and how many wait."""
        gate = handler.gate
        return (0, 0) if gate is None or gate.counted.limit is None else self._admission.gauges(gate)

    def description(self, service: str) -> tuple[str, str]:
        """The service's descriptor and annex; empty if it is not offered."""
        for offer in self._of(service).values():
            return offer.service.descriptor, offer.service.annex
        return "", ""

    def any_of(self, service: str) -> Offer | None:
        """An offer of the service, for whichever agent."""
        return next(iter(self._of(service).values()), None)

    def resolve(self, bind: BindRequested, *, names: bool = True) -> list[Handler] | tuple[Code, str]:
        """The handlers that a client requests, or the reason why it does not get them. Without `names` the
        reason does not say what else is offered."""
        agents = self._of(bind.service)
        if not agents:
            offered = some_of({**self._by_service, **self._topics}) or "nothing"
            text = f"this server does not offer {bind.service}"
            return Code.UNKNOWN_SERVICE, f"{text}; it offers {offered}" if names else text
        offer = agents.get(bind.agent)
        if offer is None and not bind.agent:
            offer = next(iter(agents.values()))
        if offer is None:
            service = next(iter(agents.values())).service
            asked = shortened(shown_agent(service, bind.agent))
            text = f'this server does not offer {bind.service} for agent "{asked}"'
            if not names:
                return Code.UNKNOWN_AGENT, text
            known = [shown_agent(service, agent) for agent in sorted(agents)]
            return Code.UNKNOWN_AGENT, f"{text}; known agents: " + some_of(known, mark='"')
        if offer.service.fingerprint != bind.fingerprint:
            text = f"client and server were generated from different schemas of {bind.service}"
            return Code.SCHEMA_MISMATCH, text
        missing = [name for name in bind.methods if name not in offer.handlers]
        if missing:
            return Code.UNKNOWN_METHOD, f"{bind.service} has no method {missing[0]}"
        return [offer.handlers[name] for name in bind.methods]
