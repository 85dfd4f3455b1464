"""R3. Where connections of asyncio lead if not to the sockets of this host: a loop may bring a network of its
own, as that of mf.testing does. Clients and servers on such a loop need not know.
"""

from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop

from mf.transport.address import Address
from mf.transport.sockets import Listening
from mf.transport.stream import Stream


class Network(ABC):
    """Streams of its descriptors are watched by the loop that brings it."""

    @abstractmethod
    async def connect(self, address: Address) -> Stream:
        """Waits as long as it takes. Raises OSError when nobody can be reached."""

    @abstractmethod
    def listen(self, address: Address) -> Listening:
        """Raises OSError if the address cannot be had."""


def network_of(loop: AbstractEventLoop) -> Network | None:
    """None: the sockets of this host."""
    network = getattr(loop, "network", None)
    return network if isinstance(network, Network) else None
