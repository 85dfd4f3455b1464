"""R3. Addresses: `tcp://host:port`, `mf://host:port` (a controller), IPv6 hosts in brackets."""


class Address:
    """A parsed address. Equal when scheme, host and port are."""

    __slots__ = ("host", "port", "scheme")

    def __init__(self, scheme: str, host: str, port: int) -> None:
        self.scheme = scheme
        self.host = host
        self.port = port

    @classmethod
    def parse(cls, text: str, schemes: tuple[str, ...] = ("tcp",)) -> "Address":
        """Raises ValueError with an example of what is right."""
        scheme, separator, rest = text.partition("://")
        host, colon, port = rest.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            colon = ""
        well_formed = separator and colon and host and port.isascii() and port.isdigit()
        if not well_formed or scheme not in schemes or int(port) > 65535:
            examples = " or ".join(f"{scheme}://localhost:7400" for scheme in schemes)
            raise ValueError(f"address {text!r}: write it like {examples}")
        return cls(scheme, host, int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.scheme, self.host, self.port))
