"""R6. How this process talks to its controller: one connection of its own, and the words for when there is
none.
"""

import uuid

from mf.client.client import Client
from mf.controller._generated.mf.controller import ControllerClient
from mf.core.error import Error
from mf.transport.address import Address


class ControllerConnection:
    """The generated client over a connection that nobody else uses."""

    __slots__ = ("_client", "addresses", "stub")

    def __init__(self, where: str) -> None:
        self.addresses = controller_addresses(where)
        self._client = Client(over_tcp(self.addresses), dead_after=0)  # the kernel looks after it
        self.stub = ControllerClient(self._client)

    def trouble(self, error: Exception) -> str:
        return trouble_with(self.addresses, error)

    def close(self) -> None:
        self._client.close()


def controller_addresses(where: str) -> list[Address]:
    """Of one controller, or of several with commas between them. Raises ValueError for what is none."""
    parsed = Address.parse_list(where)
    for address in parsed:
        if address.scheme != "mf":
            raise ValueError(f"the controller's address starts with mf://, not {address.scheme}:")
    return parsed


def over_tcp(controllers: list[Address]) -> str:
    return ",".join(str(Address("tcp", each.host, each.port)) for each in controllers)


def trouble_with(controllers: list[Address], error: Exception) -> str:
    """What to tell a user who waits for the controller."""
    where = ", ".join(map(str, controllers))
    if isinstance(error, Error):
        why = error.message.removeprefix("gave up at the deadline: ")
        return f"the controller at {where} does not answer: {why}"
    return f"what the controller at {where} is asked fails with {type(error).__name__}: {error}"


def to_uuid(data: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=data)
