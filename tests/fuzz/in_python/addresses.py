"""Lists of addresses: any text is refused in words, or is the addresses that are written as it."""

from mf.transport.address import Address
from tests.fuzz.in_python.harness import Target

_SEEDS = (
    "tcp://127.0.0.1:7401",
    "tls://[::1]:65535, mf://a.example:1",
    "mf+tls://host:7400,relay://host:1,relay+tls://host:2",
    "unix:/run/a.sock",
    "unix:///run/a.sock",
    "memory:shop",
)
WORDS = (
    b"://",
    b":",
    b"[",
    b"]",
    b",",
    b"unix:",
    b"memory:",
    b"mf",
    b"+tls",
    b"\xc2\xb2",
    b"65536",
    b"-1",
    b"\0",
)


def seeds() -> list[bytes]:
    return [text.encode() for text in _SEEDS]


def refusal(data: bytes) -> str:
    text = data.decode(errors="surrogateescape")
    try:
        found = Address.parse_list(text)
    except ValueError as wrong:
        assert str(wrong)
        return str(wrong).rpartition("': ")[2]
    assert Address.parse_list(", ".join(map(str, found))) == found
    return ""


TARGET = Target("addresses", seeds, refusal, WORDS)
