"""R3. The reason why TLS has failed, in words, and the code with which calls fail."""

import ssl

from mf.core.error import Code
from mf.protocol.foreign import looks_like
from mf.transport.address import Address
from mf.transport.stream import StreamError
from mf.transport.tls_context import TlsContext

_EXPIRED, _NOT_YET = 10, 9  # of OpenSSL's X509_V_ERR_...
_OTHER_NAME = (62, 64)
_OTHER_AUTHORITY = (2, 7, 18, 19, 20, 21)

# Alerts of the peer about this side's certificate.
_REFUSED = {
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it has expired",
    "TLSV1_ALERT_UNKNOWN_CA": "its authority is none of those that {peer} accepts",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it is not for the name that was asked for, not valid yet, or damaged",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": "it was revoked",
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": "it is of an unsupported kind",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the reason is not given",
    "TLSV1_ALERT_ACCESS_DENIED": "access is denied",
}


def why_tls_failed(failed: ssl.SSLError, context: TlsContext, address: Address) -> StreamError:
    """`address` is the server's."""
    peer, us = _ends(context)
    reason = failed.reason or ""
    if isinstance(failed, ssl.SSLCertVerificationError):
        why = _not_accepted(failed, context, address)
        return StreamError(Code.UNAUTHENTICATED, f"the certificate of {peer} {why}")
    if reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
        text = f"{peer} shows no certificate, and this {us} demands one"
        return StreamError(Code.UNAUTHENTICATED, text)
    # TLS 1.2 has no specific alert for a missing certificate.
    bare = not context.server and not context.options.certificate
    if reason == "TLSV13_ALERT_CERTIFICATE_REQUIRED" or (bare and reason == "SSLV3_ALERT_HANDSHAKE_FAILURE"):
        text = f"{peer} demands a certificate of this {us}: set certificate and key of mf.Tls"
        return StreamError(Code.UNAUTHENTICATED, text)
    if reason in _REFUSED:
        why = _REFUSED[reason].format(peer=peer)
        text = f"{peer} does not accept the certificate of this {us}: {why}"
        return StreamError(Code.UNAUTHENTICATED, text)
    return StreamError(Code.UNAVAILABLE, f"TLS with {peer} has failed: {_plain(failed)}")


def _not_accepted(failed: ssl.SSLCertVerificationError, context: TlsContext, address: Address) -> str:
    if failed.verify_code == _EXPIRED:
        return "has expired"
    if failed.verify_code == _NOT_YET:
        return "is not valid yet"
    if failed.verify_code in _OTHER_NAME:
        return f"is not for '{context.expected_name(address)}'"
    if failed.verify_code in _OTHER_AUTHORITY:
        return f"is of an authority that is not {context.where_authorities_are}"
    return f"is not accepted: {failed.verify_message}"


def not_in_time(why: str, context: TlsContext) -> StreamError:
    return StreamError(Code.UNAUTHENTICATED, f"the certificate of {_ends(context)[0]} {why}")


def closed_within_handshake(context: TlsContext) -> StreamError:
    text = f"{_ends(context)[0]} has closed the connection within the TLS handshake"
    return StreamError(Code.UNAVAILABLE, text)


def speaks_no_tls(first: bytes, context: TlsContext) -> StreamError:
    text = f"{_ends(context)[0]} speaks no TLS"
    what = looks_like(first)
    if what == "MF":
        text += ", but MF: its address must begin with tls://" if context.server else ", but MF"
    elif what:
        text += f": its first bytes look like {what}"
    return StreamError(Code.PROTOCOL_ERROR, text)  # its bytes prove it: another attempt fails, too


def _ends(context: TlsContext) -> tuple[str, str]:
    """The peer, and this side."""
    return ("the client", "server") if context.server else ("the server", "client")


def _plain(failed: ssl.SSLError) -> str:
    return failed.reason.lower().replace("_", " ") if failed.reason else str(failed)
