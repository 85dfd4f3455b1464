"""R6. How a server is found: registers what it offers, waits in `keep`, and registers again when that ends.

One daemon thread. Registrations live as long as the connection over which they were made; `keep` waits on
the same one, so that its end is noticed at once.
"""

import socket
import threading
from time import monotonic

from mf.controller._generated.mf.controller import Instance
from mf.controller.connection import ControllerConnection, to_uuid
from mf.core.error import DeclaredError, Error
from mf.core.log import info, quote, warning
from mf.core.options import CallOptions
from mf.link.reconnect import Backoff
from mf.server.offer import Offer
from mf.server.server import Registrar
from mf.transport.address import Address

_ANSWER_WITHIN = 10.0
_WILDCARDS = frozenset(("0.0.0.0", "::", ""))


class ControllerRegistrar(Registrar):
    """`controller`: 'mf://host:port'. `advertise`: 'tcp://host:port' if clients of other hosts reach the
    server under another address than the one it listens on.
    """

    __slots__ = ("_advertise", "_connection", "_nonce", "_registered", "_stopping", "_thread")

    def __init__(self, controller: str, advertise: str | None) -> None:
        self._advertise = str(Address.parse(advertise)) if advertise else None
        self._connection = ControllerConnection(controller)
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
                lease_ms = self._register(addresses, offers)
                if told:
                    info("registered at controller %s", self._connection.address)
                told = False
                backoff.reset()
                self._keep(lease_ms)
                waiting_since = monotonic()
            except Error as error:
                self._registered = False
                if not told and not self._stopping.is_set() and monotonic() - waiting_since > 1.0:
                    warning("%s; trying on", quote(self._connection.trouble(error)))
                    told = True
                self._stopping.wait(backoff.next())

    def _register(self, addresses: list[str], offers: list[Offer]) -> int:
        nonce = to_uuid(self._nonce)
        reachable = self._advertised(addresses)
        instances = [
            Instance(
                service=offer.service.name,
                agent=offer.agent,
                nonce=nonce,
                addresses=reachable,
                fingerprint=to_uuid(offer.service.fingerprint),
                weight=1,
            )
            for offer in offers
        ]
        lease_ms = self._connection.stub.register(
            nonce, instances, options=CallOptions(deadline=_ANSWER_WITHIN)
        )
        self._registered = True
        return lease_ms

    def _keep(self, lease_ms: int) -> None:
        """Returns when it is time to register again."""
        wait_ms = max(lease_ms // 3, 1)
        options = CallOptions(deadline=wait_ms / 1000 + _ANSWER_WITHIN)
        while not self._stopping.is_set():
            if not self._connection.stub.keep(to_uuid(self._nonce), wait_ms, options=options):
                return

    def _advertised(self, addresses: list[str]) -> list[str]:
        """The addresses for clients. A path is told, too: clients of other hosts do not find this server
        there, and know that by its nonce.
        """
        if self._advertise is None:
            return [self._reachable(address) for address in addresses]
        return [self._advertise, *(address for address in addresses if Address.parse(address).local)]

    def _reachable(self, address: str) -> str:
        """A server that listens everywhere is reached where the controller sees it."""
        parsed = Address.parse(address)
        if parsed.local or parsed.host not in _WILDCARDS:
            return address
        controller = self._connection.address
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(
                controller.host, controller.port, type=socket.SOCK_DGRAM
            )[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.connect(where)  # sends nothing; asks the routing table
                return str(Address(parsed.scheme, probe.getsockname()[0], parsed.port))
        except OSError:
            return str(Address(parsed.scheme, "127.0.0.1", parsed.port))
