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
        self.address = controller_address(where)
        self._client = Client(over_tcp(self.address))
        self.stub = ControllerClient(self._client)

    def trouble(self, error: Exception) -> str:
        return trouble_with(self.address, error)

    def close(self) -> None:
        self._client.close()


def controller_address(where: str) -> Address:
    """Raises ValueError for what is no address of a controller."""
    parsed = Address.parse(where)
    if parsed.scheme != "mf":
        raise ValueError(f"the controller's address starts with mf://, not {parsed.scheme}:")
    return parsed


def over_tcp(controller: Address) -> str:
    return str(Address("tcp", controller.host, controller.port))


def trouble_with(controller: Address, error: Exception) -> str:
    """What to tell a user who waits for the controller."""
    if isinstance(error, Error):
        return f"controller {controller} does not answer: {error.message}"
    return f"what controller {controller} is asked fails with {type(error).__name__}: {error}"


def to_uuid(data: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=data)
