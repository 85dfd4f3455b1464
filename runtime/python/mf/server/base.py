"""R5. The common part of both kinds of servers: addresses, offers, and the limits that HELLO states."""

import signal
import socket
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, Unpack

from mf.core.agent import Agent
from mf.core.generated import VERSION
from mf.core.log import info, line, wants_info
from mf.core.offered import offered_agent
from mf.core.options import check_names
from mf.core.server_options import DEFAULTS, OfferFields, ServerFields, ServerOptions, checked
from mf.core.service import ADMIN, HEALTH, BaseServant
from mf.core.source import OfferSource
from mf.core.tally import Tallies
from mf.core.tap import Tap
from mf.link import fork
from mf.protocol.handshake import Hello, check_max_payload
from mf.server import identity
from mf.server.access import Access
from mf.server.counters import ServerStats
from mf.server.files import ServedFiles
from mf.server.load import ServerLoad
from mf.server.offer import Announced, Offers
from mf.server.readiness import Check, Readiness
from mf.server.server_io import ServerIo
from mf.server.taps import Taps
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES, server_context
from mf.transport.stream import SocketStream

if TYPE_CHECKING:  # servers without a monitor, or an access file, do not load what reads it
    from mf.access.rules import Rules
    from mf.core.exposition import Exposition
    from mf.core.intercepting import Interceptors
    from mf.monitor.door import Door

CALLS_CUT = 3
"""The exit status of a program whose server had to cut calls when it stopped."""


class Registrar(Protocol):
    """What registers a server at its controllers."""

    @property
    def registered(self) -> bool:
        """Whether a controller has confirmed the registration."""

    def lead(self, service: str, agent: str) -> Any: ...

    def reload(self) -> bool: ...

    def after_fork(self) -> None: ...


R = TypeVar("R", bound=Registrar)
I = TypeVar("I", bound=ServerIo)  # noqa: E741 - the kind of IO


