"""R5. What an address of a client means: servers, a controller that names them, or relays to them.

Controllers are on a floor above. The resolver that asks them is made here and nowhere else, when an address
wants it, as C++ does by linking. What asyncio needs is imported by its users.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mf.core.secret import Secret
from mf.core.tls import Tls
from mf.route.resolver import (
    CONTROLLERS,
    RELAYS,
    RelayedResolver,
    Resolver,
    StaticResolver,
    relay_addresses,
)
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES

Credential = Secret | str | None
"""See ClientOptions."""

if TYPE_CHECKING:
    from mf.route.async_resolver import AsyncResolver


def check_where(where: object, resolvers: type) -> None:
    """Raises TypeError for what is neither an address nor one of the resolvers that the client takes."""
    if not isinstance(where, (str, resolvers)):
        raise TypeError(
            f"where is a {type(where).__name__}: give the address of a server or a controller, such as "
            f"'tcp://127.0.0.1:7401', or a Light, or a {resolvers.__name__}"
        )


def is_controller(where: str) -> bool:
    return where.partition("://")[0] in CONTROLLERS


def is_relay(where: str) -> bool:
    return where.partition("://")[0] in RELAYS


def resolver_for(where: str, tls: Tls | None, credential: Credential = None) -> Resolver:
    """Raises ValueError for an invalid address, or one in clear with `tls` or a credential."""
    if not is_controller(where) and not is_relay(where):
        return StaticResolver(server_addresses(where, tls, credential))
    from mf.controller.resolver import ControllerResolver

    if is_controller(where):
        return ControllerResolver(where, tls, credential)
    relays = _relays(where, tls, credential)
    return RelayedResolver(ControllerResolver(where, tls, credential), relays)


def async_resolver_for(where: str, tls: Tls | None, credential: Credential = None) -> "AsyncResolver":
    """The same on the running loop."""
    from mf.route.async_resolver import AsyncRelayedResolver, AsyncStaticResolver

    if not is_controller(where) and not is_relay(where):
        return AsyncStaticResolver(server_addresses(where, tls, credential))
    from mf.controller.async_resolver import AsyncControllerResolver

    if is_controller(where):
        return AsyncControllerResolver(where, tls, credential)
    relays = _relays(where, tls, credential)
    return AsyncRelayedResolver(AsyncControllerResolver(where, tls, credential), relays)


def server_addresses(where: str, tls: Tls | None = None, credential: Credential = None) -> list[str]:
    """Raises ValueError for an invalid address, one that is not a server's, or one in clear with `tls`."""
    addresses = Address.parse_list(where)
    for address in addresses:
        if address.scheme not in SCHEMES:
            text = (
                "are those of servers (tcp, tls, unix, memory), or of controllers (mf, mf+tls), or of relays "
                "(relay, relay+tls)"
            )
            raise ValueError(f"address '{address}': the addresses of a client {text}")
    _refuse_in_clear(addresses, tls, credential)
    return list(map(str, addresses))


def _relays(where: str, tls: Tls | None, credential: Credential) -> list[Address]:
    relays = relay_addresses(where)
    _refuse_in_clear(relays, tls, credential)
    return relays


def _refuse_in_clear(addresses: Iterable[Address], tls: Tls | None, credential: Credential) -> None:
    """An address in clear together with `tls` or a credential is an error: the user believes that the bytes
    are encrypted. Servers that a controller at mf:// names may be at tls://. Raises ValueError."""
    given = "tls" if tls is not None else "credential" if credential is not None else ""
    for address in addresses:
        if given and address.scheme in ("tcp", "relay"):
            better = {"tcp": "tls", "relay": "relay+tls"}[address.scheme]
            text = (
                f"{given} is given, and nothing is encrypted there; write {better}://, or leave {given} out"
            )
            raise ValueError(f"address '{address}': {text}")
