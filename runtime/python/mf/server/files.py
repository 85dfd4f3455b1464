"""R5. The files that a server reads again while it runs: of TLS, its access file, and the keys of tokens."""

from time import monotonic
from typing import TYPE_CHECKING

from mf.core.server_options import ServerOptions
from mf.server.access import Access

if TYPE_CHECKING:
    from mf.transport.tls_context import TlsContext

_NEVER = float("inf")


class ServedFiles:
    """`due`: when to look at them next. `drain_timeout`: seconds that the calls have of a connection that
    they do not allow any more."""

    __slots__ = ("_access", "_interval", "_tls", "drain_timeout", "due")

    def __init__(self, tls: "TlsContext | None", access: Access, options: ServerOptions) -> None:
        self._tls = tls
        self._access = access
        self._interval = options.reload_interval if tls is not None or access.has_files else _NEVER
        self.drain_timeout = options.drain_timeout
        self.due = monotonic() + self._interval

    def look(self, now: float) -> None:
        """Reads those again that were replaced."""
        self.due = now + self._interval
        self.read(always=False)

    def read(self, *, always: bool) -> bool:
        """Reads them again that were replaced, or all of them. False: one cannot be used, which the log says,
        and what was read before stays in use. Thread-safe."""
        usable = self._tls is None or self._tls.refresh(always=always)
        return self._access.refresh(always=always) and usable
