"""R3. TLS over a connected socket. Bytes are encrypted and decrypted in memory, so that the socket is used as
that of any other stream.

Threads. The lock guards the TLS object, which one thread at a time may use; waiting for the socket needs no
lock. A finalizer may write on a thread that holds the lock: then the stream accepts nothing, as if the socket
were full.

Reading. One read of the socket may bring several records; bytes beyond the reader's room are `inside`, and no
descriptor reports them. A thread that stops reading must read them first; they are at most what one read
brought.

Writing. A record counts as written when all of it has been sent: until then it is in `_sealed`, and the
writer passes its bytes again, which are skipped. So bytes that were not counted were not received, either.
"""

import ssl
from collections import deque
from contextlib import suppress
from threading import RLock
from time import monotonic
from typing import cast

from mf.core.error import Code
from mf.core.identity import Identity
from mf.transport import tcp
from mf.transport.address import Address
from mf.transport.stream import Buffer, SocketStream, Stream, StreamError
from mf.transport.tls_context import FOREVER, TlsContext, out_of_time, validity_of
from mf.transport.tls_identity import certified
from mf.transport.tls_words import closed_within_handshake, not_in_time, speaks_no_tls, why_tls_failed

_RECORD = 16 * 1024  # the largest record
_AT_ONCE = 16 * _RECORD
_RECEIVED = 32 * 1024
_FIRST_BYTES = (0x15, 0x16)  # an alert, a handshake
_NO_TLS = b"\x15\x03\x03\x00\x02\x02\x0a"  # the alert `unexpected_message`


class TlsStream(Stream):
    """Owns its socket. At a client it waits where the socket does; at a server it never waits, and makes the
    handshake in its first reads."""

    __slots__ = (
        "_address",
        "_busy",
        "_context",
        "_greeted",
        "_incoming",
        "_kept",
        "_lock",
        "_outgoing",
        "_received",
        "_sealed",
        "_shaken",
        "_shown",
        "_socket",
        "_started",
        "_tls",
        "inside",
        "read",
    )

    def __init__(self, socket: SocketStream, context: TlsContext, address: Address) -> None:
        self.peer = socket.peer
        self.inside = False
        self.read = self.read_now if context.server else self._read_waiting
        self._address = address
        self._busy = False
        self._context = context
        self._greeted = False  # at a client: the first flight of the handshake has been sent
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._kept = context.server
        self._lock = RLock()
        self._received = memoryview(bytearray(_RECEIVED))
        self._sealed: deque[tuple[memoryview, int]] = deque()  # records, and their bytes of the writer
        self._shaken = False
        self._shown = FOREVER  # how long the peer's certificate is valid
        self._socket = socket
        self._started = False
        self._tls = context.connection(self._incoming, self._outgoing, address)

    @property
    def resumed(self) -> bool:
        """Whether it resumed the session of an earlier connection."""
        return bool(self._tls.session_reused)

    def identity(self) -> Identity:
        with self._lock:
            return certified(self._tls)

    def shake_hands(self, timeout: float) -> None:
        """Makes a client's handshake, before anything else. Raises OSError."""
        if not self.shaken(monotonic() + timeout):
            raise handshake_took_too_long()

    def shaken(self, until: float) -> bool:
        """The same, but False if it is not made by then: it may be gone on with. Raises OSError."""
        while not self.goes_on_shaking():
            left = until - monotonic()
            if left <= 0 or not self._socket.wait(False, left):
                return False
        return True

    def goes_on_shaking(self) -> bool:
        """The same without waiting: handles what has arrived. False: more must arrive. Raises OSError."""
        if self._greeted:
            with suppress(BlockingIOError):
                self._take(self._socket.read_now(self._received))
        self._greeted = True
        return self._handshaken()

    def _handshaken(self) -> bool:
        with self._lock:
            try:
                self._tls.do_handshake()
                self._check_time()
                self._shaken = True
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as failed:
                raise self._failed(failed) from None
            self.inside = self._shaken and self._incoming.pending > 0
            self._seal(0)
            self._send()
            return self._shaken

    def _check_time(self) -> None:
        """With the lock, after the handshake: one that has resumed a session has verified nothing, and Python
        has no way to prevent that at a server. The peer is not sent the new ticket, so it makes a whole
        handshake the next time, with the certificate that it has then."""
        self._shown = validity_of(self._tls)
        why = out_of_time(self._shown)
        if why:
            self._outgoing.read()
            raise not_in_time(why, self._context)

    # Reading

    def _read_waiting(self, into: memoryview) -> int:
        while True:
            if not self.inside:
                received = self._socket.read(self._received)
                if not received:
                    return 0
                self._take(received)
            count = self._decrypted(into)
            if count is not None:
                return count

    def read_now(self, into: memoryview) -> int:
        if not self.inside:
            received = self._socket.read_now(self._received)
            if not received and (self._shaken or not self._started):
                return 0
            self._take(received)
            if not self._shaken and not self._handshaken():
                raise BlockingIOError
        count = self._decrypted(into)
        if count is None:
            raise BlockingIOError
        return count

    def _take(self, count: int) -> None:
        if not count:
            raise closed_within_handshake(self._context)
        if not self._started:
            self._started = True
            if self._received[0] not in _FIRST_BYTES:
                if self._context.server:
                    with suppress(OSError):
                        self._socket.write_now([_NO_TLS])
                raise speaks_no_tls(bytes(self._received[:count]), self._context)
        with self._lock:
            self._incoming.write(self._received[:count])

    def _decrypted(self, into: memoryview) -> int | None:
        """None: more must be received first."""
        with self._lock:
            self._busy = True
            count: int | None = None
            try:
                # It fills the buffer and returns a number, although typeshed says otherwise.
                count = cast(int, self._tls.read(len(into), cast(bytearray, into)))
                self.inside = self._tls.pending() > 0 or self._incoming.pending > 0
            except ssl.SSLWantReadError:
                self.inside = False
            except ssl.SSLZeroReturnError:
                self.inside = False
                count = 0
            except ssl.SSLError as failed:
                self.inside = False
                raise self._failed(failed) from None
            finally:
                self._busy = False
            if self._outgoing.pending:
                self._seal(0)
                self._send()
            if count and not self._kept:
                self._kept = True  # a server's session ticket arrives before its first bytes
                session = self._tls.session
                if session is not None and session.has_ticket:
                    self._context.keep(self._address, session, self._shown, self._tls.context)
            return count

    def _failed(self, failed: ssl.SSLError) -> StreamError:
        """With the lock: sends the peer an alert, too."""
        with suppress(OSError):
            self._seal(0)
            self._send()
        return why_tls_failed(failed, self._context, self._address)

    # Writing

    def write_now(self, buffers: list[Buffer]) -> int:
        with self._lock:
            if self._busy:
                return 0
            if not self._shaken:
                raise StreamError(Code.UNAVAILABLE, "the TLS handshake is not complete")
            self._busy = True
            try:
                written = self._send()
                if self._sealed:
                    return written
                for record in _records(buffers, written):
                    self._tls.write(record)
                    self._seal(len(record))
                return written + self._send()
            except ssl.SSLError as failed:
                raise self._failed(failed) from None
            finally:
                self._busy = False

    def _seal(self, plain: int) -> None:
        """With the lock: the pending TLS output is a record with so many bytes of the writer."""
        if self._outgoing.pending:
            self._sealed.append((memoryview(self._outgoing.read()), plain))

    def _send(self) -> int:
        """With the lock: sends records as long as the socket accepts them. Returns how many bytes of the
        writer the sent ones contain."""
        plain = 0
        sealed = self._sealed
        while sealed:
            sent = self._socket.write_now([record for record, _ in sealed])
            if not sent:
                break
            while sealed and sent >= len(sealed[0][0]):
                record, size = sealed.popleft()
                sent -= len(record)
                plain += size
            if sent:
                record, size = sealed[0]
                sealed[0] = (record[sent:], size)
        return plain

    # The rest

    def fileno(self) -> int:
        return self._socket.fileno()

    def set_read_timeout(self, seconds: float) -> None:
        self._socket.set_read_timeout(seconds)

    def wait(self, write: bool, timeout: float) -> bool:
        return self.inside or self._socket.wait(write, timeout)

    def unacknowledged(self) -> int:
        return self._socket.unacknowledged() + len(self._sealed)

    def trusted(self) -> bool:
        if out_of_time(self._shown):
            return False
        with self._lock:
            return self._context.trusts(self._tls)

    def shutdown(self) -> None:
        with self._lock:
            if self._shaken and not self._busy:
                with suppress(OSError):
                    self._tls.unwrap()  # sends close_notify, and then would wait for that of the peer
                with suppress(OSError):
                    self._seal(0)
                    self._send()
        self._socket.shutdown()

    def close(self) -> None:
        self._socket.close()


