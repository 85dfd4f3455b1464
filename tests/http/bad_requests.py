"""Requests against the protocol, whole ones and altered ones, for all programs that listen for HTTP."""

import random
import socket
from collections.abc import Iterator

from tests.http.asking import Door, all_of

HEAD = b"POST /v1/shop.Clock/now HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HIDDEN = HEAD + b"Content-Length: 2\r\n\r\n{}"  # as a body of the request before it

BROKEN: dict[str, tuple[bytes, int]] = {
    "no HTTP": (b"hello\r\n\r\n", 400),
    "bytes of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "another version": (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 400),
    "no version": (b"GET /\r\n\r\n", 400),
    "a line feed within a field": (b"GET / HTTP/1.1\r\nHost: localhost\r\nA: b\nC: d\r\n\r\n", 400),
    "a field without a name": (b"GET / HTTP/1.1\r\nHost: localhost\r\n: b\r\n\r\n", 400),
    "a blank before a colon": (b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    "a zero within a field": (b"GET / HTTP/1.1\r\nHost: local\x00host\r\n\r\n", 400),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    "two lengths": (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
    "a length and chunks": (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunks and a length": (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", 400),
    "the same length twice": (HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
    "a list of lengths": (HEAD + b"Content-Length: 2, 2\r\n\r\n{}", 400),
    "a coding that is not known": (HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + HIDDEN, 501),
    "a coding before chunks": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "chunks before a coding": (HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + HIDDEN, 501),
    "chunks twice": (HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + HIDDEN, 501),
    "a negative length": (HEAD + b"Content-Length: -1\r\n\r\n", 400),
    "a length with a sign": (HEAD + b"Content-Length: +2\r\n\r\n{}", 400),
    "a length in hexadecimal digits": (HEAD + b"Content-Length: 0x2\r\n\r\n{}", 400),
    "a length beyond 64 bits": (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", 400),
    "a size of a chunk that is none": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    "an expectation that is not known": (HEAD + b"Expect: the best\r\nContent-Length: 2\r\n\r\n", 417),
    "too many bytes of fields": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 17_000 + b"\r\n\r\n",
        431,
    ),
    "fields without end": (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 4_000, 431),
    "a path without end": (b"GET /" + b"a" * 17_000, 431),
    "a folded field": (HEAD + b"A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}", 400),
    "a folded length": (HEAD + b"Content-Length:\r\n\t2\r\n\r\n{}", 400),
    "a coding on the next line": (HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400),
    "chunks of HTTP/1.0": (
        HEAD.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        400,
    ),
    "a line before a chunk without end": (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"a" * 40_000,
        431,
    ),
    "fields behind chunks without end": (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + b"A: b\r\n" * 8_000,
        431,
    ),
    "a length behind chunks": (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 40\r\n\r\n",
        400,
    ),
    "a negative size of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n", 400),
    "a size of a chunk beyond 64 bits": (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n",
        400,
    ),
    "a chunk that is longer than it says": (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n",
        400,
    ),
    "two agents": (HEAD + b"MF-Agent: books\r\nMF-Agent: maps\r\nContent-Length: 2\r\n\r\n{}", 400),
    "two deadlines": (HEAD + b"MF-Deadline: 1s\r\nMF-Deadline: 2s\r\nContent-Length: 2\r\n\r\n{}", 400),
    "two traces": (HEAD + b"traceparent: a\r\ntraceparent: b\r\nContent-Length: 2\r\n\r\n{}", 400),
    "a port that is none": (b"GET / HTTP/1.1\r\nHost: localhost:evil\r\n\r\n", 421),
    "the beginning of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "a body that is too large": (HEAD + b"Content-Length: 1048577\r\n\r\n", 413),
}
"""By name: what is sent, and the status of its answer, after which the connection ends."""

_WORDS = (
    b"\r\n",
    b"\n",
    b":",
    b" ",
    b"chunked",
    b"Content-Length: ",
    b"\x00",
    b"\xff",
    b"0\r\n\r\n",
    b"{",
    b"HTTP/1.1",
)


def altered(base: bytes, count: int) -> Iterator[bytes]:
    """A fuzzer with a fixed seed, over a whole request and pieces of it."""
    draw = random.Random(38)
    for _ in range(count):
        sent = bytearray(base)
        for _ in range(draw.randrange(1, 5)):
            at = draw.randrange(len(sent))
            match draw.randrange(4):
                case 0:
                    sent[at] = draw.randrange(256)
                case 1:
                    del sent[at : at + draw.randrange(1, 20)]
                case 2:
                    sent[at:at] = draw.choice(_WORDS)
                case _:
                    sent[at:at] = sent[draw.randrange(len(sent)) :][:30]
            sent = sent or bytearray(b"\r")
        yield bytes(sent)


def check_altered(door: Door, sent: bytes) -> None:
    """It is answered or refused, or its connection ends; it breaks nothing."""
    with door.socket() as opened:
        opened.sendall(sent)
        opened.shutdown(socket.SHUT_WR)
        answered = all_of(opened)
    assert not answered or answered.startswith(b"HTTP/1.1 "), (sent, answered)
    assert b"HTTP/1.1 500" not in answered, (sent, answered)


def check_trickle_is_ended(opened: socket.socket, pause: float) -> None:
    """A request of 10,000 fields, of which one byte comes after so many seconds, does not get to its end."""
    opened.settimeout(pause)
    for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * 10_000:
        try:
            opened.sendall(bytes([byte]))
            if not opened.recv(1):
                return
        except TimeoutError:
            continue
        except ConnectionError:
            return
    raise AssertionError("the connection was kept")
