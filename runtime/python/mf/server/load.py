"""R5. The state that the connections of one server share: their limits, and counts of refused and ended ones.

Written where connections are read; stats() may be asked from any thread.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

_MOST_SHOWN = 10


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
    peers: tuple["PeerLoad", ...] = ()
    """The ten peers that hold the most."""


class PeerLoad(NamedTuple):
    """What the connections of one peer use. `peer`: its identity, or its host if it has shown none."""

    peer: str
    connections: int
    calls: int
    streams: int
    held_bytes: int


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

    @property
    @abstractmethod
    def streams(self) -> int: ...

    @property
    @abstractmethod
    def account(self) -> str: ...


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

    @property
    def is_scarce(self) -> bool:
        """Whether less than an eighth of the memory is left, so that only connections that hold little may
        begin more."""
        return self.counts.held_bytes > self.max_held_bytes - self.max_held_bytes // 8

    def stats(self) -> ConnectionStats:
        connections = list(self.connections.values())
        peers: dict[str, PeerLoad] = {}
        for each in connections:
            own = peers.get(each.account, PeerLoad(each.account, 0, 0, 0, 0))
            peers[each.account] = PeerLoad(
                own.peer,
                own.connections + 1,
                own.calls + each.in_flight,
                own.streams + each.streams,
                own.held_bytes + each.holds,
            )
        greatest = sorted(peers.values(), key=lambda each: each.held_bytes, reverse=True)[:_MOST_SHOWN]
        return replace(
            self.counts,
            open=len(connections),
            handshakes=sum(not each.is_greeted for each in connections),
            calls=sum(each.in_flight for each in connections),
            held_bytes=sum(each.holds for each in connections),
            peers=tuple(greatest),
        )
