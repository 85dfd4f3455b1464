"""R3. Addresses of servers and controllers, as users write them.

mf://host:port    a controller: services are looked up there; mf+tls:// the same over TLS
relay://host:port a relay: services are looked up and reached through it; relay+tls:// the same over TLS
tcp://host:port   one server, without a controller; IPv6 hosts in brackets
tls://host:port   the same over TLS
unix:/path        one server on this host
memory:name       one server in this process, for tests

Pure text: nothing is resolved here.
"""

import os
import re
import socket
from typing import NoReturn

_UNIX = "unix:"
_MEMORY = "memory:"
_LONGEST_PATH = 107  # bytes of sun_path, without the zero byte
_LONGEST_HOST = 253
_SCHEME = re.compile(r"[A-Za-z0-9+.-]+")
_HOST = re.compile(r"[A-Za-z0-9._-]+")
_PARTS = re.compile(r"[^.]{1,63}(\.[^.]{1,63})*\.?")  # of a host, as the resolver demands them


class Address:
    """A parsed address. Equal when scheme, host and port are."""

    __slots__ = ("host", "port", "scheme")

    def __init__(self, scheme: str, host: str, port: int = 0) -> None:
        self.scheme = scheme
        self.host = host
        """Of scheme unix: the path, of memory: the name."""
        self.port = port

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Raises ValueError, which says what is wrong and shows the expected form."""
        if text.startswith(_UNIX):
            return cls("unix", _path(text))
        if text.startswith(_MEMORY):
            return cls("memory", _name(text))
        scheme, separator, rest = text.partition("://")
        if not separator or not scheme:
            _refuse(text, "no scheme")
        if not _SCHEME.fullmatch(scheme):
            _refuse(text, "a scheme has only letters, digits, '+', '-' and '.'")
        host, colon, port = rest.rpartition(":")
        if not colon:
            _refuse(text, "no port")
        if len(host) > 1 and host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
            _check_ipv6(text, host)
        else:
            _check_host(text, host)
        if not (port.isascii() and port.isdigit()) or int(port) > 65535:
            _refuse(text, "the port is not a number from 0 to 65535")
        return cls(scheme, host, int(port))

    @classmethod
    def parse_list(cls, text: str) -> list["Address"]:
        """Parses several, separated by commas."""
        return [cls.parse(one.strip()) for one in text.split(",")]

    @property
    def server(self) -> "Address":
        """The server's address behind that of a controller or relay."""
        return Address("tls" if self.scheme.endswith("+tls") else "tcp", self.host, self.port)

    @property
    def local(self) -> bool:
        """Whether it is a path on this host."""
        return self.scheme == "unix"

    @property
    def in_memory(self) -> bool:
        """Whether it is a place in this process."""
        return self.scheme == "memory"

    @property
    def is_beyond_host(self) -> bool:
        """Whether programs of other hosts can reach it."""
        if self.local or self.in_memory or self.host in ("localhost", "::1"):
            return False
        try:
            return socket.inet_pton(socket.AF_INET, self.host)[0] != 127
        except OSError:  # a name, which leads anywhere
            return True

    def __str__(self) -> str:
        if self.local:
            return _UNIX + self.host
        if self.in_memory:
            return _MEMORY + self.host
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.scheme, self.host, self.port))


def _check_host(text: str, host: str) -> None:
    if not host:
        _refuse(text, "no host")
    if "[" in host or "]" in host:
        _refuse(text, "a bracket in the host")
    if ":" in host:
        _refuse(text, "an IPv6 host is written in brackets")
    if not _HOST.fullmatch(host):
        _refuse(text, "a host has only letters, digits, '.', '-' and '_'")
    if not _PARTS.fullmatch(host) or len(host.removesuffix(".")) > _LONGEST_HOST:
        _refuse(text, f"a host has at most {_LONGEST_HOST} characters, and from 1 to 63 between two dots")


def _check_ipv6(text: str, host: str) -> None:
    """An IPv6 address, with a zone or without."""
    number, percent, zone = host.partition("%")
    try:
        socket.inet_pton(socket.AF_INET6, number)
    except (OSError, ValueError):
        _refuse(text, "brackets enclose an IPv6 address")
    if percent and not _HOST.fullmatch(zone):
        _refuse(text, "the zone behind '%' is no name of a network")


def _name(text: str) -> str:
    name = text.removeprefix(_MEMORY)
    if not name or name.startswith("/"):
        _refuse(text, "a place in memory has a name, as in memory:shop")
    if "\0" in name:
        _refuse(text, "there is a zero byte in the name")
    return name


def _path(text: str) -> str:
    path = text.removeprefix(_UNIX)
    path = path[2:] if path.startswith("//") else path
    if not path.startswith("/"):
        _refuse(text, "the path of a unix socket begins with '/'")
    path = "/" + path.lstrip("/")  # for the system "//a" is "/a", but "unix://a" is no address
    size = len(os.fsencode(path))
    if size > _LONGEST_PATH:
        why = f"the path of a unix socket has at most {_LONGEST_PATH} bytes, this one has {size}"
        _refuse(text, why)
    if "\0" in path:
        _refuse(text, "there is a zero byte in the path")
    return path


def _refuse(text: str, why: str) -> NoReturn:
    expected = "scheme://host:port, for example mf://localhost:7400 or tcp://127.0.0.1:7401, or unix:/path"
    raise ValueError(f"address '{text[:200]}': {why}; expected {expected}")
