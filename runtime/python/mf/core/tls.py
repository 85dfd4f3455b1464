"""R0. Options of TLS 1.2 and 1.3 for servers and clients.

A server at tls://host:port has a certificate. A client always verifies that one of its authorities has issued
it, that it has not expired, and that it is for the name or IP address that the client connects to.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """What is shown to peers over TLS, and how they are verified. All files are in PEM format.

    Args:
        ca: The path of the authorities whose certificates are accepted. For a client, "" means those of the
            system. A server with `ca` demands a certificate of each client; without, it asks for none.
            Defaults to "".
        crl: The path of lists of revoked certificates (CRLs), one of each authority in the chains of peers,
            which needs `ca`. A peer is refused if its certificate is on a list, and if an authority of its
            chain has no list here. Defaults to "": none is looked up.
        certificate: The path of this side's certificate, followed by those of intermediate authorities. A
            server needs it; a client needs it if the server demands one. Defaults to "".
        key: The path of the private key of `certificate`, without a passphrase. Defaults to "".
        server_name: For a client, the name or IP address that the server's certificate must be for, if it
            differs from the host of the address. Defaults to "".
    """

    ca: str = ""
    crl: str = ""
    certificate: str = ""
    key: str = ""
    server_name: str = ""
