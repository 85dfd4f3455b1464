"""Addresses as the commands take them: one, or several of a kind with commas between them."""

from typing import NamedTuple

from mf_tools.guard import USAGE, CommandError

SCHEMES = ("mf", "mf+tls", "relay", "relay+tls", "tcp", "tls", "unix")
_FORMS = "mf://host:port, mf+tls://, relay://, relay+tls://, tcp://, tls://, or unix:/path"


class Address(NamedTuple):
    """`host` of a unix socket: its path."""

    scheme: str
    host: str
    port: int

    @property
    def over_tls(self) -> bool:
        return self.scheme.endswith("tls")

    def __str__(self) -> str:
        if self.scheme == "unix":
            return f"unix:{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def check_no_secret(text: str) -> None:
    """Ends the command, without the text, for an address with a user or a password."""
    if "@" in text and not text.startswith("unix:"):
        raise CommandError(
            "an address has neither a user nor a password: a context has files with them (mf context add)",
            USAGE,
        )


def parsed(text: str) -> list[Address]:
    """Ends the command for what is no address."""
    check_no_secret(text)
    return [_one(each.strip()) for each in text.split(",")]


def _one(text: str) -> Address:
    if text.startswith("unix:"):
        path = text.removeprefix("unix:").removeprefix("//")
        if not path.startswith("/"):
            raise CommandError(
                f"'{text}' is no address: the path of a unix socket begins with a slash", USAGE
            )
        return Address("unix", path, 0)
    scheme, slashes, rest = text.partition("://")
    host, colon, port = rest.rpartition(":")
    if scheme in ("http", "https"):
        raise CommandError(
            f"'{text}' is for curl and browsers: give the relay's or server's own address, one of {_FORMS}",
            USAGE,
        )
    if not slashes or scheme not in SCHEMES:
        raise CommandError(f"'{text}' is no address: it is one of {_FORMS}", USAGE)
    if not colon or not host or not port.isascii() or not port.isdecimal() or not 0 < int(port[:9]) < 65_536:
        raise CommandError(f"'{text}' is no address: it ends with :port, a number from 1 to 65535", USAGE)
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise CommandError(f"'{text}' is no address: an IPv6 host is written in brackets", USAGE)
    return Address(scheme, host.strip("[]"), int(port))
