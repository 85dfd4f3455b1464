"""Valid addresses, and the messages for invalid ones."""

import pytest

from mf.transport.address import Address

LONGEST = "unix:/" + "x" * 106
LABEL = "a" * 63
NO_HOST = "a host has only letters, digits, '.', '-' and '_'"
NO_PARTS = "a host has at most 253 characters, and from 1 to 63 between two dots"
NO_IPV6 = "brackets enclose an IPv6 address"


@pytest.mark.parametrize(
    "text",
    [
        "tcp://localhost:1",
        "tcp://[::1]:65535",
        "tcp://[fe80::1%eth0]:9",
        "mf://a.example:1",
        "tls://a-b_c.Example.:1",
        f"tcp://{LABEL}.{LABEL}:1",
        "unix:/run/s",
        LONGEST,
    ],
)
def test_addresses_read_and_write_alike(text: str) -> None:
    assert str(Address.parse(text)) == text


def test_a_path_is_a_unix_socket() -> None:
    address = Address.parse("unix:///run/index.sock")

    assert (address.scheme, address.host, address.local) == ("unix", "/run/index.sock", True)
    assert address == Address.parse("unix:/run/index.sock") == Address.parse("unix:////run/index.sock")
    assert not Address.parse("tcp://h:1").local


def test_several_have_commas_between_them() -> None:
    assert list(map(str, Address.parse_list("tcp://h:1, unix:/s"))) == ["tcp://h:1", "unix:/s"]
    for text in ("tcp://h:1,", ""):
        with pytest.raises(ValueError, match="no scheme"):
            Address.parse_list(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no scheme"),
        ("localhost:1", "no scheme"),
        ("tcp://localhost", "no port"),
        ("tcp://:1", "no host"),
        ("tcp://h:x", "the port is not a number from 0 to 65535"),
        ("tcp://h:65536", "the port is not a number from 0 to 65535"),
        ("tcp://::1:5", "an IPv6 host is written in brackets"),
        ("tcp://[[::1]]:5", NO_IPV6),
        ("tcp://a[::1]:5", "a bracket in the host"),
        ("tls://127.0.0.1\0.example:1", NO_HOST),
        ("tls://127.0.0.1\n.example:1", NO_HOST),
        ("tls://evil.example/x.example:1", NO_HOST),
        ("tls://user@127.0.0.1#.example:1", NO_HOST),
        ("tls://evil.example:80,tls://x.example:1", "an IPv6 host is written in brackets"),
        ("tls://a b:1", NO_HOST),
        ("tls://é.example:1", NO_HOST),
        ("tls://h\n:1", NO_HOST),
        ("tls://[localhost]:1", NO_IPV6),
        ("tls://[::1\0]:1", NO_IPV6),
        ("tls://[::1%]:1", "the zone behind '%' is no name of a network"),
        ("tls://[::1%a/b]:1", "the zone behind '%' is no name of a network"),
        ("tls://a..example:1", NO_PARTS),
        ("tls://.example:1", NO_PARTS),
        ("tls://.:1", NO_PARTS),
        (f"tls://a{LABEL}:1", NO_PARTS),
        ("tls://" + ".".join([LABEL] * 4) + ":1", NO_PARTS),
        ("t\nls://h:1", "a scheme has only letters, digits, '+', '-' and '.'"),
        ("memory:a\0b", "there is a zero byte in the name"),
        ("unix:", "the path of a unix socket begins with '/'"),
        ("unix:index.sock", "the path of a unix socket begins with '/'"),
        (LONGEST + "x", "the path of a unix socket has at most 107 bytes, this one has 108"),
        ("unix:/" + "é" * 54, "the path of a unix socket has at most 107 bytes, this one has 109"),
        ("unix:/a\0b", "there is a zero byte in the path"),
    ],
)
def test_a_malformed_address_is_refused_with_an_example(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="expected scheme://host:port, for example") as raised:
        Address.parse(text)

    assert f"address '{text[:200]}': {why}; expected " in str(raised.value)
