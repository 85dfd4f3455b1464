"""R7. Registers blocking servers: runs the asyncio registrar on one daemon thread."""

from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING

from mf.controller.async_registrar import AsyncControllerRegistrar
from mf.link.background import Background
from mf.server.identity import Identity
from mf.server.lead import Lead
from mf.server.offer import Offer

if TYPE_CHECKING:
    from mf.core.tls import Tls


class ControllerRegistrar:
    """`controller`, `advertise`, `tls`: see AsyncControllerRegistrar."""

    __slots__ = ("_registrar", "_thread")

    def __init__(self, controller: str, advertise: str | None, tls: "Tls | None" = None) -> None:
        self._registrar = AsyncControllerRegistrar(controller, advertise, tls)
        self._thread: Background | None = None

    def register(self, identity: Identity, addresses: list[str], offers: Callable[[], list[Offer]]) -> None:
        self._thread = Background("mf-registrar")
        self._thread.call(self._registrar.register, identity, addresses, offers)

    @property
    def registered(self) -> bool:
        """Whether any controller has confirmed the registration."""
        return self._registrar.registered

    def reload(self) -> bool:
        """See Client.reload."""
        if self._thread is not None:
            with suppress(CancelledError):  # the server stops
                return self._thread.call(self._registrar.reload)
        return True

    def update(self) -> None:
        if self._thread is not None:
            self._thread.soon(self._registrar.update)

    def lead(self, service: str, agent: str) -> Lead:
        if self._thread is None:
            raise ValueError("start the server first")
        return Lead(self._thread, self._registrar.lead(service, agent))

    def deregister(self, timeout: float) -> None:
        if self._thread is not None:
            self._thread.stop(self._registrar.deregister(timeout), timeout)

    def after_fork(self) -> None:
        if self._thread is not None:
            self._thread.after_fork()
            self._thread = None
        self._registrar.after_fork()
