"""R0. Options of TLS 1.2 and 1.3 for servers and clients.

A server at tls://host:port has a certificate. A client always verifies that one of its authorities has issued
it, that it has not expired, and that it is for the name or IP address that the client connects to.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Paths of files in PEM format.

    `ca`: the authorities whose certificates are accepted. For a client, none means those of the system. A
    server with `ca` demands a certificate of each client; without, it asks for none. `crl`: lists of revoked
    certificates (CRLs), one of each authority in the chains of peers, which needs `ca`: a peer is refused if
    its certificate is on a list, and if an authority of its chain has no list here. `certificate`: this
    side's certificate, followed by those of intermediate authorities. A server needs it; a client needs it if
    the server demands one. `key`: the private key of `certificate`, without a passphrase. `server_name`: for
    a client, the name or IP address that the server's certificate must be for, if it differs from the host of
    the address.
    """

    ca: str = ""
    crl: str = ""
    certificate: str = ""
    key: str = ""
    server_name: str = ""
