"""TlsStream: bytes both ways, buffered bytes, resumption, and unusable files."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.core.tls import Tls
from mf.protocol.client_session import ClientSession
from mf.protocol.handshake import Hello
from mf.transport import tls_context
from mf.transport.address import Address
from mf.transport.sockets import Dialer, Listening, server_context
from mf.transport.stream import Buffer, SocketStream, Stream, StreamError, drop_written
from mf.transport.tls_context import LOOK_EVERY, TlsContext
from mf.transport.tls_stream import TlsStream
from tests.python.certificates import Authority, expire_after

PATIENCE = 20.0
ANYWHERE = Address.parse("tls://localhost:1")
BYTES = bytes(range(251)) * 4000  # 1 MB


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


class Counted(SocketStream):
    """Counts its writes, and accepts at most `room` bytes."""

    __slots__ = ("room", "writes")

    def __init__(self, connected: socket.socket, room: float = float("inf")) -> None:
        super().__init__(connected, "counted")
        self.room = room
        self.writes = 0

    def write_now(self, buffers: list[Buffer]) -> int:
        self.writes += 1
        written = 0
        for buffer in buffers:
            piece = buffer[: int(min(self.room, len(buffer)))]
            taken = super().write_now([piece]) if piece else 0
            self.room -= taken
            written += taken
            if taken < len(buffer):
                break
        return written


class Ends:
    """Both ends of a connection in this process, after the handshake."""

    def __init__(self, authority: Authority, context: TlsContext | None = None) -> None:
        ours, theirs = socket.socketpair()
        self.socket = Counted(ours)
        self.raw = theirs
        context = context or TlsContext(authority.accepted, server=False)
        self.client = TlsStream(self.socket, context, ANYWHERE)
        served = SocketStream(theirs, "served", blocking=False)
        self.server = TlsStream(served, TlsContext(authority.issue(), server=True), ANYWHERE)
        with ThreadPoolExecutor(1) as pool:
            shaking = pool.submit(self.client.shake_hands, PATIENCE)
            while not (shaking.done() and self.server._shaken):
                self.server.wait(False, 0.01)
                assert read_what_is_there(self.server) == b""
            shaking.result()

    def close(self) -> None:
        self.client.close()
        self.server.close()


@pytest.fixture
def ends(authority: Authority) -> Iterator[Ends]:
    both = Ends(authority)
    yield both
    both.close()


def read_what_is_there(stream: Stream, size: int = 1 << 18) -> bytes:
    window = memoryview(bytearray(size))
    try:
        return bytes(window[: stream.read_now(window)])
    except BlockingIOError:
        return b""


def holds_more(stream: Stream) -> bool:
    return stream.inside


def read_exactly(stream: Stream, size: int) -> bytes:
    got = b""
    while len(got) < size and stream.wait(False, PATIENCE):
        got += read_what_is_there(stream)
    return got


def write_all(stream: Stream, data: bytes) -> None:
    left: list[Buffer] = [data]
    while left:
        written = stream.write_now(left)
        left = drop_written(left, written)
        if not written:
            assert stream.wait(True, PATIENCE)


def failure_of(stream: Stream) -> StreamError:
    """The failure of a stream that has failed, or is about to."""
    try:
        while stream.wait(False, PATIENCE):
            assert read_what_is_there(stream) == b""
    except StreamError as failed:
        return failed
    raise AssertionError("the stream goes on")


def test_bytes_go_both_ways_on_two_threads_each(ends: Ends) -> None:
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write_all, end, BYTES) for end in (ends.client, ends.server)]
        readers = [pool.submit(read_exactly, end, len(BYTES)) for end in (ends.client, ends.server)]
        for writer in writers:
            writer.result()
        assert all(reader.result() == BYTES for reader in readers)


def test_small_buffers_are_joined_into_one_record(ends: Ends) -> None:
    ends.socket.writes = 0
    assert ends.client.write_now([b"12345678"] * 64) == 512

    assert ends.socket.writes == 1
    assert len(ends.raw.recv(1 << 16, socket.MSG_PEEK)) < 512 + 64
    assert read_exactly(ends.server, 512) == b"12345678" * 64


def test_what_the_window_had_no_room_for_is_inside(ends: Ends) -> None:
    write_all(ends.client, BYTES[:10_000])
    assert ends.server.wait(False, PATIENCE)
    assert read_what_is_there(ends.server, 1_000) == BYTES[:1_000]

    assert holds_more(ends.server)
    assert ends.server.wait(False, 0.0)
    assert read_what_is_there(ends.server) == BYTES[1_000:10_000]
    assert not holds_more(ends.server)
    assert not ends.server.wait(False, 0.0)


def test_a_part_of_a_record_is_waited_for(ends: Ends) -> None:
    ends.socket.room = 100
    assert ends.client.write_now([BYTES[:1_000]]) == 0
    assert ends.server.wait(False, PATIENCE)
    assert read_what_is_there(ends.server) == b""
    assert not holds_more(ends.server)

    ends.socket.room = 1 << 20
    assert ends.client.write_now([BYTES[:1_000]]) == 1_000
    assert read_exactly(ends.server, 1_000) == BYTES[:1_000]


def test_only_records_that_have_left_entirely_count_as_written(ends: Ends) -> None:
    ends.socket.room = 40_000  # two records and a part of the third
    written = ends.client.write_now([BYTES])

    assert written == 2 * 16_384
    assert read_exactly(ends.server, written) == BYTES[:written]
    assert ends.client.write_now([BYTES[written:]]) == 0
    assert ends.client.unacknowledged() > 0
    ends.socket.room = float("inf")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_exactly, ends.server, len(BYTES) - written)
        write_all(ends.client, BYTES[written:])
        assert reading.result() == BYTES[written:]
    assert ends.client.unacknowledged() == 0


def test_a_write_within_a_read_of_the_same_thread_takes_nothing(ends: Ends) -> None:
    # As in the finalizer of a dropped stream.
    class Within:
        def __init__(self, tls: Any) -> None:
            self.tls = tls
            self.written: list[int] = []

        def read(self, size: int, into: Any) -> Any:
            self.written.append(ends.server.write_now([b"x"]))
            return self.tls.read(size, into)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.tls, name)

    within = Within(ends.server._tls)
    ends.server._tls = within  # type: ignore[assignment]
    write_all(ends.client, b"hello")

    assert read_exactly(ends.server, 5) == b"hello"
    assert set(within.written) == {0}
    assert ends.server.write_now([b"x"]) == 1
    assert read_exactly(ends.client, 1) == b"x"


def test_a_shutdown_is_an_end_and_no_failure(ends: Ends) -> None:
    ends.client.shutdown()
    assert ends.server.wait(False, PATIENCE)
    window = memoryview(bytearray(10))

    assert ends.server.read_now(window) == 0
    assert ends.client.read(window) == 0
    with pytest.raises(OSError, match="TLS with the server has failed"):
        ends.client.write_now([b"x"])


def test_bytes_that_are_not_encrypted_end_it_with_a_reason(ends: Ends) -> None:
    ends.socket.write_now([b"\x17\x03\x03\x00\x20 these are not 32 encrypted bytes"])

    assert str(failure_of(ends.server)).startswith("TLS with the client has failed: ")


def test_a_peer_that_leaves_without_a_word_has_only_left(authority: Authority) -> None:
    ours, theirs = socket.socketpair()
    context = TlsContext(authority.issue(), server=True)
    stream = TlsStream(SocketStream(theirs, "served", blocking=False), context, ANYWHERE)
    ours.close()

    assert stream.read(memoryview(bytearray(10))) == 0
    stream.close()


def test_a_server_cannot_write_before_the_handshake(authority: Authority) -> None:
    ours, theirs = socket.socketpair()
    context = TlsContext(authority.issue(), server=True)
    stream = TlsStream(SocketStream(theirs, "served", blocking=False), context, ANYWHERE)
    with ours, pytest.raises(StreamError, match="the TLS handshake is not complete"):
        stream.write_now([b"x"])
    stream.close()


@pytest.mark.parametrize("with_certificate", [False, True])
def test_the_last_session_of_an_address_is_resumed(authority: Authority, with_certificate: bool) -> None:
    asked = authority.file if with_certificate else ""
    served = [Address.parse("tls://127.0.0.1:0")]
    listening = Listening(served[0], server_context(served, authority.issue(ca=asked)))
    dialer = Dialer(authority.issue(ca=authority.file) if with_certificate else authority.accepted)
    for resumed in (False, True, True):
        ours, theirs = meet(dialer, listening)
        write_all(theirs, b"x")  # its session ticket precedes it
        assert read_exactly(ours, 1) == b"x"
        assert isinstance(ours, TlsStream)
        assert (ours.resumed, theirs.resumed) == (resumed, resumed)
        assert ours.peer == str(listening.address).replace("localhost", "127.0.0.1")
        assert theirs.peer.startswith("tls://127.0.0.1:")
        ours.close()
        theirs.close()
    listening.close()


def meet(dialer: Dialer, listening: Listening) -> tuple[Stream, TlsStream]:
    with ThreadPoolExecutor(1) as pool:
        connecting = pool.submit(dialer.connect, listening.address, PATIENCE)
        listening.socket.settimeout(PATIENCE)
        theirs = listening.accept()
        assert isinstance(theirs, TlsStream)
        while not (connecting.done() and theirs._shaken):
            theirs.wait(False, 0.01)
            assert read_what_is_there(theirs) == b""
        return connecting.result(), theirs


def answer_to(authority: Authority, said: bytes) -> tuple[bytes, str]:
    """A server end's bytes for a peer that begins like this, and its log message."""
    ours, theirs = socket.socketpair()
    context = TlsContext(authority.issue(), server=True)
    server = TlsStream(SocketStream(theirs, "served", blocking=False), context, ANYWHERE)
    ours.sendall(said)
    why = failure_of(server)
    assert why.code is Code.PROTOCOL_ERROR
    with ours:
        answer = ours.recv(64)
    server.close()
    return answer, str(why)


