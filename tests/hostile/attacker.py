"""One hostile client: raw sockets, which say what they like. Nothing here waits for longer than PATIENCE.

An `Attacker` keeps every socket that it opens until it is closed, so that what a victim holds for it is held.
Frames are made by mf.protocol; what is wrong with them is up to the attack.
"""

import hashlib
import select
import socket
import time
from collections.abc import Iterator

from mf.protocol import frame
from mf.protocol.handshake import Hello, pack_bind
from mf.protocol.wire import pack_str16, read_str16

PATIENCE = 20.0
STALLED = 0.5  # a victim that takes nothing for so long has ceased to read
FEBIRD = 2


def hello(name: str = "") -> bytes:
    return frame.pack(frame.HELLO, Hello(nonce=bytes(16), client_id=1, name=name).pack())


def request(payload: bytes, *, id_: int = 1, route: int = 0, flags: int = FEBIRD, count: int = 1) -> bytes:
    return frame.pack(frame.REQUEST, payload, flags=flags, route=route, id_=id_, count=count)


def text_of(text: bytes) -> bytes:
    """A febird string, whatever its bytes are."""
    head, length = b"", len(text)
    while length > 0x7F:
        head += bytes([length & 0x7F | 0x80])
        length >>= 7
    return head + bytes([length]) + text


class Peer:
    """One connection of an attacker."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        """`host`: the address of this host from which the connection comes."""
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(host, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._name = self._socket.getsockname()
        self._read = b""

    def send(self, data: bytes) -> int:
        """Sends until all is gone, the victim has ceased to read, or it has closed; gives the bytes sent."""
        self._socket.setblocking(False)
        rest, end = memoryview(data), time.monotonic() + PATIENCE
        writable = select.poll()
        writable.register(self._socket, select.POLLOUT)
        try:
            while rest and time.monotonic() < end:
                if not writable.poll(1000 * STALLED):
                    break
                rest = rest[self._socket.send(rest) :]
        except (BrokenPipeError, ConnectionResetError):
            pass
        return len(data) - len(rest)

    def frames(self) -> Iterator[tuple[int, int, bytes]]:
        """Type, status and payload of each frame that comes, until the victim closes."""
        while head := self._exactly(frame.HEADER_SIZE):
            size, type_, _, _, _, word, _ = frame.HEADER.unpack(head)
            body = self._exactly((size + 7 & ~7) - frame.HEADER_SIZE)
            yield type_, word, body[: size - frame.HEADER_SIZE]

    def next(self, type_: int) -> tuple[int, bytes]:
        """Status and payload of the next frame of that type."""
        for kind, status, payload in self.frames():
            if kind == type_:
                return status, payload
        raise AssertionError(f"the victim closed before it sent {frame.TYPE_NAMES[type_]}")

    def was_cut(self) -> bool:
        """Whether the victim closes, in time, once all that it has sent is read."""
        try:
            for _ in self.frames():
                pass
        except TimeoutError:
            return False
        return True

    @property
    def address(self) -> str:
        """As the victim's log calls it."""
        return "{}:{}".format(*self._name)

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int) -> bytes:
        self._socket.settimeout(PATIENCE)
        while len(self._read) < size:
            try:
                piece = self._socket.recv(1 << 16)
            except ConnectionResetError:
                piece = b""
            if not piece:
                return b""
            self._read += piece
        data, self._read = self._read[:size], self._read[size:]
        return data


class Attacker:
    """`service` and `agent`: what the victim offers."""

    def __init__(self, address: str, service: str = "", agent: str = "") -> None:
        self.port = int(address.rpartition(":")[2])
        self.service, self.agent = service, agent
        self.peers: list[Peer] = []

    def connect(self, host: str = "127.0.0.1") -> Peer:
        self.peers.append(Peer(self.port, host))
        return self.peers[-1]

    def greet(self, name: str = "", host: str = "127.0.0.1") -> Peer:
        peer = self.connect(host)
        peer.send(hello(name))
        peer.next(frame.HELLO)
        return peer

    def bound(self, *methods: str) -> Peer:
        return self.bind(self.service, *methods, agent=self.agent)

    def bind(self, service: str, *methods: str, agent: str = "") -> Peer:
        """A connection on which route i is bound to the i-th method."""
        peer = self.greet()
        peer.send(frame.pack(frame.BIND, pack_bind(_fingerprint(peer, service), service, agent, methods)))
        assert peer.next(frame.BOUND)[0] == 0
        return peer

    def fingerprint(self, service: str) -> bytes:
        """Of a service or topic that the victim offers."""
        return _fingerprint(self.greet(), service)

    def close(self) -> None:
        for peer in self.peers:
            peer.close()


def _fingerprint(peer: Peer, service: str) -> bytes:
    peer.send(frame.pack(frame.DESCRIBE, pack_str16(service)))
    described = peer.next(frame.DESCRIPTOR)[1]
    _, at = read_str16(described, 0, "service")
    length = int.from_bytes(described[at : at + 4], "little")
    return hashlib.sha256(described[at + 4 : at + 4 + length]).digest()[:16]
