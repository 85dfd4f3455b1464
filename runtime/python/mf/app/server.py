"""R7. The server of programs: registers itself with a controller."""

from typing import TYPE_CHECKING

from mf.protocol.frame import DEFAULT_MAX_PAYLOAD
from mf.protocol.handshake import DEFAULT_MAX_BINDINGS, DEFAULT_MAX_STREAMS, DEFAULT_STREAM_WINDOW
from mf.server.base import (
    DEFAULT_MAX_CONNECTIONS,
    DEFAULT_MAX_HANDSHAKES,
    DEFAULT_MAX_HELD_BYTES,
    DEFAULT_MAX_IN_FLIGHT,
)
from mf.server.server import Registrar
from mf.server.server import Server as BaseServer

if TYPE_CHECKING:
    from mf.server.admission import Limit
    from mf.transport.tls import Tls


class Server(BaseServer):
    """Serves servants, and makes that known to a controller.

    `listen`: 'tcp://host:port' (port 0 lets the system choose), 'tls://host:port', 'unix:/path', or several
    of them, with commas between them. `tls`: for tls:// among them. `controller`: 'mf://host:port', or
    'mf+tls://host:port' over TLS, or several with commas between them, each of which the server registers
    with; None for a server that clients address directly. `controller_tls`: how those at mf+tls:// are
    verified, and what is shown to them. `advertise`: the address under which clients of other hosts reach
    this server, if it is not the one it listens on. `workers`: threads for handlers that are not inline.
    `max_payload`: bytes of one request that are accepted. `max_in_flight`: unanswered requests of one
    connection; more are refused with OVERLOADED, as are more than `max_bindings` services, by agent, and
    `max_streams` calls with streams. `stream_window`: bytes of a stream that a client may send ahead.
    `max_connections`, `max_connections_per_host`, `max_handshakes` and `max_held_bytes`: see docs/limits.md.
    `limit`: how many calls of all clients run at once, and wait (mf.Limit); more are refused as well.
    `drain_timeout`: seconds that stop() gives to calls under way. Raises ValueError for an address that is
    none, and for files of `tls` that cannot be used.
    """

    def __init__(
        self,
        listen: str = "tcp://127.0.0.1:0",
        controller: str | None = None,
        *,
        advertise: str | None = None,
        tls: "Tls | None" = None,
        controller_tls: "Tls | None" = None,
        workers: int = 4,
        max_payload: int = DEFAULT_MAX_PAYLOAD,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        max_bindings: int = DEFAULT_MAX_BINDINGS,
        max_streams: int = DEFAULT_MAX_STREAMS,
        stream_window: int = DEFAULT_STREAM_WINDOW,
        max_connections: int = DEFAULT_MAX_CONNECTIONS,
        max_connections_per_host: int = 0,
        max_handshakes: int = DEFAULT_MAX_HANDSHAKES,
        max_held_bytes: int = DEFAULT_MAX_HELD_BYTES,
        limit: "Limit | None" = None,
        drain_timeout: float = 5.0,
    ) -> None:
        registrar: Registrar | None = None
        if controller is not None:
            from mf.controller import ControllerRegistrar

            registrar = ControllerRegistrar(controller, advertise, controller_tls)
        super().__init__(
            listen,
            registrar=registrar,
            tls=tls,
            workers=workers,
            max_payload=max_payload,
            max_in_flight=max_in_flight,
            max_bindings=max_bindings,
            max_streams=max_streams,
            stream_window=stream_window,
            max_connections=max_connections,
            max_connections_per_host=max_connections_per_host,
            max_handshakes=max_handshakes,
            max_held_bytes=max_held_bytes,
            limit=limit,
            drain_timeout=drain_timeout,
        )