def test_a_peer_that_speaks_no_tls_is_told_so_in_the_terms_of_tls(authority: Authority) -> None:
    alert = b"\x15\x03\x03\x00\x02\x02\x0a"
    hello = pack_hello()

    expected = "the client speaks no TLS: its first bytes look like HTTP"
    assert answer_to(authority, b"GET / HTTP/1.1\r\n\r\n") == (alert, expected)
    assert answer_to(authority, b"hello?") == (alert, "the client speaks no TLS")
    expected = "the client speaks no TLS, but MF: its address must begin with tls://"
    assert answer_to(authority, hello) == (alert, expected)


def pack_hello() -> bytes:
    session = ClientSession(Hello(nonce=bytes(16)), bytearray(64))
    session._control(1, session.our_hello.pack())
    return b"".join(session.take_output())


class Answering:
    """A server without TLS, which reads once, sends something, and closes."""

    def __init__(self, said: bytes | None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = Address("tls", "127.0.0.1", self._listener.getsockname()[1])
        self._said = said
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        accepted, _ = self._listener.accept()
        with accepted:
            accepted.recv(4096)
            if self._said is None:
                accepted.recv(1)  # until the client has given up
            else:
                accepted.sendall(self._said)

    def __enter__(self) -> Address:
        return self.address

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()


@pytest.mark.parametrize(
    ("said", "timeout", "why"),
    [
        (b"HTTP/1.1 400 Bad Request", PATIENCE, "the server speaks no TLS: its first bytes look like HTTP"),
        (b"220 smtp.example", PATIENCE, "the server speaks no TLS"),
        (b"", PATIENCE, "the server has closed the connection within the TLS handshake"),
        (None, 0.05, "the server did not complete the TLS handshake in time"),
    ],
)
def test_servers_that_do_not_shake_hands(
    authority: Authority, said: bytes | None, timeout: float, why: str
) -> None:
    with Answering(said) as address, pytest.raises(StreamError) as raised:
        Dialer(authority.accepted).connect(address, timeout)

    assert (raised.value.code, str(raised.value)) == (
        Code.PROTOCOL_ERROR if "speaks no TLS" in why else Code.UNAVAILABLE,
        why,
    )


def refusal(options: mf.Tls, *, server: bool) -> str:
    with pytest.raises(ValueError, match=r"mf\.Tls") as raised:
        TlsContext(options, server=server)
    return str(raised.value)


def test_files_that_cannot_be_used_are_named(authority: Authority, tmp_path: Path) -> None:
    good, other = authority.issue(), authority.issue()
    text = tmp_path / "text"
    text.write_text("this is no certificate\n")
    missing = "no such file or directory"

    assert (
        refusal(mf.Tls(ca="/nowhere/ca"), server=False) == f"mf.Tls.ca: cannot read '/nowhere/ca': {missing}"
    )
    why = refusal(mf.Tls(ca=str(text)), server=False)
    assert why.startswith(f"mf.Tls.ca: '{text}' holds no certificate in PEM format")
    why = refusal(mf.Tls(certificate="/nowhere/c", key=good.key), server=True)
    assert why == f"mf.Tls.certificate: cannot read '/nowhere/c': {missing}"
    why = refusal(mf.Tls(certificate=str(text), key=good.key), server=True)
    assert why.startswith(f"mf.Tls.certificate: '{text}' holds no certificate in PEM format that can be used")
    why = refusal(mf.Tls(certificate=good.certificate, key="/nowhere/k"), server=True)
    assert why == f"mf.Tls.key: cannot read '/nowhere/k': {missing}"
    why = refusal(mf.Tls(certificate=good.certificate, key=str(text)), server=True)
    assert why.startswith(f"mf.Tls.key: '{text}' holds no private key in PEM format without a passphrase")
    why = refusal(mf.Tls(certificate=good.certificate, key=other.key), server=True)
    assert why == f"mf.Tls.key: '{other.key}' does not belong to the certificate '{good.certificate}'"
    belong = "certificate and key belong together, and this one is not given"
    assert refusal(mf.Tls(certificate=good.certificate), server=False) == f"mf.Tls.key: {belong}"
    assert refusal(mf.Tls(key=good.key), server=False) == f"mf.Tls.certificate: {belong}"
    needed = "mf.Tls.certificate: a server at tls:// needs a certificate and its key"
    assert refusal(authority.accepted, server=True) == needed


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked_for_it(
    authority: Authority, tmp_path: Path
) -> None:
    good = authority.issue()
    locked = str(tmp_path / "locked.key")
    command = ["openssl", "pkey", "-in", good.key, "-aes128", "-passout", "pass:secret", "-out", locked]
    subprocess.run(command, check=True, timeout=30)

    why = refusal(mf.Tls(certificate=good.certificate, key=locked), server=True)
    assert why == f"mf.Tls.key: '{locked}' holds no private key in PEM format without a passphrase"


# Files that are replaced while they are in use; the same as in tests/cpp/transport/tls_test.cpp


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    for level in ("info", "warning"):
        monkeypatch.setattr(tls_context, level, lambda _, text: lines.append(text))
    return lines


def replace(options: Tls, by: Tls) -> None:
    """As a tool that renews certificates replaces them."""
    Path(by.certificate).rename(options.certificate)
    Path(by.key).rename(options.key)


def exchange(listening: Listening, dialer: Dialer) -> tuple[Stream, Stream]:
    """Both ends of a new connection, over which a byte has passed."""
    ours, theirs = meet(dialer, listening)
    write_all(ours, b"x")
    assert read_exactly(theirs, 1) == b"x"
    write_all(theirs, b"y")  # a session ticket precedes it
    assert read_exactly(ours, 1) == b"y"
    return ours, theirs


def test_replaced_certificates_are_read_without_a_failed_connection(authority: Authority) -> None:
    options = authority.issue()
    context = TlsContext(options, server=True)
    listening = Listening(Address.parse("tls://127.0.0.1:0"), context)
    dialer = Dialer(authority.accepted)
    for round_ in range(1, 20):
        ours, theirs = exchange(listening, dialer)
        replace(options, authority.issue())
        context.look(monotonic() + LOOK_EVERY * 2 * round_)
        dialer.tls_context().look(monotonic() + LOOK_EVERY * 2 * round_)
        write_all(ours, b"x")  # the connection made before goes on
        assert read_exactly(theirs, 1) == b"x"
        ours.close()
        theirs.close()
    listening.close()


def test_files_are_looked_at_every_30_seconds(authority: Authority, said: list[str]) -> None:
    options = authority.issue()
    context = TlsContext(options, server=True)
    start = monotonic()
    replace(options, authority.issue())
    context.look(start + LOOK_EVERY - 1)
    assert said == []
    context.look(start + LOOK_EVERY + 1)
    assert [each.split()[0] for each in said] == ["tls_files_read"]
    context.look(start + 3 * LOOK_EVERY)  # nothing was replaced since
    assert len(said) == 1


def test_files_that_cannot_be_used_change_nothing_and_are_named(
    authority: Authority, said: list[str]
) -> None:
    options, other = authority.issue(), authority.issue()
    context = TlsContext(options, server=True)
    Path(other.certificate).rename(options.certificate)  # the key is still the one before
    context.look(monotonic() + LOOK_EVERY)
    assert len(said) == 1
    assert said[0].startswith("tls_files_kept ")
    assert options.key in said[0]
    listening = Listening(Address.parse("tls://127.0.0.1:0"), context)
    for end in exchange(listening, Dialer(authority.accepted)):
        end.close()
    listening.close()
    Path(other.key).rename(options.key)
    context.look(monotonic() + LOOK_EVERY * 3)
    assert said[1].startswith("tls_files_read ")


def test_a_replaced_authority_ends_the_trust_in_the_old_one_and_its_sessions(
    authority: Authority, tmp_path: Path
) -> None:
    ca = tmp_path / "servers.pem"
    shutil.copy(authority.file, ca)
    dialer = Dialer(Tls(ca=str(ca)))
    listening = Listening(Address.parse("tls://127.0.0.1:0"), TlsContext(authority.issue(), server=True))
    for end in exchange(listening, dialer):
        end.close()
    shutil.copy(Authority(tmp_path, "other").file, ca)
    dialer.tls_context().look(monotonic() + LOOK_EVERY)
    with ThreadPoolExecutor(1) as pool:
        connecting = pool.submit(dialer.connect, listening.address, PATIENCE)
        listening.socket.settimeout(PATIENCE)
        theirs = listening.accept()
        assert failure_of(theirs)
        with pytest.raises(StreamError, match=r"an authority that is not in .*servers\.pem"):
            connecting.result()
    theirs.close()
    listening.close()


# Certificates that expire; the same as in tests/cpp/transport/tls_test.cpp


def test_a_client_whose_certificate_has_expired_resumes_nothing(authority: Authority) -> None:
    context = TlsContext(authority.issue(ca=authority.file), server=True)
    listening = Listening(Address.parse("tls://127.0.0.1:0"), context)
    kept: list[tuple[Dialer, TlsStream]] = []

    def use(seconds: int) -> bool:
        dialer = Dialer(authority.issue(ca=authority.file, seconds=seconds))
        try:
            ours, theirs = exchange(listening, dialer)
        except StreamError:
            return False
        ours.close()
        assert isinstance(theirs, TlsStream)
        kept.append((dialer, theirs))
        return theirs.trusted()

    expire_after(use)
    dialer, before = kept[-1]
    assert not before.trusted()
    for _ in range(2):  # with the session, and without one
        with ThreadPoolExecutor(1) as pool:
            connecting = pool.submit(dialer.connect, listening.address, PATIENCE)
            listening.socket.settimeout(PATIENCE)
            theirs = listening.accept()
            failed = failure_of(theirs)
            theirs.close()
            with suppress(StreamError):
                connecting.result().close()
        assert failed.code is Code.UNAUTHENTICATED
        assert str(failed) == "the certificate of the client has expired"
    before.close()
    listening.close()


def test_a_server_whose_certificate_has_expired_is_verified_again(authority: Authority) -> None:
    kept: list[tuple[Dialer, Listening, Stream]] = []

    def use(seconds: int) -> bool:
        context = TlsContext(authority.issue(seconds=seconds), server=True)
        listening = Listening(Address.parse("tls://127.0.0.1:0"), context)
        dialer = Dialer(authority.accepted)
        try:
            ours, theirs = exchange(listening, dialer)
        except StreamError:
            return False
        theirs.close()
        kept.append((dialer, listening, ours))
        return ours.trusted()

    expire_after(use)
    dialer, listening, before = kept[-1]
    assert not before.trusted()
    with ThreadPoolExecutor(1) as pool:
        connecting = pool.submit(dialer.connect, listening.address, PATIENCE)
        listening.socket.settimeout(PATIENCE)
        theirs = listening.accept()
        assert failure_of(theirs)
        with pytest.raises(StreamError, match="the certificate of the server has expired"):
            connecting.result()
    for each in (theirs, before, listening):
        each.close()


# Identities

NAMES = [
    line.split(" -> ")
    for line in (Path(__file__).parents[2] / "vectors/certificates/identities.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("names", "identity"), NAMES)
def test_a_certificate_gives_the_identity_of_the_vectors(
    authority: Authority, names: str, identity: str
) -> None:
    context = TlsContext(authority.issue(ca=authority.file), server=True)
    listening = Listening(Address.parse("tls://127.0.0.1:0"), context)
    ours, theirs = exchange(listening, Dialer(authority.issue(names, ca=authority.file)))
    assert str(theirs.identity()) == identity
    for each in (ours, theirs, listening):
        each.close()
