"""R3. The shared state of all TLS connections of a client or a server: certificates, authorities, and the
sessions that a client resumes. Thread-safe.

Files that were replaced are read again: by refresh(), and before a new connection, unless they were looked at
within the last 30 s. The new context serves new connections; those made before keep theirs, and trusts() says
whether the new one would accept their peers. Files that cannot be used leave the context as it is, with a
warning.
"""

import ssl
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import NoReturn

from mf.core.files import Stamp, stamp_of
from mf.core.log import info, line, warning
from mf.core.tls import Tls
from mf.transport import x509
from mf.transport.address import Address
from mf.transport.x509 import Validity

# For TLS 1.2: only ciphers with forward secrecy and authenticated encryption, which TLS 1.3 always has.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
_MOST_SESSIONS = 1024
_FILES = ("ca", "crl", "certificate", "key")
LOOK_EVERY = 30.0
"""Seconds between two looks at the files."""


FOREVER = Validity(float("-inf"), float("inf"))


class TlsContext:
    """Raises ValueError, which names a file that is missing, unreadable or not PEM, or a key that does not
    match its certificate."""

    __slots__ = (
        "_context",
        "_expires",
        "_lock",
        "_looked",
        "_revoked",
        "_sessions",
        "_stamps",
        "options",
        "server",
    )

    def __init__(self, options: Tls, *, server: bool) -> None:
        self.options = options
        self.server = server
        self._lock = Lock()
        self._sessions: dict[Address, tuple[ssl.SSLSession, Validity]] = {}
        if bool(options.certificate) != bool(options.key):
            missing = "key" if not options.key else "certificate"
            _refuse(missing, "certificate and key belong together, and this one is not given")
        if server and not options.certificate:
            _refuse("certificate", "a server at tls:// needs a certificate and its key")
        if options.crl and not options.ca:
            _refuse("crl", "lists of revoked certificates need the authorities that have signed them, as ca")
        self._looked = monotonic()
        # Before they are read: one that is replaced meanwhile is read again.
        self._stamps = self._stamps_now()
        self._revoked: frozenset[bytes] = frozenset()
        self._expires = FOREVER.last
        self._context = self._made()

    def _made(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if self.server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(_CIPHERS)
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.hostname_checks_common_name = False
        self._load_authorities(context)
        revoked = self._load_revoked(context) if self.options.crl else frozenset()
        if self.options.certificate:
            self._load_certificate(context)
        if self.server:
            context.num_tickets = 1
        self._revoked = revoked
        return context

    def _load_authorities(self, context: ssl.SSLContext) -> None:
        ca = self.options.ca
        if ca:
            _check_readable("ca", ca)
            try:
                context.load_verify_locations(ca)
            except ssl.SSLError as failed:
                _refuse("ca", f"'{ca}' holds no certificate in PEM format{_reason(failed)}")
        elif not self.server:
            context.set_default_verify_paths()
        context.verify_mode = ssl.CERT_REQUIRED if ca or not self.server else ssl.CERT_NONE

    def _load_revoked(self, context: ssl.SSLContext) -> frozenset[bytes]:
        """Their serial numbers."""
        crl = self.options.crl
        _check_readable("crl", crl)
        try:
            serials = x509.revoked(Path(crl).read_bytes())
            context.load_verify_locations(crl)
        except (ssl.SSLError, ValueError):
            _refuse("crl", f"'{crl}' holds no list of revoked certificates in PEM format")
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_CHAIN
        return serials

    def _load_certificate(self, context: ssl.SSLContext) -> None:
        certificate, key = self.options.certificate, self.options.key
        for option, path in (("certificate", certificate), ("key", key)):
            _check_readable(option, path)
        try:
            # Without a password callback OpenSSL would ask for it at the terminal.
            context.load_cert_chain(certificate, key, password=_no_passphrase)
            self._expires = _expires(certificate)
        except ssl.SSLError as failed:
            if failed.reason == "KEY_VALUES_MISMATCH":
                _refuse("key", f"'{key}' does not belong to the certificate '{certificate}'")
            if not _holds_certificate(certificate):
                why = f"'{certificate}' holds no certificate in PEM format that can be used{_reason(failed)}"
                _refuse("certificate", why)
            _refuse("key", _no_key(key) + _reason(failed))
        except _LockedError:
            _refuse("key", _no_key(key))

    def certificate_expires(self) -> float:
        """When the certificate of this side expires, in seconds since 1970; it must have one."""
        with self._lock:
            return self._expires

    # Files that are replaced

    def look(self, now: float) -> None:
        """Reads the files again if one was replaced, and none was looked at in LOOK_EVERY before `now`."""
        if now - self._looked >= LOOK_EVERY:
            self.refresh(now=now)

    def refresh(self, *, always: bool = False, now: float | None = None) -> bool:
        """Reads the files again if one was replaced, or `always`. False: one cannot be used, which the log
        says, and those read before stay in use."""
        with self._lock:
            self._looked = monotonic() if now is None else now
            found = self._stamps_now()
            if found == self._stamps and not always:
                return True
            try:
                self._context = self._made()
            except (ValueError, OSError) as failed:  # tried again at the next look
                warning("%s", line("tls_files_kept", reason=failed))
                return False
            self._stamps = found
            self._sessions.clear()
        read = {name: getattr(self.options, name) for name in _FILES}
        info("%s", line("tls_files_read", **read))
        return True

    def trusts(self, connection: ssl.SSLObject) -> bool:
        """Whether the present context would accept the certificate of this connection's peer. Python has no
        way to verify it again, so this compares: its serial number is on no list, and if an authority was
        taken out of the file, one that is still in it has issued the certificate. An answer of False may be
        wrong, which costs one connection: OpenSSL decides about the next one."""
        with self._lock:
            present, revoked = self._context, self._revoked
        before = connection.context
        if before is present:
            return True
        try:
            shown = connection.getpeercert(True)
        except ValueError:  # the handshake goes on
            return True
        if not shown:
            return True
        of = x509.named(shown)
        if of.serial in revoked:
            return False
        if not self.options.ca:
            return True
        old, new = (set(each.get_ca_certs(binary_form=True)) for each in (before, present))
        return old <= new or of.issuer in {x509.named(each).subject for each in old & new}

    def _stamps_now(self) -> list[Stamp]:
        """What distinguishes each file from the one that replaces it."""
        paths = [getattr(self.options, name) for name in _FILES]
        return [stamp_of(path) for path in paths if path]

    # Connections

    def connection(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, address: Address) -> ssl.SSLObject:
        """The TLS object of one connection; `address` is the server's. Raises ValueError for a name that no
        certificate can be for."""
        self.look(monotonic())
        with self._lock:
            context = self._context
            session, shown = self._sessions.pop(address, (None, FOREVER))
        if self.server:
            return context.wrap_bio(incoming, outgoing, server_side=True)
        name = self.expected_name(address)
        if out_of_time(shown):  # a whole handshake verifies the certificate that has replaced it
            session = None
        return context.wrap_bio(incoming, outgoing, server_hostname=name, session=session)

    def keep(self, address: Address, session: ssl.SSLSession, shown: Validity, of: ssl.SSLContext) -> None:
        """The next connection to the address resumes this session of a connection of the context `of`, unless
        files were read or the certificate has expired since: a session that is resumed repeats no
        verification."""
        with self._lock:
            if of is not self._context:
                return
            if len(self._sessions) >= _MOST_SESSIONS:
                self._sessions.clear()
            self._sessions[address] = (session, shown)

    # For messages

    def expected_name(self, address: Address) -> str:
        return self.options.server_name or address.host

    @property
    def where_authorities_are(self) -> str:
        return f"in '{self.options.ca}'" if self.options.ca else "among those of the system"


def validity_of(connection: ssl.SSLObject) -> Validity:
    """Of the certificate that the peer has shown, after the handshake; FOREVER without one."""
    shown = connection.getpeercert(True)
    return x509.validity(shown) if shown else FOREVER


def out_of_time(shown: Validity) -> str:
    """What is wrong with the time of a certificate now, in words; empty: nothing."""
    now = time()
    if now < shown.first:
        return "is not valid yet"
    return "has expired" if now >= shown.last else ""


def _expires(certificate: str) -> float:
    """Of a file that OpenSSL has read; one that is not understood here is no reason to refuse it."""
    try:
        return x509.validity_in(Path(certificate).read_bytes()).last
    except ValueError:
        return FOREVER.last


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
