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

    __slots__ = ("_client", "address", "stub")

    def __init__(self, where: str) -> None:
        parsed = Address.parse(where)
        if parsed.scheme != "mf":
            raise ValueError(f"the controller's address starts with mf://, not {parsed.scheme}:")
        self.address = parsed
        self._client = Client(str(Address("tcp", parsed.host, parsed.port)))
        self.stub = ControllerClient(self._client)

    def trouble(self, error: Error) -> str:
        """What to tell a user who waits for the controller."""
        return f"controller {self.address} does not answer: {error.message}"

    def close(self) -> None:
        self._client.close()


def to_uuid(data: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=data)
