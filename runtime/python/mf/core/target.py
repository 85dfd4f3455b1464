"""R0. The interface that generated clients call: a service at some place. Client (over connections) and light
implement it.

A generated function is one line: `return self._target.call(_QUERY, options, terms, limit)`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from mf.core.agent import Agent, called_agent
from mf.core.error import Code, Error, not_executed
from mf.core.options import BatchOptions, CallOptions
from mf.core.outcome import Failure, Outcome
from mf.core.replicated import Replicated, ReplicatedOptions
from mf.core.service import Method, ServiceInfo
from mf.core.stream import AsyncDuplexStream, AsyncStreamReader, DuplexStream, StreamReader

if TYPE_CHECKING:  # only cached calls need it
    from mf.core.cached import Caches, CallCache

K = TypeVar("K")
K2 = TypeVar("K2")
T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")

_LONGEST_ADDRESS = 200  # shown in words


def without_replicas(method: Method[Any, Any]) -> Error:
    """The failure of a replicated call where there can be no replicas."""
    text = (
        f"{method.name} is replicated: call it through the controller that its replicas are registered with"
    )
    return not_executed(Code.UNKNOWN_METHOD, text)


class BatchCall(ABC, Generic[T]):
    """A message-level batch in progress. Outcomes are in the order of the requests."""

    __slots__ = ()

    @abstractmethod
    def ready(self) -> bool:
        """Whether results() returns without waiting."""

    @abstractmethod
    def wait(self, timeout: float | None = None) -> bool:
        """Waits until ready, at most `timeout` seconds (None: until the batch's deadline). Returns
        ready()."""

    @abstractmethod
    def results(self) -> list[Outcome[T]]:
        """Waits for the remaining items, and returns one outcome for each request."""

    @abstractmethod
    def partial(self) -> list[Outcome[T] | None]:
        """The outcomes so far, without waiting: None for requests that have not ended."""

    def __len__(self) -> int:
        return len(self.partial())


class Scattered(dict[K, Outcome[T]], Generic[K, T]):
    """One outcome for each agent, in the requested order. A dead agent has a failed outcome, not an
    exception.

    `K` is the type of the agents: str, int, UUID or an enum.
    """

    __slots__ = ()

    def keyed(self, key: Callable[[str], K2]) -> "Scattered[K2, T]":
        """The same with agents of their own type; `key` converts their texts. A text that it refuses with
        ValueError, since it is of a newer schema, stays text.
        """
        made: Scattered[Any, T] = Scattered()
        for text, outcome in self.items():
            try:
                made[key(cast(str, text))] = outcome
            except ValueError:
                made[text] = outcome
        return made

    @property
    def ok(self) -> dict[K, T]:
        """The values of the agents that answered."""
        return {agent: outcome.value() for agent, outcome in self.items() if outcome.error is None}

    @property
    def failed(self) -> dict[K, Failure]:
        """The failures of the other agents."""
        return {agent: outcome.error for agent, outcome in self.items() if outcome.error is not None}


class ScatterTarget(ABC):
    """Several agents at once, or all. All requests are sent before any answer is awaited."""

    __slots__ = ()

    @abstractmethod
    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> Scattered[str, T]:
        """One call to each agent. Never raises for the failure of a single agent."""


class AsyncScatterTarget(ABC):
    """The same, awaited."""

    __slots__ = ()

    @abstractmethod
    async def call(
        self, method: Method[Any, T], options: CallOptions | None, *arguments: Any
    ) -> Scattered[str, T]:
        """One call to each agent. Never raises for the failure of a single agent."""


class AnyTarget(ABC, Generic[S]):
    """The common part of targets: which agents, and cached calls. `S`: the target of several agents."""

    __slots__ = ()

    # Which agents

    @abstractmethod
    def for_agent(self, agent: str | None) -> Self:
        """The same service at the agent with this text, or at any."""

    @abstractmethod
    def several(self, agents: list[str] | None) -> S:
        """The same service at each of these agents, or at all that are known when a call is made."""

    def at(self, agent: Agent) -> Self:
        """The same service at this agent. Raises TypeError for an invalid agent, Error(INVALID_ARGUMENT) for
        one without a UTF-8 text."""
        return self.for_agent(called_agent(agent))

    def any(self) -> Self:
        """The same service at any reachable agent."""
        return self.for_agent(None)

    def on(self, agents: Iterable[Agent]) -> S:
        """The same service at each of these agents."""
        return self.several(list(dict.fromkeys(map(called_agent, agents))))

    def everywhere(self) -> S:
        """The same service at all agents that are known when a call is made."""
        return self.several(None)

    # Cached calls

    @property
    @abstractmethod
    def caches(self) -> "Caches":
        """The caches of the target's client."""

    @property
    @abstractmethod
    def agent_key(self) -> str:
        """The part of cache keys that separates agents: "=" and the agent, or "*" for any agent."""

    @property
    @abstractmethod
    def forwarded(self) -> tuple[str, ...]:
        """Keys of metadata that are forwarded automatically."""

    def forget_cached(self, method: Method[Any, Any], *arguments: Any) -> None:
        """Forgets the answer to such a call."""
        self.caches.of(method).forget((self.agent_key, bytes(method.encode_request(*arguments))))

    def call_cache(self, method: Method[Any, Any]) -> "CallCache":
        return self.caches.of(method).seen_by(self.agent_key)


class Target(AnyTarget[ScatterTarget]):
    """One service at one agent, or at any, for callers that block."""

    __slots__ = ()

    @abstractmethod
    def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        """One blocking call. Raises Error or one of the method's declared errors. One-way methods return
        None."""

    @abstractmethod
    def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> BatchCall[T]:
        """Message-level batch: as many messages as necessary, in flight together."""

    @abstractmethod
    def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        """Application-level batch: one message with all requests. Raises Error if the whole message
        failed."""

    def replicate(
        self,
        method: Method[Any, T],
        options: ReplicatedOptions | None,
        *arguments: Any,
    ) -> Replicated[T]:
        """One message to all replicas. Raises Error or one of the method's declared errors."""
        del options, arguments
        raise without_replicas(method)

    # Cached calls

    def call_cached(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        """As `call`, but may return the cached answer to an equal call."""
        caches = self.caches
        if not caches.answers(options, self.forwarded):
            return self.call(method, options, *arguments)
        cache = caches.of(method)
        key = (self.agent_key, bytes(method.encode_request(*arguments)))
        kept = cache.find(key)
        if kept is not None:
            return cast(T, cache.value(kept))
        return cast(T, cache.call(self, key, options, arguments))

    # Streams

    @abstractmethod
    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> StreamReader[Any]:
        """Calls a method with a result stream."""

    @abstractmethod
    def write_stream(
        self, method: Method[Any, T], options: CallOptions | None, values: Iterable[Any], *arguments: Any
    ) -> T:
        """Calls a method with a parameter stream, which is read from `values`."""

    @abstractmethod
    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> DuplexStream[Any, Any]:
        """Calls a method with a stream in both directions."""


class AsyncTarget(AnyTarget[AsyncScatterTarget]):
    """One service at one agent, or at any, for asyncio. Cancelling a task cancels its call."""

    __slots__ = ()

    @abstractmethod
    async def call(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        """One call. Raises Error or one of the method's declared errors. One-way methods return None once the
        request is sent."""

    @abstractmethod
    async def batch(
        self, method: Method[R, T], requests: Sequence[R], options: BatchOptions | None = None
    ) -> list[Outcome[T]]:
        """Message-level batch: as many messages as necessary, in flight together. Outcomes are in the order
        of the requests."""

    @abstractmethod
    async def bulk(
        self, method: Method[R, T], requests: Sequence[R], options: CallOptions | None = None
    ) -> list[Outcome[T]]:
        """Application-level batch: one message with all requests. Raises Error if the whole message
        failed."""

    async def replicate(
        self,
        method: Method[Any, T],
        options: ReplicatedOptions | None,
        *arguments: Any,
    ) -> Replicated[T]:
        """One message to all replicas. Raises Error or one of the method's declared errors."""
        del options, arguments
        raise without_replicas(method)

    # Cached calls

    async def call_cached(self, method: Method[Any, T], options: CallOptions | None, *arguments: Any) -> T:
        """As `call`, but may return the cached answer to an equal call."""
        caches = self.caches
        if not caches.answers(options, self.forwarded):
            return await self.call(method, options, *arguments)
        cache = caches.of(method)
        key = (self.agent_key, bytes(method.encode_request(*arguments)))
        kept = cache.find(key)
        if kept is not None:
            return cast(T, cache.value(kept))
        return cast(T, await cache.call_async(self, key, options, arguments))

    # Streams

    @abstractmethod
    def read_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncStreamReader[Any]:
        """Calls a method with a result stream when the first value is read, or by `async with`."""

    @abstractmethod
    async def write_stream(
        self,
        method: Method[Any, T],
        options: CallOptions | None,
        values: AsyncIterable[Any] | Iterable[Any],
        *arguments: Any,
    ) -> T:
        """Calls a method with a parameter stream, which is read from `values`."""

    @abstractmethod
    def duplex_stream(
        self, method: Method[Any, Any], options: CallOptions | None, *arguments: Any
    ) -> AsyncDuplexStream[Any, Any]:
        """Calls a method with a stream in both directions: when the first value is written or read, or by
        `async with`."""


def _wrong_kind(source: object, service: ServiceInfo, what: str, wanted: str) -> TypeError:
    short = service.name.rpartition(".")[2]
    kind = type(source).__name__
    other = f"{short}AsyncClient" if wanted == "Client" else f"{short}Client"
    return TypeError(f"the {kind} {what} of {service.name} an mf.{wanted}, or give the {kind} to {other}")


class TargetSource(ABC):
    """Creates targets: a Client or a Light."""

    __slots__ = ()

    @abstractmethod
    def target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: "Caches | None" = None
    ) -> Target:
        """The service at any agent, until at() names one. Generated constructors call it. `keys`: metadata
        keys that are forwarded from a handler's call to calls that it makes, beside the source's own.
        `caches`: those of a client in front of this source; without them, the source has its own caches.
        """

    def async_target(
        self,
        service: ServiceInfo,
        keys: tuple[str, ...] = (),  # noqa: ARG002 - the parameters of AsyncTargetSource
        caches: "Caches | None" = None,  # noqa: ARG002
    ) -> "AsyncTarget":
        """Called by generated code, with `service`, `keys` and `caches` of `target`. Raises TypeError: this
        source is for callers that block."""
        raise _wrong_kind(self, service, "blocks: give this client", "AsyncClient")


class AsyncTargetSource(ABC):
    """Creates targets for asyncio: an AsyncClient or a Light."""

    __slots__ = ()

    @abstractmethod
    def async_target(
        self, service: ServiceInfo, keys: tuple[str, ...] = (), caches: "Caches | None" = None
    ) -> AsyncTarget:
        """Called by generated code; `service`, `keys` and `caches`: see TargetSource."""

    def target(
        self,
        service: ServiceInfo,
        keys: tuple[str, ...] = (),  # noqa: ARG002 - the parameters of TargetSource
        caches: "Caches | None" = None,  # noqa: ARG002
    ) -> Target:
        """Called by generated code, with `service`, `keys` and `caches` of `async_target`. Raises TypeError:
        this source is for callers that await."""
        raise _wrong_kind(self, service, "is asynchronous: give this client", "Client")


def target_of(client: TargetSource, service: ServiceInfo) -> Target:
    """The target of a generated client. Raises TypeError for what is no client, such as an address."""
    try:
        make = client.target
    except AttributeError:
        raise _no_client(client, service, "Client") from None
    return make(service)


def async_target_of(client: AsyncTargetSource, service: ServiceInfo) -> AsyncTarget:
    """The same for asyncio."""
    try:
        make = client.async_target
    except AttributeError:
        raise _no_client(client, service, "AsyncClient") from None
    return make(service)


def _no_client(given: object, service: ServiceInfo, wanted: str) -> TypeError:
    maker = f"{service.name.rpartition('.')[2]}{wanted}"
    address = given if isinstance(given, str) and len(given) <= _LONGEST_ADDRESS else "tcp://…"
    words = f'{maker} takes a client, not a {type(given).__name__}: write {maker}(mf.{wanted}("{address}"))'
    return TypeError(words)
