"""R3. Lets an asyncio loop replace the sockets of this host by its own network, as that of mf.testing does.
Clients and servers on such a loop do not notice.
"""

from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop

from mf.transport.address import Address
from mf.transport.sockets import Listening
from mf.transport.stream import Stream


class Network(ABC):
    """The loop that provides it watches the descriptors of its streams."""

    @abstractmethod
    async def connect(self, address: Address) -> Stream:
        """Has no time limit. Raises OSError if no server can be reached."""

    @abstractmethod
    def listen(self, address: Address) -> Listening:
        """Raises OSError if it cannot listen at the address."""


def network_of(loop: AbstractEventLoop) -> Network | None:
    """None: the sockets of this host."""
    network = getattr(loop, "network", None)
    return network if isinstance(network, Network) else None
