"""R5. Common arguments of both kinds of clients: addresses of servers, and forwarded metadata keys."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mf.core.metadata import TOKEN_KEY, check_key
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES

if TYPE_CHECKING:
    from mf.transport.tls import Tls


def forwarded_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Raises ValueError for keys that must not be forwarded."""
    forwarded = tuple(keys)
    for key in forwarded:
        check_key(key)
    if TOKEN_KEY in forwarded:
        raise ValueError(f"forward_metadata: {TOKEN_KEY} is a token, which never passes on by itself")
    return forwarded


def refuse_in_clear(addresses: Iterable[Address], tls: "Tls | None") -> None:
    """An address in clear together with `tls` is an error: the user believes that the bytes are encrypted.
    Servers that a controller at mf:// names may be at tls://. Raises ValueError."""
    for address in addresses:
        if tls is not None and address.scheme in ("tcp", "relay"):
            better = {"tcp": "tls", "relay": "relay+tls"}[address.scheme]
            text = f"tls is given, and nothing is encrypted there; write {better}://, or leave tls out"
            raise ValueError(f"address '{address}': {text}")


def server_addresses(where: str, tls: "Tls | None" = None) -> list[str]:
    """Raises ValueError for an invalid address, one that is not a server's, or one in clear with `tls`."""
    addresses = Address.parse_list(where)
    for address in addresses:
        if address.scheme not in SCHEMES:
            text = (
                "are those of servers (tcp, tls, unix, memory), or of controllers (mf, mf+tls), or of relays "
                "(relay, relay+tls)"
            )
            raise ValueError(f"address '{address}': the addresses of a client {text}")
    refuse_in_clear(addresses, tls)
    return list(map(str, addresses))
