"""R7. The addresses of controllers and relays as those of servers. Imports nothing of asyncio."""

from mf.route.resolver import CONTROLLERS, RELAYS
from mf.transport.address import Address


def servers_of(where: str) -> str:
    """'tcp://host:port' for a controller at 'mf://host:port' or a relay at 'relay://host:port', at which a
    client finds the service mf.controller.Controller itself; 'tls://…' for those over TLS; several with
    commas between them. Raises ValueError for an address of anything else."""
    addresses = Address.parse_list(where)
    for address in addresses:
        if address.scheme not in (*CONTROLLERS, *RELAYS):
            text = "is none of a controller (mf, mf+tls) or relay (relay, relay+tls)"
            raise ValueError(f"address '{address}' {text}")
    return ",".join(str(each.server) for each in addresses)
