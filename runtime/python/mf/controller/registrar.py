"""R6. How a server is found: registers what it offers, waits in `keep`, and registers again when that ends.

One daemon thread. Registrations live as long as the connection over which they were made; `keep` waits on
the same one, so that its end is noticed at once.
"""

import threading
from time import monotonic

from mf.controller.connection import ControllerConnection, controller_addresses, to_uuid
from mf.controller.registration import TELL_AFTER, Registration, keep_for, register_within
from mf.core.error import DeclaredError, Error
from mf.core.log import info, quote, warning
from mf.core.options import CallOptions
from mf.link.reconnect import Backoff
from mf.server.offer import Offer
from mf.server.server import Registrar


class ControllerRegistrar(Registrar):
    """`controller`: 'mf://host:port', or several with commas between them: the server registers with each.
    `advertise`: see Registration."""

    __slots__ = ("_each",)

    def __init__(self, controller: str, advertise: str | None) -> None:
        self._each = [_OneRegistrar(str(one), advertise) for one in controller_addresses(controller)]

    def register(self, nonce: bytes, addresses: list[str], offers: list[Offer]) -> None:
        for each in self._each:
            each.register(nonce, addresses, offers)

    def deregister(self, timeout: float) -> None:
        until = monotonic() + timeout
        for each in self._each:
            each.deregister(max(until - monotonic(), 0.001))


class _OneRegistrar(Registrar):
    """At one controller."""

    __slots__ = ("_connection", "_nonce", "_registered", "_registration", "_stopping", "_thread")

    def __init__(self, controller: str, advertise: str | None) -> None:
        self._connection = ControllerConnection(controller)
        self._registration = Registration(self._connection.addresses[0], advertise)
        self._stopping = threading.Event()
        self._registered = False
        self._nonce = b""
        self._thread: threading.Thread | None = None

    def register(self, nonce: bytes, addresses: list[str], offers: list[Offer]) -> None:
        self._nonce = nonce
        self._thread = threading.Thread(
            target=self._stay_registered, args=(addresses, offers), name="mf-registrar", daemon=True
        )
        self._thread.start()

    def deregister(self, timeout: float) -> None:
        self._stopping.set()
        if self._registered:
            try:
                options = CallOptions(deadline=max(timeout, 0.001))
                self._connection.stub.deregister(to_uuid(self._nonce), options=options)
            except (Error, DeclaredError):
                pass  # it is gone, and so are our entries
        self._connection.close()
        if self._thread is not None:
            self._thread.join(timeout)

    # The thread

    def _stay_registered(self, addresses: list[str], offers: list[Offer]) -> None:
        backoff = Backoff()
        waiting_since = monotonic()
        told = False
        while not self._stopping.is_set():
            try:
                lease_ms = self._register(addresses, offers, told)
                if told:
                    info("registered at controller %s", self._connection.addresses[0])
                told = False
                backoff.reset()
                self._keep(lease_ms)
                waiting_since = monotonic()
            except Exception as error:  # whatever it was: a server that gave up would never be found again
                self._registered = False
                if not told and not self._stopping.is_set() and monotonic() - waiting_since > TELL_AFTER:
                    warning("%s; trying on", quote(self._connection.trouble(error)))
                    told = True
                self._stopping.wait(backoff.next())

    def _register(self, addresses: list[str], offers: list[Offer], told: bool) -> int:
        nonce = to_uuid(self._nonce)
        instances = self._registration.instances(self._nonce, addresses, offers)
        lease_ms = self._connection.stub.register(
            nonce, instances, options=CallOptions(deadline=register_within(told))
        )
        self._registered = True
        return lease_ms

    def _keep(self, lease_ms: int) -> None:
        """Returns when it is time to register again."""
        wait_ms, options = keep_for(lease_ms)
        while not self._stopping.is_set():
            if not self._connection.stub.keep(to_uuid(self._nonce), wait_ms, options=options):
                return