class BaseServer(ABC, Generic[R, I]):
    """`listen`: 'tcp://host:port' (port 0: the system chooses, see `address`), 'tls://host:port',
    'unix:/path', or several of them, separated by commas. `controller`: 'mf://host:port', or
    'mf+tls://host:port' over TLS, or several of them, with each of which the server registers; None for a
    server that clients address directly. Raises ValueError for an invalid address, for unusable files of TLS,
    for mistakes in an access file, and for an address of the monitor that cannot be used.
    """

    def __init__(
        self,
        listen: str = "tcp://127.0.0.1:0",
        controller: str | None = None,
        options: ServerOptions = DEFAULTS,
        **changes: Unpack[ServerFields],
    ) -> None:
        options = self._options = checked(options, **changes)
        self._listen = _listened_at(listen)
        _check_open(self._listen, options)
        self._tls = server_context(self._listen, options.tls)
        self._access = Access(options)
        self._files = ServedFiles(self._tls, self._access, options)
        self._tallies = Tallies() if options.monitor else None
        self._offers = Offers(
            options.limit,
            self._tallies,
            self._interceptors_of(options),
            error_texts=options.error_texts,
        )
        self._offers.makers = {HEALTH: self._health, ADMIN: self._admin}
        self._taps = Taps(self._offers.handlers)
        self._offers.when_offered = self._taps.cover
        self._readiness = Readiness(self._own_reasons, self._offers.has, self._is_stopping)
        self._monitor: Door | None = None
        if options.monitor:
            from mf.monitor.door import endpoint_of

            endpoint_of(options.monitor, opened=options.monitor_open)
        self._identity = identity.draw()
        check_max_payload(options.max_payload)
        self._hello = Hello(
            nonce=self._identity.nonce,
            max_payload=options.max_payload,
            max_in_flight=options.max_in_flight,
            max_bindings=options.max_bindings,
            max_streams=options.max_streams,
            stream_window=options.stream_window,
        )
        self._addresses: list[str] = []
        self._load = ServerLoad(
            options.max_connections,
            options.max_connections_per_host,
            options.max_handshakes,
            options.max_held_bytes,
        )
        self._controllers = controller or "none"
        self._registrar = None if controller is None else self._registrar_at(controller)
        self._offers.registered = controller is not None
        self._io: I | None = None
        self._set_up()
        fork.register(self)

    @abstractmethod
    def _interceptors_of(self, options: ServerOptions) -> "Interceptors | None":
        """None: there are none. Raises TypeError for those of the other kind of servers."""

    @abstractmethod
    def _registrar_at(self, controller: str) -> R:
        """Raises ValueError for an invalid address. Imports a floor above, as C++ links it."""

    @abstractmethod
    def _set_up(self) -> None:
        """Makes what this kind of server has besides."""

    @abstractmethod
    def _check(self, servant: BaseServant) -> None:
        """Raises TypeError for a servant of the other kind of servers."""

    @property
    def address(self) -> str:
        """The first of `addresses`. Empty before start()."""
        return self._addresses[0] if self._addresses else ""

    @property
    def addresses(self) -> list[str]:
        """The addresses where this server listens, with the port that the system chose. Known after
        start()."""
        return list(self._addresses)

    @property
    def monitor_address(self) -> str:
        """HOST:PORT of the monitor, with the port that the system chose; empty without one, and before
        start()."""
        return self._monitor.address if self._monitor is not None else ""

    def _open_monitor(self) -> None:
        """When the server listens. Raises OSError, in one sentence, if the monitor cannot."""
        options = self._options
        if options.monitor and self._monitor is None:
            from mf.monitor.door import Door, Source

            source = Source(self._expose, self._not_ready)
            self._monitor = Door(options.monitor, opened=options.monitor_open, source=source)

    def _close_monitor(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None

    def _expose(self, out: "Exposition") -> None:
        from mf.server.metrics import expose, expose_topics

        assert self._tallies is not None
        is_ready = not self._not_ready()
        expose(
            out,
            self.stats(),
            self._tallies,
            most_bytes=self._load.max_held_bytes,
            is_ready=is_ready,
            expires=None if self._tls is None else self._tls.certificate_expires(),
        )
        expose_topics(out, self._offers.source_figures())
        if self._options.expose is not None:
            self._options.expose(out)

    def _not_ready(self) -> str:
        return "".join(f"{each}\n" for each in self._readiness.why_not() or ())

    def _own_reasons(self) -> list[str]:
        from mf.server.metrics import reasons

        return reasons(
            self._options,
            stopping=self._is_stopping(),
            registered=lambda: self._registrar is None or self._registrar.registered,
            is_full=self._load.counts.held_bytes > self._load.max_held_bytes,
        )

    @abstractmethod
    def _is_stopping(self) -> bool: ...

    def add_check(self, name: str, check: Check, service: str = "") -> None:
        """Adds a reason why this server should get no work: `check` is called when /readyz or the health
        service is asked, on any thread, and returns it in one line, or "". One that raises is a reason, too.
        It must not wait for long. `service`: the full name of the only service that it is about; /readyz does
        not ask it then. Raises ValueError for a name that is taken, TypeError for `async def`.
        """
        self._readiness.add_check(name, check, service)

    def remove_check(self, name: str) -> None:
        """Raises ValueError for a name that is unknown."""
        self._readiness.remove_check(name)

    @abstractmethod
    def _health(self) -> BaseServant:
        """The servant of the health service. Imports a floor above."""

    def add_tap(self, tap: Tap) -> None:
        """Puts the interceptor `tap` around all handlers that it covers, now and as they are offered, until
        `remove_tap`. A server without taps pays nothing for that they may come. Raises Error(OVERLOADED) if
        there are as many as there may be."""
        self._taps.add(tap)

    def remove_tap(self, tap: Tap) -> None:
        """Takes `tap` away. Calls that it has begun still end with it."""
        self._taps.remove(tap)

    @abstractmethod
    def _admin(self) -> BaseServant:
        """The servant of the service for operators. Imports a floor above."""

    @property
    def nonce(self) -> bytes:
        """16 bytes that identify this server until it ends."""
        return self._hello.nonce

    def stats(self) -> ServerStats:
        """Statistics of each method's calls, and of connections. Thread-safe at any time."""
        return replace(self._offers.stats(), connections=self._load.stats())

    def _offer(
        self, servant: BaseServant | OfferSource, agent: Agent | None, inline: bool, how: OfferFields
    ) -> None:
        check_names(how, OfferFields, "offer")
        announced = Announced(how.get("weight", 1), how.get("labels") or {}, how.get("alone", False))
        if isinstance(servant, OfferSource):
            self._offers.add_source(servant, announced)
            servant.listen(self._offers_changed)
        else:
            self._check(servant)
            self._offers.add(servant, agent, inline, how.get("limits"), announced)
        self._offers_changed()

    def withdraw(self, servant: BaseServant, agent: Agent | None = None) -> None:
        """Withdraws the offer of `servant` for `agent`: controllers are notified, and it cannot be bound any
        more. Running calls continue, as do calls of clients that have bound it. Raises ValueError for what is
        not offered."""
        service = servant.mf_service
        self._offers.remove(service.name, offered_agent(service, agent))
        self._offers_changed()

    def reload(self) -> bool:
        """Reads the files of `tls`, `controller_tls` and `access` again, at once, and asks `authorize` again
        about what it has decided. Connections whose certificates are not accepted any more, or that may do
        something else now than when they bound it, end when their calls have, or after `drain_timeout`;
        their clients connect again. False: a file cannot be used, which the log says, and what was read
        before stays in use."""
        if self._io is None:
            return True
        usable = self._files.read(always=True)
        if self._registrar is not None:
            usable = self._registrar.reload() and usable
        self._io.files_read()
        return usable

    @property
    def access_rules(self) -> "Rules | None":
        """The rules of `access`, as they were read last, for servants that decide themselves (`mf_decides`);
        None without an access file."""
        return self._access.rules

    def adopt(self, connected: socket.socket) -> None:
        """Serves one connected socket, which the server owns from now on. After start()."""
        if self._io is None:
            raise ValueError("start the server first")
        self._io.adopt(SocketStream(connected, "local", blocking=False))

    def _log_started(self) -> None:
        if wants_info():
            started = line(
                "started",
                version=VERSION,
                addresses=",".join(self._addresses),
                controllers=self._controllers,
                identity=self.nonce.hex(),
                access=self._options.access or "none",
            )
            info("%s", started)

    def _log_stopped(self, whole: bool) -> None:
        """`whole`: no call was cut; else the log has `calls_cut`."""
        if whole:
            info("%s", line("drained"))
        info("%s", line("stopped"))

    @abstractmethod
    def _offers_changed(self) -> None:
        """The offers for controllers have changed. Called on any thread."""

    def _lead(self, servant: type[BaseServant], agent: Agent | None) -> Any:
        """What the registrar makes of it. Raises ValueError for a server without a controller."""
        if self._registrar is None:
            raise ValueError("the lead is given by a controller, and this server has none")
        service = servant.mf_service
        return self._registrar.lead(service.name, offered_agent(service, agent))

    def after_fork(self) -> None:
        """In a child nothing is served: it is a different process than its parent, also for controllers and
        clients."""
        self._identity = identity.draw()
        self._hello.nonce = self._identity.nonce
        self._readiness.after_fork()
        self._taps.after_fork()
        if self._registrar is not None:
            self._registrar.after_fork()
        if self._monitor is not None:
            self._monitor.after_fork()
            self._monitor = None
        if self._io is not None:
            self._io.after_fork()
            self._io = None


STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""They end run() and serve()."""


def _listened_at(listen: str) -> list[Address]:
    addresses = Address.parse_list(listen)
    for address in addresses:
        if address.scheme not in SCHEMES:
            text = "a server listens at tcp://host:port, tls://host:port, unix:/path or memory:name"
            raise ValueError(f"address '{address}': {text}, not at {address.scheme}://")
    return addresses


def _check_open(listen: list[Address], options: ServerOptions) -> None:
    if options.open or options.authenticate or options.authorize:
        return
    proven = options.token_keys or (options.tls is not None and options.tls.ca)
    for address in listen:
        if address.is_beyond_host and not (proven and address.scheme == "tls"):
            raise ValueError(
                f"every program that reaches {address} could use this server: demand certificates by tls:// "
                "and tls.ca, or tokens by tls:// and token_keys, listen at 127.0.0.1, or set `open`"
            )
