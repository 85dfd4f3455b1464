"""What this side shows and accepts: files of certificates, keys and tokens, before anything is connected."""

import base64
import json
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mf_tools.addresses import Address
from mf_tools.doctor.findings import Findings

if TYPE_CHECKING:
    from cryptography import x509

_CHECK = "files"
CLOCKS = 60


def looked_at(context: Any, address: Address, found: Findings) -> None:
    given = {field: context[field] for field in ("ca", "certificate", "key", "token") if field in context}
    if given and address.scheme in ("tcp", "relay"):
        better = {"tcp": "tls", "relay": "relay+tls"}[address.scheme]
        text = f"{', '.join(given)} given, and nothing is encrypted at {address}"
        found.fault(_CHECK, "credentials_in_clear", text, f"write {better}://, or leave them out")
    for field, path in given.items():
        _readable(field, path, found)
    if found.has_failed() or not given:
        return
    if "ca" in given:
        _ca(given["ca"], found)
    if "key" in given and "certificate" not in given:
        found.fault(_CHECK, "key_alone", "a key is given, and no certificate", "give --certificate, too")
    elif "certificate" in given:
        _certificate(given["certificate"], given.get("key", ""), found)
    if "token" in given:
        _token(given["token"], found)
    if not found.has_failed():
        found.ok(_CHECK, f"{', '.join(given)} can be used")


def _readable(field: str, path: str, found: Findings) -> None:
    try:
        with open(path, "rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            file.read(1)
    except OSError as failed:
        cure = "correct the path, or let this user read the file"
        found.fault(_CHECK, f"{field}_unreadable", f"{field} '{path}': {failed.strerror}", cure)
        return
    if field in ("key", "token") and mode & 0o077:
        text = f"{field} '{path}': other users may read it (mode {mode:04o})"
        found.fault(_CHECK, f"{field}_open_to_others", text, f"chmod 600 {path}")


def _loaded(field: str, path: str, found: Findings) -> "list[x509.Certificate]":
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(Path(path).read_bytes())
    except ValueError:
        text = f"{field} '{path}' holds no certificate"
        found.fault(_CHECK, f"{field}_no_certificate", text, "give a file in PEM format: BEGIN CERTIFICATE")
        return []


def _ca(path: str, found: Findings) -> None:
    now = datetime.now(UTC)
    for each in _loaded("ca", path, found):
        if each.not_valid_after_utc < now:
            text = f"the authority {each.subject.rfc4514_string()} has expired on {each.not_valid_after_utc:%Y-%m-%d}"
            found.fault(_CHECK, "ca_expired", text, "get the authority's new certificate")


def _certificate(path: str, key: str, found: Findings) -> None:
    chain = _loaded("certificate", path, found)
    if not chain:
        return
    own, now = chain[0], datetime.now(UTC)
    if own.not_valid_after_utc < now:
        text = f"this side's certificate has expired on {own.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
        found.fault(_CHECK, "own_certificate_expired", text, "renew it: mf certs issue, or your authority")
    elif own.not_valid_before_utc > now:
        text = f"this side's certificate is valid from {own.not_valid_before_utc:%Y-%m-%d %H:%M} UTC on"
        found.fault(_CHECK, "own_certificate_not_yet_valid", text, "look at the clock of this host: date -u")
    if not key:
        found.fault(_CHECK, "certificate_alone", "a certificate is given, and no key", "give --key, too")
        return
    from cryptography.hazmat.primitives import serialization

    try:
        private: Any = serialization.load_pem_private_key(Path(key).read_bytes(), None)
    except TypeError:
        text = f"key '{key}' has a passphrase"
        found.fault(
            _CHECK, "key_with_passphrase", text, "openssl pkey -in KEY -out PLAIN, in a folder of mode 700"
        )
        return
    except ValueError:
        found.fault(_CHECK, "no_key", f"key '{key}' holds no private key", "give the file of the private key")
        return
    if private.public_key() != own.public_key():
        text = f"key '{key}' is not that of certificate '{path}'"
        found.fault(
            _CHECK, "key_of_another_certificate", text, "give the key that the certificate was made for"
        )


def _token(path: str, found: Findings) -> None:
    """Whether its time is over; which subjects it may have, only a server can say."""
    try:
        body = Path(path).read_text("ascii").split(".")[2].strip()
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))[:-64])
        expires = datetime.fromisoformat(claims["exp"]).timestamp()
        issued = datetime.fromisoformat(claims["iat"]).timestamp() if "iat" in claims else 0.0
    except (ValueError, IndexError, KeyError, TypeError):
        found.fault(_CHECK, "no_token", f"'{path}' holds no token", "make one: mf token new")
        return
    now = time.time()
    if expires + CLOCKS < now:
        text = f"the token has expired {_ago(now - expires)} ago"
        found.fault(_CHECK, "token_expired", text, "sign a new one: mf token new")
    elif issued - CLOCKS > now:
        text = f"the token was issued {_ago(issued - now)} from now"
        found.fault(
            _CHECK, "token_of_the_future", text, "look at the clocks of this host and of its issuer: date -u"
        )


def _ago(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds:.0f} s"
