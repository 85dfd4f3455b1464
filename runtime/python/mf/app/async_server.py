"""R7. The server of programs of asyncio: registers itself with a controller."""

from typing import TYPE_CHECKING

from mf.protocol.frame import DEFAULT_MAX_PAYLOAD
from mf.protocol.handshake import DEFAULT_MAX_BINDINGS, DEFAULT_MAX_STREAMS, DEFAULT_STREAM_WINDOW
from mf.server.async_server import AsyncRegistrar
from mf.server.async_server import AsyncServer as BaseServer
from mf.server.base import (
    DEFAULT_MAX_CONNECTIONS,
    DEFAULT_MAX_HANDSHAKES,
    DEFAULT_MAX_HELD_BYTES,
    DEFAULT_MAX_IN_FLIGHT,
)

if TYPE_CHECKING:
    from mf.server.admission import Limit
    from mf.transport.tls import Tls


class AsyncServer(BaseServer):
    """Serves servants with `async def` on the running loop of asyncio, and makes that known to a controller.

        async with mf.AsyncServer("tcp://127.0.0.1:7401") as server: ...    # or: await server.serve()

    The options are those of Server, but `workers`: handlers are tasks of the loop, and no thread is started.
    Raises ValueError for an address that is none, and for files of `tls` that cannot be used.
    """

    def __init__(
        self,
        listen: str = "tcp://127.0.0.1:0",
        controller: str | None = None,
        *,
        advertise: str | None = None,
        tls: "Tls | None" = None,
        controller_tls: "Tls | None" = None,
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
        registrar: AsyncRegistrar | None = None
        if controller is not None:
            from mf.controller.async_registrar import AsyncControllerRegistrar

            registrar = AsyncControllerRegistrar(controller, advertise, controller_tls)
        super().__init__(
            listen,
            registrar=registrar,
            tls=tls,
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
