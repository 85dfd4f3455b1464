"""R5. The state that the connections of one server share: their limits, and counts of refused and ended ones.
Written by the reading threads; stats() may be called from any thread.

Written where connections are read; stats() may be asked from any thread.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol


@dataclass(slots=True)
class ConnectionStats:
    """The state of a server's connections, and what it has refused and ended since it was made
    (docs/limits.md)."""

    open: int = 0
    handshakes: int = 0
    """Open connections without a HELLO."""
    calls: int = 0
    """Calls that wait or run."""
    held_bytes: int = 0
    """The bytes that all connections hold together: see max_held_bytes."""
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
    cut_idle: int = 0
    """Connections that had never bound anything, and were ended to make room for others."""


class Load(Protocol):
    """The cost of one connection."""

    @property
    @abstractmethod
    def holds(self) -> int:
        """Bytes of messages that have begun to arrive, of requests that wait or run, and of replies."""

    @property
    @abstractmethod
    def in_flight(self) -> int: ...

    @property
    @abstractmethod
    def is_greeted(self) -> bool: ...


class ServerLoad:
    """See above. `connections`: the open ones."""

    __slots__ = (
        "connections",
        "counts",
        "max_connections",
        "max_connections_per_host",
        "max_handshakes",
        "max_held_bytes",
    )

    def __init__(
        self, max_connections: int, max_connections_per_host: int, max_handshakes: int, max_held_bytes: int
    ) -> None:
        self.max_connections = max_connections
        self.max_connections_per_host = max_connections_per_host
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
