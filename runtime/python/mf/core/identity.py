"""R0. The identity of a peer: what a connection has proved of the program at its other end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class IdentityKind(Enum):
    """How a peer has proved its identity."""

    NONE = "none"  # the peer proved nothing
    UID = "uid"  # the user of a process of this host, as the system reports it for a unix socket
    CERTIFICATE = "certificate"  # the name in a verified certificate: a URI, otherwise a DNS name
    TOKEN = "token"  # the subject of a verified token


@dataclass(frozen=True, slots=True)
class Identity:
    """`name` is as access files write it: "uid:1000", "spiffe://example.org/search",
    "dns:search.example.org", "token:alice"; it is empty if there is none. `issuer`, of a certificate or
    token, is empty for others. `via` names the relays that the peer's calls have come through, the nearest to
    the peer first: each has passed on the identity of the one before, and the last one is connected here."""

    kind: IdentityKind = IdentityKind.NONE
    name: str = ""
    issuer: str = ""
    via: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the peer has proved anything."""
        return self.kind is not IdentityKind.NONE

    def __str__(self) -> str:
        name = self.name if self.known else "none"
        return f"{name} via {', '.join(self.via)}" if self.via else name


NO_IDENTITY = Identity()

_LONGEST_NAME = 2048
_KINDS = ("uid", "dns", "token")


def is_name_of(kind: IdentityKind, name: str) -> bool:
    """Whether an identity of this kind may have the name: printable ASCII of at most 2,048 bytes without
    spaces and '*', written as its kind is. Of no identity it is empty."""
    if len(name) > _LONGEST_NAME or not all("!" <= each <= "~" and each != "*" for each in name):
        return False
    prefix, colon, rest = name.partition(":")
    if kind is IdentityKind.NONE:
        return not name
    if kind is IdentityKind.CERTIFICATE:  # a URI has an authority, and a scheme that is no kind of identity
        is_uri = "://" in name and prefix.lower() not in _KINDS
        return is_uri or (prefix == "dns" and bool(rest) and rest == rest.lower())
    if kind is IdentityKind.UID:
        return prefix == "uid" and bool(colon) and rest.isdecimal()
    return prefix == "token" and bool(rest)
