"""R5. What the connections of one server share: their limits, and counts of what was refused and ended.

Written where connections are read; stats() may be asked from any thread.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol


@dataclass(slots=True)
class ConnectionStats:
    """How the connections of a server stand, and what it has refused and ended since it was made
    (docs/limits.md)."""

    open: int = 0
    handshakes: int = 0
    """Of the connections, those whose HELLO has not come."""
    calls: int = 0
    """Calls that wait or run."""
    held_bytes: int = 0
    """What all connections hold together: see max_held_bytes."""
    accepted: int = 0
    """Connections, refused ones not counted."""
    refused: int = 0
    """Connections above max_connections."""
    turned_away: int = 0
    """Connections for which there was no descriptor."""
    cut_handshakes: int = 0
    """Connections that were ended: no HELLO in time, or too many without one."""
    cut_progress: int = 0
    cut_memory: int = 0
    cut_protocol: int = 0


class Load(Protocol):
    """What one connection costs."""

    @property
    @abstractmethod
    def holds(self) -> int:
        """Bytes of messages that have begun to come, of requests that wait or run, and of replies."""

    @property
    @abstractmethod
    def in_flight(self) -> int: ...

    @property
    @abstractmethod
    def is_greeted(self) -> bool: ...


class ServerLoad:
    """See above. `connections`: those that are open."""

    __slots__ = ("connections", "counts", "max_connections", "max_handshakes", "max_held_bytes")

    def __init__(self, max_connections: int, max_handshakes: int, max_held_bytes: int) -> None:
        self.max_connections = max_connections
        self.max_handshakes = max_handshakes
        self.max_held_bytes = max_held_bytes
        self.connections: Mapping[int, Load] = {}
        self.counts = ConnectionStats()

    def stats(self) -> ConnectionStats:
        connections = list(self.connections.values())
        return replace(
            self.counts,
            open=len(connections),
            handshakes=sum(not each.is_greeted for each in connections),
            calls=sum(each.in_flight for each in connections),
            held_bytes=sum(each.holds for each in connections),
        )
