"""TLS: whether the server speaks it, its certificate, and whether it takes that of this side."""

import socket
import ssl
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from mf_tools.addresses import Address, parsed
from mf_tools.doctor.findings import Findings
from mf_tools.doctor.network import Place, opened
from mf_tools.guard import CommandError

_CHECK = "tls"
_UNKNOWN = {2, 18, 19, 20, 21}
_NOT_YET, _EXPIRED, _REVOKED, _NO_CRL = 9, 10, 23, 3
_OTHER_NAME = {62, 64}
_ALERT_WITHIN = 0.5


def speaks_tls(place: Place) -> bytes | None:
    """The server's certificate, of a server that speaks TLS. None: it does not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with opened(place) as plain, context.wrap_socket(plain) as wrapped:
            return wrapped.getpeercert(binary_form=True)
    except (OSError, ValueError):
        return None


def days_left(address: str) -> float | None:
    """Of the certificate that the server at tls://HOST:PORT shows, whatever its authority; None: it shows none
    that can be read, or this is no address."""
    try:
        [wanted] = parsed(address)
        family, _, _, _, place = socket.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM)[0]
        shown = speaks_tls((family, wanted.host, (str(place[0]), int(place[1]))))
        return None if shown is None else _Certificate(shown).days
    except (CommandError, OSError, ValueError):
        return None


def looked_at(address: Address, place: Place, given: Any, found: Findings) -> None:
    shown = speaks_tls(place)
    if shown is None:
        scheme = {"tls": "tcp", "mf+tls": "mf", "relay+tls": "relay"}[address.scheme]
        text = f"the server at {address} speaks no TLS"
        found.fault(_CHECK, "no_tls", text, f"write {scheme}://, or give the server a certificate")
        return
    certificate = _Certificate(shown)
    try:
        context = _context(given)
    except (OSError, ValueError) as failed:
        text = f"this side's files cannot be used: {getattr(failed, 'strerror', None) or failed}"
        found.fault(_CHECK, "files_unusable", text, "look at --ca, --certificate and --key")
        return
    name = given.get("server_name") or address.host
    try:
        with opened(place) as plain, context.wrap_socket(plain, server_hostname=name) as wrapped:
            wrapped.settimeout(_ALERT_WITHIN)
            version = wrapped.version()
            _await_alert(wrapped)
    except ssl.SSLCertVerificationError as refused:
        _refused(refused, name, certificate, found)
    except ssl.SSLError as failed:
        _alerted(failed, given, found)
    except OSError as failed:
        text = f"the server ends the connection during TLS: {failed.strerror or failed}"
        found.fault(_CHECK, "tls_ended", text, "look into the server's log: connection_broken")
    else:
        found.ok(_CHECK, f"{version}, certificate of {certificate.subject}, {certificate.days:.0f} days left")
        if certificate.days < 14:
            text = f"the server's certificate expires in {certificate.days:.1f} days"
            found.warn(
                _CHECK, "certificate_expires_soon", text, "renew it; servers read the new file by themselves"
            )


def _await_alert(wrapped: ssl.SSLSocket) -> None:
    """In TLS 1.3 a server says after the handshake that it wants a certificate. Nothing may come, too."""
    with suppress(TimeoutError):
        wrapped.recv(1)


def _context(given: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=given.get("ca") or None)
    if given.get("certificate"):
        context.load_cert_chain(given["certificate"], given.get("key") or None)
    return context


class _Certificate:
    def __init__(self, data: bytes) -> None:
        from cryptography import x509

        from mf_tools.commands.certs import names_of

        made = x509.load_der_x509_certificate(data)
        now = datetime.now(UTC)
        self.subject = made.subject.rfc4514_string() or "no name"
        self.issuer = made.issuer.rfc4514_string()
        self.names = names_of(made)
        self.begins, self.ends = made.not_valid_before_utc, made.not_valid_after_utc
        self.days = (self.ends - now).total_seconds() / 86_400


def _refused(refused: ssl.SSLCertVerificationError, name: str, its: _Certificate, found: Findings) -> None:
    code = refused.verify_code
    if code == _EXPIRED:
        text = f"the server's certificate, or an authority's, has expired; the server's on {its.ends:%Y-%m-%d %H:%M} UTC"
        found.fault(
            _CHECK, "certificate_expired", text, "renew it on the server, which reads the new file by itself"
        )
    elif code == _NOT_YET:
        text = f"the server's certificate is valid from {its.begins:%Y-%m-%d %H:%M} UTC on"
        cure = "compare the clocks of this host and of the one that has issued it: date -u"
        found.fault("clock", "certificate_not_yet_valid", text, cure)
    elif code in _OTHER_NAME:
        text = f"the server's certificate is for {', '.join(its.names) or its.subject}, not for {name}"
        cure = "use one of these names, or --server-name if it is the right server"
        found.fault(_CHECK, "certificate_of_another_name", text, cure)
    elif code == _REVOKED:
        found.fault(
            _CHECK, "certificate_revoked", "the server's certificate is revoked", "give the server a new one"
        )
    elif code in _UNKNOWN:
        text = f"the authority of the server's certificate is not accepted: {its.issuer}"
        found.fault(
            _CHECK, "unknown_authority", text, "give its certificate: --ca FILE, or ca of the context"
        )
    else:
        text = f"the server's certificate is refused: {refused.verify_message}"
        found.fault(_CHECK, "certificate_refused", text, "look at it: openssl s_client -connect HOST:PORT")


def _alerted(failed: ssl.SSLError, given: Any, found: Findings) -> None:
    reason = (failed.reason or str(failed)).lower()
    if not given.get("certificate"):
        text = "the server demands a certificate of this side, and none is given"
        found.fault(
            "identity", "certificate_demanded", text, "give --certificate and --key of an accepted authority"
        )
    else:
        text = f"the server does not accept this side's certificate: {reason.replace('_', ' ')}"
        cure = "its authority must be among those that the server accepts (client_ca); look into the server's log"
        found.fault("identity", "own_certificate_refused", text, cure)
