"""R6. What a server tells a controller: its offers, and the addresses under which clients find it."""

import socket

from mf.controller._generated.mf.controller import Instance
from mf.controller.connection import to_uuid
from mf.core.options import CallOptions
from mf.server.offer import Offer
from mf.transport.address import Address
from mf.transport.names import found_within

ANSWER_WITHIN = 10.0
TELL_AFTER = 0.7
"""Seconds without a controller before the log says so: one that restarts is back by then."""
_WILDCARDS = frozenset(("0.0.0.0", "::", ""))


class Registration:
    """`controller`: its address. `advertise`: 'tcp://host:port' if clients of other hosts reach the server
    under another address than the one it listens on.
    """

    __slots__ = ("_advertise", "controller")

    def __init__(self, controller: Address, advertise: str | None) -> None:
        self.controller = controller
        self._advertise = str(Address.parse(advertise)) if advertise else None

    def instances(self, nonce: bytes, addresses: list[str], offers: list[Offer]) -> list[Instance]:
        """Of each offer. May ask the routing table."""
        reachable = self._advertised(addresses)
        return [
            Instance(
                service=offer.service.name,
                agent=offer.agent,
                nonce=to_uuid(nonce),
                addresses=reachable,
                fingerprint=to_uuid(offer.service.fingerprint),
                weight=1,
            )
            for offer in offers
        ]

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
        controller = self.controller
        try:
            family, _, _, _, where = found_within(controller.host, controller.port, ANSWER_WITHIN)[0]
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect(where)  # sends nothing; asks the routing table
                return str(Address(parsed.scheme, probe.getsockname()[0], parsed.port))
        except OSError:
            return str(Address(parsed.scheme, "127.0.0.1", parsed.port))


def register_within(told: bool) -> float:
    """Seconds for an attempt to register: short at first, so that a user is told within a second why the
    server is not known; a controller that is slow gets its time when that was said."""
    return ANSWER_WITHIN if told else TELL_AFTER + 0.1


def keep_for(lease_ms: int) -> tuple[int, CallOptions]:
    """How many milliseconds to wait in `keep`, and the options of that call."""
    wait_ms = max(lease_ms // 3, 1)
    return wait_ms, CallOptions(deadline=wait_ms / 1000 + ANSWER_WITHIN)
