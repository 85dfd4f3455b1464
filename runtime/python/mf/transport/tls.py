"""R3. TLS 1.2 and 1.3, as servers and clients are told of it.

A server at tls://host:port shows a certificate. A client verifies it, always: that one of its authorities has
issued it, that it has not expired, and that it is for the name or IP address that the client connects to.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Paths of files in PEM format.

    `ca`: the authorities whose certificates are accepted. For a client, none means those of the system. A
    server with `ca` demands a certificate of each client; without, it asks for none. `certificate`: what this
    side shows of itself, with the certificates of intermediate authorities behind its own. A server needs it;
    a client needs it if the server demands it. `key`: the private key of `certificate`, without a passphrase.
    `server_name`: for a client, the name or IP address that the server's certificate must be for, if it is
    not the host of the address.
    """

    ca: str = ""
    certificate: str = ""
    key: str = ""
    server_name: str = ""
