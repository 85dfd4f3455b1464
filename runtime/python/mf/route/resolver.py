"""R5. The interface through which clients learn where services are; they do not know the controller behind
it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from mf.core.clock import moment
from mf.core.dataclass import dataclass
from mf.core.error import Code
from mf.transport.address import Address

TOPIC_VIEW = "topic "


def topic_view(topic: str) -> str:
    """The name for requests of a topic's view; no service has such a name."""
    return TOPIC_VIEW + topic


def is_topic_view(name: str) -> bool:
    return name.startswith(TOPIC_VIEW)


class Instance:
    """One server that offers a (service, agent). `address`: 'tcp://host:port', or 'unix:/path'. `local`: a
    path where a client on the same host may reach the process: it is there if its HELLO has `nonce`.
    `fingerprint`: of the service in that server; empty if it is not known. `identity`: the name that the
    server's certificate must have, by which it has registered; empty: any that is valid for the address.
    """

    __slots__ = ("address", "fingerprint", "identity", "local", "nonce", "weight")

    def __init__(
        self,
        address: str,
        weight: int = 1,
        local: str = "",
        nonce: bytes = b"",
        fingerprint: bytes = b"",
        identity: str = "",
    ) -> None:
        self.address = address
        self.weight = weight
        self.local = local
        self.nonce = nonce
        self.fingerprint = fingerprint
        self.identity = identity

    @property
    def place(self) -> str:
        """The address, and behind a NUL the name that the certificate there must have."""
        return f"{self.address}\0{self.identity}" if self.identity else self.address

    @property
    def is_path(self) -> bool:
        """Whether it has registered no other address than a path."""
        return bool(self.local) and self.local == self.address

    def _key(self) -> tuple[str, int, str, bytes, bytes, str]:
        return (self.address, self.weight, self.local, self.nonce, self.fingerprint, self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Instance({self.address!r})"


@dataclass(slots=True)
class View:
    """What is known of one service at one moment. Immutable; each change makes a new one.

    `reached`: a source has answered, so that what is not here does not exist. `agents` maps agents (the empty
    one for a service without `per`) to instances; an agent that lost its instances stays. `whole` are
    instances whose agents are not known. `trouble` is the reason why no source has answered, and `code` the
    code of calls that end because of it.
    """

    agents: Mapping[str, tuple[Instance, ...]]
    reached: bool = True
    whole: tuple[Instance, ...] = ()
    trouble: str = ""
    code: Code = Code.UNAVAILABLE

    def find(self, agent: str | None) -> list[tuple[str, Instance]]:
        """Candidates with the agent to bind; None is any agent."""
        found = [(agent or "", instance) for instance in self.whole]
        if agent is not None:
            found += [(agent, instance) for instance in self.agents.get(agent, ())]
        else:
            found += [(name, instance) for name, instances in self.agents.items() for instance in instances]
        return found


class Views(ABC):
    """Provides views of services."""

    __slots__ = ("generation",)

    generation: int
    """Incremented by every change of any view: a cheap check whether an earlier choice may be outdated."""

    of_relays: ClassVar[bool] = False
    """Whether the instances are relays, each of which reaches all known services."""

    def client_id(self) -> int:
        """The upper half of request ids, unique among clients. 0: there is none, or not yet."""
        return 0

    @abstractmethod
    def view(self, service: str) -> View:
        """What is known now. The first call for a service starts to watch it; never waits."""

    def reload(self) -> bool:
        """Reads files of TLS again; see Client.reload."""
        return True

    @abstractmethod
    def close(self) -> None:
        """Stops watching, and ends all waits."""


V = TypeVar("V", bound=Views)


class Resolver(Views):
    """For blocking clients. Thread-safe."""

    __slots__ = ()

    @abstractmethod
    def wait(self, service: str, old: View, timeout: float) -> View:
        """Waits until the view differs from `old`, at most `timeout` seconds."""


class StaticResolver(Resolver):
    """Fixed addresses: of whole servers, or by agent."""

    __slots__ = ("_view",)

    def __init__(self, addresses: Iterable[str] | Mapping[str, Iterable[str]]) -> None:
        self.generation = 0
        self._view = static_view(addresses)

    def view(self, service: str) -> View:  # noqa: ARG002 - the same for all
        return self._view

    def wait(self, service: str, old: View, timeout: float) -> View:  # noqa: ARG002
        until = monotonic() + timeout
        while (left := until - monotonic()) > 0:
            time.sleep(moment(left))
        return self._view

    def close(self) -> None:
        pass


def static_view(addresses: Iterable[str] | Mapping[str, Iterable[str]]) -> View:
    if isinstance(addresses, Mapping):
        return View({agent: tuple(map(Instance, some)) for agent, some in addresses.items()})
    return View({}, whole=tuple(map(Instance, addresses)))


class RelayedViews(Views, Generic[V]):
    """The views of another resolver, for a client that reaches all servers through relays: each relay
    replaces the instances of every agent that have one schema. So a relay is an instance for each schema that
    is behind it, whose weight is that of the servers with this schema, or 1 if there is no other. `known` is
    closed with it.
    """

    __slots__ = ("_known", "_made", "_relays")

    of_relays = True

    def __init__(self, known: V, relays: Iterable[Address]) -> None:
        self._known = known
        self._relays = tuple(str(each.server) for each in relays)
        self._made: dict[str, tuple[View, View]] = {}

    @property
    def generation(self) -> int:
        return self._known.generation

    @generation.setter
    def generation(self, value: int) -> None:
        self._known.generation = value

    def view(self, service: str) -> View:
        return self._relayed(service, self._known.view(service))

    def client_id(self) -> int:
        return self._known.client_id()

    def reload(self) -> bool:
        return self._known.reload()

    def close(self) -> None:
        self._known.close()

    def _relayed(self, service: str, view: View) -> View:
        """The result is the same object for the same view."""
        known = self._made.get(service)
        if known is not None and known[0] is view:
            return known[1]
        agents = {agent: self._at_relays(some) for agent, some in view.agents.items()}
        whole = self._at_relays(view.whole)
        made = View(agents, reached=view.reached, whole=whole, trouble=view.trouble, code=view.code)
        self._made[service] = (view, made)
        return made

    def _at_relays(self, servers: tuple[Instance, ...]) -> tuple[Instance, ...]:
        schemas: dict[bytes, int] = {}
        for server in servers:
            schemas[server.fingerprint] = schemas.get(server.fingerprint, 0) + server.weight
        several = len(schemas) > 1
        return tuple(
            Instance(relay, weight if several else 1, fingerprint=fingerprint)
            for fingerprint, weight in schemas.items()
            for relay in self._relays
        )


class RelayedResolver(RelayedViews[Resolver], Resolver):
    """For blocking clients."""

    __slots__ = ()

    def wait(self, service: str, old: View, timeout: float) -> View:
        known = self._known.view(service)
        view = self._relayed(service, known)
        if view is not old:
            return view
        return self._relayed(service, self._known.wait(service, known, timeout))


CONTROLLERS = ("mf", "mf+tls")
RELAYS = ("relay", "relay+tls")
"""Schemes of addresses."""


def relay_addresses(where: str) -> list[Address]:
    """The addresses of one relay, or of several separated by commas. Raises ValueError for an invalid one."""
    parsed = Address.parse_list(where)
    for address in parsed:
        if address.scheme not in RELAYS:
            raise ValueError(f"the addresses of relays start with relay://, not {address.scheme}:")
    return parsed
