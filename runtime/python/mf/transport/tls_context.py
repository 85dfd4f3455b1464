"""R3. The shared state of all TLS connections of a client or a server: certificates, authorities, and the
sessions that a client resumes. Thread-safe.
"""

import ssl
from pathlib import Path
from threading import Lock
from typing import NoReturn

from mf.core.tls import Tls
from mf.transport.address import Address

# For TLS 1.2: only ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
_MOST_SESSIONS = 1024


class TlsContext:
    """Raises ValueError, which names a file that is missing, unreadable or not PEM, or a key that does not
    match its certificate."""

    __slots__ = ("_context", "_lock", "_sessions", "options", "server")

    def __init__(self, options: Tls, *, server: bool) -> None:
        self.options = options
        self.server = server
        self._lock = Lock()
        self._sessions: dict[Address, ssl.SSLSession] = {}
        if bool(options.certificate) != bool(options.key):
            missing = "key" if not options.key else "certificate"
            _refuse(missing, "certificate and key belong together, and this one is not given")
        if server and not options.certificate:
            _refuse("certificate", "a server at tls:// needs a certificate and its key")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(_CIPHERS)
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.hostname_checks_common_name = False
        self._context = context
        self._load_authorities()
        if options.certificate:
            self._load_certificate()
        if server:
            context.num_tickets = 1

    def _load_authorities(self) -> None:
        ca, context = self.options.ca, self._context
        if ca:
            _check_readable("ca", ca)
            try:
                context.load_verify_locations(ca)
            except ssl.SSLError as failed:
                _refuse("ca", f"'{ca}' holds no certificate in PEM format{_reason(failed)}")
        elif not self.server:
            context.set_default_verify_paths()
        context.verify_mode = ssl.CERT_REQUIRED if ca or not self.server else ssl.CERT_NONE

    def _load_certificate(self) -> None:
        certificate, key = self.options.certificate, self.options.key
        for option, path in (("certificate", certificate), ("key", key)):
            _check_readable(option, path)
        try:
            # Without a password callback OpenSSL would ask for it at the terminal.
            self._context.load_cert_chain(certificate, key, password=_no_passphrase)
        except ssl.SSLError as failed:
            if failed.reason == "KEY_VALUES_MISMATCH":
                _refuse("key", f"'{key}' does not belong to the certificate '{certificate}'")
            if not _holds_certificate(certificate):
                why = f"'{certificate}' holds no certificate in PEM format that can be used{_reason(failed)}"
                _refuse("certificate", why)
            _refuse("key", _no_key(key) + _reason(failed))
        except _LockedError:
            _refuse("key", _no_key(key))

    # Connections

    def connection(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, address: Address) -> ssl.SSLObject:
        """The TLS object of one connection; `address` is the server's. Raises ValueError for a name that no
        certificate can be for."""
        if self.server:
            return self._context.wrap_bio(incoming, outgoing, server_side=True)
        with self._lock:
            session = self._sessions.pop(address, None)
        name = self.expected_name(address)
        return self._context.wrap_bio(incoming, outgoing, server_hostname=name, session=session)

    def keep(self, address: Address, session: ssl.SSLSession) -> None:
        """The next connection to the address resumes this session."""
        with self._lock:
            if len(self._sessions) >= _MOST_SESSIONS:
                self._sessions.clear()
            self._sessions[address] = session

    # For messages

    def expected_name(self, address: Address) -> str:
        return self.options.server_name or address.host

    @property
    def where_authorities_are(self) -> str:
        return f"in '{self.options.ca}'" if self.options.ca else "among those of the system"


class _LockedError(Exception):
    """A key has a passphrase."""


def _no_passphrase() -> NoReturn:
    raise _LockedError


def _no_key(path: str) -> str:
    return f"'{path}' holds no private key in PEM format without a passphrase"


def _holds_certificate(path: str) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return False
    return True


def _check_readable(option: str, path: str) -> None:
    try:
        Path(path).read_bytes()
    except OSError as failed:
        why = failed.strerror or str(failed)
        _refuse(option, f"cannot read '{path}': {why[:1].lower()}{why[1:]}")


def _reason(failed: ssl.SSLError) -> str:
    return f" ({failed.reason.lower().replace('_', ' ')})" if failed.reason else ""


def _refuse(option: str, why: str) -> NoReturn:
    raise ValueError(f"mf.Tls.{option}: {why}") from None
