"""Peers that use another protocol are recognised by their first four bytes."""

import pytest

from mf.protocol import frame
from mf.protocol.foreign import looks_like
from mf.protocol.handshake import Hello


@pytest.mark.parametrize("verb", ["GET ", "POST", "HEAD", "PUT ", "DELE", "OPTI", "CONN", "PRI ", "HTTP"])
def test_four_bytes_of_http_are_enough(verb: str) -> None:
    assert looks_like(verb.encode()) == "HTTP"
    assert looks_like(verb[:3].encode()) == ""
    assert looks_like(verb.lower().encode()) == ""


@pytest.mark.parametrize(
    ("first", "what"),
    [
        ((0x16, 3, 0, 2), "TLS"),
        ((0x16, 3, 4, 2), "TLS"),
        ((0x15, 3, 3, 0), "TLS"),
        ((0x16, 3, 1), ""),
        ((0x14, 3, 1, 2), ""),
        ((0x17, 3, 1, 2), ""),
        ((0x16, 2, 1, 2), ""),
        ((0x16, 4, 1, 2), ""),
        ((0x16, 3, 5, 2), ""),
    ],
)
def test_a_handshake_or_an_alert_of_any_version_is_tls(first: tuple[int, ...], what: str) -> None:
    assert looks_like(bytes(first)) == what


def test_a_hello_looks_like_mf_and_its_begin_like_nothing_yet() -> None:
    hello = frame.pack(frame.HELLO, Hello(nonce=bytes(16)).pack())

    assert looks_like(hello) == "MF"
    assert {looks_like(hello[:size]) for size in range(frame.HEADER_SIZE + 1)} == {""}
    assert looks_like(b"SSH-2.0-OpenSSH") == ""
