"""R5. Counts of the calls of each method."""

from dataclasses import dataclass, field
from threading import Lock

from mf.server.load import ConnectionStats


@dataclass(frozen=True, slots=True)
class MethodStats:
    """Since the server was made; each item of a batch counts. `executed`: handlers were started. `refused`:
    as OVERLOADED, by a limit of the method or of the server. `expired`: deadlines passed before they could
    run. `dropped`: one-way calls that a limit refused, without an answer. `running` and `waiting`: the
    current messages of a method that has a limit of its own.
    """

    service: str
    agent: str
    method: str
    executed: int
    refused: int
    expired: int
    dropped: int
    running: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ServerStats:
    """The sums of all methods. `running` and `waiting`: of methods with a limit."""

    executed: int
    refused: int
    expired: int
    dropped: int
    running: int
    waiting: int
    methods: list[MethodStats] = field(default_factory=list)
    connections: ConnectionStats = field(default_factory=ConnectionStats)


class Counters:
    """The counts of one method of one offer. Thread-safe."""

    __slots__ = ("_logged", "_logged_at", "dropped", "executed", "expired", "lock", "refused")

    def __init__(self) -> None:
        self.lock = Lock()
        self.executed = 0
        self.refused = 0
        self.expired = 0
        self.dropped = 0
        self._logged = 0
        self._logged_at: float | None = None

    def on_executed(self, calls: int) -> None:
        with self.lock:
            self.executed += calls

    def on_refused(self, calls: int) -> None:
        with self.lock:
            self.refused += calls

    def on_expired(self, calls: int) -> None:
        with self.lock:
            self.expired += calls

    def on_dropped(self, calls: int, now: float) -> int:
        """How many dropped calls are not logged yet, if a line is due now: the first at once, then once a
        second; otherwise 0."""
        with self.lock:
            self.dropped += calls
            if self._logged_at is not None and now - self._logged_at < 1.0:
                return 0
            self._logged_at = now
            news, self._logged = self.dropped - self._logged, self.dropped
            return news
