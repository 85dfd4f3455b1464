"""R0. The identity of a peer: what a connection has proved of the program at its other end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class IdentityKind(Enum):
    NONE = "none"  # the peer proved nothing
    UID = "uid"  # the user of a process of this host, as the system reports it for a unix socket
    CERTIFICATE = "certificate"  # the name in a verified certificate: a URI, otherwise a DNS name
    TOKEN = "token"  # the subject of a verified token


@dataclass(frozen=True, slots=True)
class Identity:
    """`name` is as access files write it: "uid:1000", "spiffe://example.org/search",
    "dns:search.example.org", "token:alice"; it is empty if there is none. `issuer`, of a certificate or
    token, is empty for others."""

    kind: IdentityKind = IdentityKind.NONE
    name: str = ""
    issuer: str = ""

    @property
    def known(self) -> bool:
        return self.kind is not IdentityKind.NONE

    def __str__(self) -> str:
        return self.name if self.known else "none"


NO_IDENTITY = Identity()
