"""R5. The common part of both kinds of servers: addresses, offers, and the limits that clients are told."""

import signal
from abc import ABC, abstractmethod
from dataclasses import replace

from mf.core.agent import Agent
from mf.core.offered import offered_agent
from mf.core.server_options import ServerOptions
from mf.core.service import BaseServant
from mf.core.source import OfferSource
from mf.protocol.handshake import Hello
from mf.server import identity
from mf.server.counters import ServerStats
from mf.server.load import ServerLoad
from mf.server.offer import Announced, Offers
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES, server_context

CALLS_CUT = 3
"""The exit status of a program whose server had to cut calls when it stopped."""


class BaseServer(ABC):
    """`listen`: 'tcp://host:port' (port 0: the system chooses, see `address`), 'tls://host:port',
    'unix:/path', or several of them, separated by commas. Raises ValueError for an invalid address, and for
    unusable files of `options.tls`.
    """

    def __init__(self, listen: str, options: ServerOptions) -> None:
        self._options = options
        self._listen = _listened_at(listen)
        self._tls = server_context(self._listen, options.tls)
        self._offers = Offers(options.limit)
        self._identity = identity.draw()
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
    def nonce(self) -> bytes:
        """16 bytes that identify this server until it ends."""
        return self._hello.nonce

    def stats(self) -> ServerStats:
        """Statistics of each method's calls, and of connections. Thread-safe at any time."""
        return replace(self._offers.stats(), connections=self._load.stats())

    def _offer_source(self, source: OfferSource, announced: Announced) -> None:
        """Raises ValueError if it is offered already."""
        self._offers.add_source(source, announced)
        source.listen(self._offers_changed)

    @abstractmethod
    def _offers_changed(self) -> None:
        """The offers for controllers have changed. Called on any thread."""

    def _lead(self, servant: type[BaseServant], agent: Agent | None) -> tuple[str, str]:
        """The name and agent of a lead. Raises ValueError for a server without a controller."""
        if not self._offers.registered:
            raise ValueError("the lead is given by a controller, and this server has none")
        service = servant.mf_service
        return service.name, offered_agent(service, agent)

    def _become_another(self) -> None:
        """In a child, which is a different process than its parent, also for controllers and clients."""
        self._identity = identity.draw()
        self._hello.nonce = self._identity.nonce


def stop_signals() -> list[signal.Signals]:
    """The signals that end run() and serve(). A SIGHUP that the process ignores, as under nohup, stays
    ignored."""
    ends = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    return ends


def _listened_at(listen: str) -> list[Address]:
    addresses = Address.parse_list(listen)
    for address in addresses:
        if address.scheme not in SCHEMES:
            text = "a server listens at tcp://host:port, tls://host:port, unix:/path or memory:name"
            raise ValueError(f"address '{address}': {text}, not at {address.scheme}://")
    return addresses
