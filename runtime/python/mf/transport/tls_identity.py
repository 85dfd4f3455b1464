"""R3. The identity that a peer's certificate gives it.

It is the first usable URI among the certificate's alternative names, otherwise the first usable DNS name. A
name is usable if it is printable ASCII of at most 1,024 characters and has no '*': a wildcard names many
programs, not one. A URI has an authority ('://') and a scheme that is no kind of identity, in any case, so
that none passes for an identity of another kind. DNS names have no case: the identity has them in lower case.
"""

import ssl
from collections.abc import Iterable
from typing import Any

from mf.core.identity import NO_IDENTITY, Identity, IdentityKind
from mf.transport import x509

_LONGEST_NAME = 1024
_KINDS = ("uid", "dns", "token")
_SHORT = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "givenName": "GN",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "street",
    "surname": "SN",
    "userId": "UID",
}


def certified(tls: ssl.SSLObject) -> Identity:
    """The identity of the peer after the handshake; none without a verified certificate, or without a usable
    name."""
    try:
        shown = tls.getpeercert(True)
        is_verified = tls.context.verify_mode != ssl.CERT_NONE
        name = _name_among(x509.alternative_names(shown)) if shown and is_verified else ""
    except ValueError:  # the handshake is not complete
        return NO_IDENTITY
    return Identity(IdentityKind.CERTIFICATE, name, _issuer_of(tls)) if name else NO_IDENTITY


def _name_among(names: Iterable[tuple[str, str]]) -> str:
    host = ""
    for kind, name in names:
        if not _is_usable(name):
            continue
        if kind == "URI" and "://" in name and name.partition(":")[0].lower() not in _KINDS:
            return name
        if kind == "DNS" and not host:
            host = f"dns:{name.lower()}"
    return host


def _is_usable(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_NAME and all("!" <= each <= "~" and each != "*" for each in name)


def _issuer_of(tls: ssl.SSLObject) -> str:
    """Empty if Python cannot read the certificate, as with a DNS name that is not UTF-8."""
    try:
        found: Any = tls.getpeercert()
    except (ValueError, ssl.SSLError):
        return ""
    return _shown(found["issuer"])


def _shown(issuer: Iterable[Iterable[tuple[str, str]]]) -> str:
    """The name of an issuer as RFC 2253 writes it."""
    parts = ["+".join(f"{_SHORT.get(kind, kind)}={_escaped(text)}" for kind, text in part) for part in issuer]
    return ",".join(reversed(parts))[:_LONGEST_NAME]


def _escaped(text: str) -> str:
    shown = "".join(map(_escaped_character, text))
    if shown[:1] in ("#", " "):
        shown = "\\" + shown
    return shown[:-1] + "\\ " if len(text) > 1 and text.endswith(" ") else shown


def _escaped_character(each: str) -> str:
    if each in ',+"\\<>;':
        return "\\" + each
    if " " <= each <= "~":
        return each
    return "".join(f"\\{byte:02X}" for byte in each.encode())
