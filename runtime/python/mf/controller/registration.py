"""R7. The data that a server sends its controllers: its identity, offers, and addresses for clients."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path

from mf.controller._generated.mf.controller import Credential, Key, KeyKind
from mf.controller._generated.mf.controller import Offer as Entry
from mf.controller.connection import to_uuid
from mf.server.identity import Identity
from mf.server.offer import Offer
from mf.transport import names
from mf.transport.address import Address

_WILDCARDS = frozenset(("0.0.0.0", "::", ""))
_LONGEST_NAME = 1024


class Registration:
    """The data of one server process, the same for all of its controllers. `advertise`: 'tcp://host:port' if
    clients on other hosts reach the server at another address than the one it listens at.

    `credential` contains the secret of this process, without which no other process can change the
    registration.
    """

    __slots__ = ("_addresses", "_advertise", "_offers", "credential", "process")

    def __init__(self, advertise: str | None) -> None:
        self._advertise = str(Address.parse(advertise)) if advertise else None
        self._addresses: list[str] = []
        self.credential = Credential()
        self._offers: Callable[[], list[Offer]] = list
        self.process = _process_name()

    def begin(self, identity: Identity, addresses: list[str], offers: Callable[[], list[Offer]]) -> None:
        self.credential = Credential(to_uuid(identity.nonce), to_uuid(identity.secret))
        self._addresses = addresses
        self._offers = offers

    async def entries(self, controller: Address) -> list[Entry]:
        """The entries of all offers. May query the routing table, and a name server for the controller's
        host."""
        reachable = await self._advertised(controller)
        return [
            Entry(
                key=Key(_kind(offer), offer.service.name, offer.agent),
                addresses=reachable,
                fingerprint=to_uuid(offer.service.fingerprint),
                weight=offer.announced.weight,
                labels=dict(offer.announced.labels),
                alone=offer.announced.alone,
            )
            for offer in self._offers()
        ]

    async def _advertised(self, controller: Address) -> list[str]:
        """The addresses for clients. A path is included: clients on other hosts do not find this server
        there, and recognise that by its nonce.
        """
        if self._advertise is not None:
            return [self._advertise, *(each for each in self._addresses if Address.parse(each).local)]
        return [await _reachable(address, controller) for address in self._addresses]


def _kind(offer: Offer) -> KeyKind:
    return KeyKind.topic if offer.is_topic else KeyKind.service


async def _reachable(address: str, controller: Address) -> str:
    """If a server listens at all interfaces: the address by which it reaches the controller."""
    parsed = Address.parse(address)
    if parsed.local or parsed.host not in _WILDCARDS:
        return address
    try:
        family, _, _, _, where = (await names.addresses(controller.host, controller.port))[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(where)  # sends nothing, but queries the routing table
            return str(Address(parsed.scheme, probe.getsockname()[0], parsed.port))
    except OSError:
        return str(Address(parsed.scheme, "127.0.0.1", parsed.port))


def _process_name() -> str:
    """The name of the program, for users."""
    program = sys.argv[0] if sys.argv else ""
    return "python" if program in ("", "-c", "-m") else Path(program).name[:_LONGEST_NAME]