def _records(buffers: list[Buffer], skip: int) -> list[bytes]:
    """The bytes after the first `skip`, as many as are encrypted at once, in pieces of at most a record."""
    pieces: list[Buffer] = []
    left = _AT_ONCE
    for buffer in buffers:
        if skip >= len(buffer):
            skip -= len(buffer)
            continue
        pieces.append(memoryview(buffer)[skip : skip + left])
        skip = 0
        left -= len(pieces[-1])
        if not left:
            break
    joined = b"".join(pieces)
    return [joined[at : at + _RECORD] for at in range(0, len(joined), _RECORD)]


def handshake_took_too_long() -> StreamError:
    return StreamError(Code.UNAVAILABLE, "the server did not complete the TLS handshake in time")


def client_end(socket: SocketStream, context: TlsContext, address: Address) -> TlsStream:
    """A client's end before the handshake. Raises OSError, and closes the socket then."""
    try:
        return TlsStream(socket, context, address)
    except ValueError:
        socket.close()
        name = context.expected_name(address)
        raise StreamError(Code.UNAVAILABLE, f"no certificate can be for '{name}'") from None


def connected(socket: SocketStream, context: TlsContext, address: Address, timeout: float) -> TlsStream:
    """A client's end after the handshake. Raises OSError."""
    stream = client_end(socket, context, address)
    try:
        stream.shake_hands(timeout)
    except OSError:
        stream.close()
        raise
    return stream


class TlsConnecting(tcp.Connecting):
    """Makes the handshake when it is finished."""

    __slots__ = ("_context", "_stream")

    def __init__(self, address: Address, context: TlsContext) -> None:
        super().__init__(address)
        self._context = context
        self._stream: TlsStream | None = None

    def finish(self, until: float) -> Stream | None:
        if self._stream is None:
            connected = self._connected(until)
            if connected is None:
                return None
            self._stream = client_end(connected, self._context, self._address)
        try:
            return self._stream if self._stream.shaken(until) else None
        except OSError:
            self._stream.close()
            raise

    def too_late(self) -> OSError:
        return super().too_late() if self._stream is None else handshake_took_too_long()

    def close(self) -> None:
        if self._stream is None:
            super().close()
        else:
            self._stream.close()
