"""R5. The common part of both kinds of servers: addresses, offers, and the limits that clients are told."""

import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mf.core.agent import Agent
from mf.core.service import BaseServant
from mf.core.source import OfferSource
from mf.protocol.frame import DEFAULT_MAX_PAYLOAD
from mf.protocol.handshake import DEFAULT_MAX_BINDINGS, DEFAULT_MAX_STREAMS, DEFAULT_STREAM_WINDOW, Hello
from mf.protocol.stream import MAX_WINDOWS
from mf.server import identity
from mf.server.admission import Limit
from mf.server.counters import ServerStats
from mf.server.load import ServerLoad
from mf.server.offer import Announced, Offer, Offers
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES, server_context

if TYPE_CHECKING:
    from mf.transport.tls import Tls

DEFAULT_MAX_IN_FLIGHT = 8192
DEFAULT_MAX_CONNECTIONS = 16_384
DEFAULT_MAX_HANDSHAKES = 1024
DEFAULT_MAX_HELD_BYTES = 512 << 20
SMALLEST_WINDOW = 1024
CALLS_CUT = 3
"""The exit status of a program whose server had to cut calls when it stopped."""


class BaseServer(ABC):
    """`listen`: 'tcp://host:port' (port 0: the system chooses, see `address`), 'tls://host:port',
    'unix:/path', or several of them, separated by commas. `tls`: for addresses with tls://. `max_payload`:
    bytes of the largest accepted request. `max_in_flight`: unanswered requests of one connection,
    `max_bindings` and `max_streams`: services, by agent, that one connection has bound, and calls with
    streams that it has open; more are refused with OVERLOADED. `stream_window`: bytes that a client may send
    on a stream before its handler has taken any; together the windows of a connection are at most 8 MiB.
    `max_connections`: further ones are refused; `max_connections_per_host`: the same for one host, 0: no
    limit of its own; `max_handshakes`: above this number of connections without a
    HELLO the oldest is ended; `max_held_bytes`: bytes that all connections hold together, above which the one
    that holds the most is ended (docs/limits.md). `limit`: how many calls of all clients run at once, and
    wait; more are refused with OVERLOADED, not executed; None: no such limit. `drain_timeout`: seconds that
    stop() gives running calls. Raises ValueError for an invalid address, and for unusable files of `tls`.
    """

    def __init__(
        self,
        listen: str,
        *,
        tls: "Tls | None" = None,
        max_payload: int = DEFAULT_MAX_PAYLOAD,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        max_bindings: int = DEFAULT_MAX_BINDINGS,
        max_streams: int = DEFAULT_MAX_STREAMS,
        stream_window: int = DEFAULT_STREAM_WINDOW,
        max_connections: int = DEFAULT_MAX_CONNECTIONS,
        max_connections_per_host: int = 0,
        max_handshakes: int = DEFAULT_MAX_HANDSHAKES,
        max_held_bytes: int = DEFAULT_MAX_HELD_BYTES,
        limit: Limit | None = None,
        drain_timeout: float = 5.0,
    ) -> None:
        if max_streams * stream_window > MAX_WINDOWS:
            text = f"max_streams {max_streams} of stream_window {stream_window} bytes each"
            raise ValueError(f"{text}: together they may take {MAX_WINDOWS:,} bytes")
        if stream_window < SMALLEST_WINDOW:
            raise ValueError(f"stream_window is {stream_window}: less than {SMALLEST_WINDOW} carry no value")
        self._listen = _listened_at(listen)
        self._tls = server_context(self._listen, tls)
        self._drain_timeout = drain_timeout
        self._offers = Offers(limit)
        self._identity = identity.draw()
        self._hello = Hello(
            nonce=self._identity.nonce,
            max_payload=max_payload,
            max_in_flight=max_in_flight,
            max_bindings=max_bindings,
            max_streams=max_streams,
            stream_window=stream_window,
        )
        self._addresses: list[str] = []
        self._load = ServerLoad(max_connections, max_connections_per_host, max_handshakes, max_held_bytes)

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

    def _offer(
        self,
        servant: BaseServant,
        agent: Agent | None,
        *,
        inline: bool,
        limits: Mapping[str, Limit] | None = None,
        announced: Announced,
    ) -> Offer:
        """Raises ValueError if the offer does not fit, TypeError for an invalid agent."""
        return self._offers.add(servant, agent, inline, limits, announced)

    def _offer_source(self, source: OfferSource, announced: Announced) -> None:
        """Raises ValueError if it is offered already."""
        self._offers.add_source(source, announced)
        source.listen(self._offers_changed)

    @abstractmethod
    def _offers_changed(self) -> None:
        """The offers for controllers have changed. Called on any thread."""

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
