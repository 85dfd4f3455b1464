"""Valid addresses, and the messages for invalid ones."""

import pytest

from mf.transport.address import Address

LONGEST = "unix:/" + "x" * 106


@pytest.mark.parametrize(
    "text", ["tcp://localhost:1", "tcp://[::1]:65535", "mf://a.example:1", "unix:/run/s", LONGEST]
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
        ("tcp://[[::1]]:5", "a bracket in the host"),
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

    assert f"address '{text}': {why}; expected " in str(raised.value)
