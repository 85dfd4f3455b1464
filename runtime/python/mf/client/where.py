"""R5. Common arguments of both kinds of clients: addresses of servers, and forwarded metadata keys."""

from collections.abc import Iterable

from mf.core.metadata import TOKEN_KEY, check_key
from mf.transport.address import Address
from mf.transport.sockets import SCHEMES


def forwarded_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Raises ValueError for keys that must not be forwarded."""
    forwarded = tuple(keys)
    for key in forwarded:
        check_key(key)
    if TOKEN_KEY in forwarded:
        raise ValueError(f"forward_metadata: {TOKEN_KEY} is a token, which never passes on by itself")
    return forwarded


def server_addresses(where: str) -> list[str]:
    """Raises ValueError for an invalid address, or one that is not a server's."""
    addresses = Address.parse_list(where)
    for address in addresses:
        if address.scheme not in SCHEMES:
            text = (
                "are those of servers (tcp, tls, unix, memory), or of controllers (mf, mf+tls), or of relays "
                "(relay, relay+tls)"
            )
            raise ValueError(f"address '{address}': the addresses of a client {text}")
    return list(map(str, addresses))
