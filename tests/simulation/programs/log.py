"""What happened in a run, in order: what handlers ran, and how calls, items and streams ended at their
callers. The rules (rules.py) are about nothing else.
"""

from dataclasses import dataclass, field

import mf


@dataclass
class Run:
    """One run of a handler."""

    call: int
    method: str
    host: str
    connection: str
    began: float
    ended: float | None = None
    order: tuple[int, str, int] | None = None  # of a one-way call: client, place, number


@dataclass
class Asked:
    """A call, an item of a batch, a part of a scatter or a stream, as its caller sees it."""

    call: int
    method: str
    client: str
    began: float
    limit: float
    """When it has to have ended: its deadline, or when it is given up."""
    refuse: bool = False
    size: int = 0
    gives_up: bool = False
    ends: list[tuple[float, object]] = field(default_factory=list)
    """When, and with what: a value, an exception, or None for a caller that gave it up."""
    values: list[int] = field(default_factory=list)
    """What a stream gave."""
    after_end: list[object] = field(default_factory=list)
    """What came behind a stream's end."""
    asked_at: int = 0
    """How much had happened before: the number of the log's lines."""
    ended_at: int = 0


Listed = frozenset[tuple[str, str]]
"""Agents with addresses of theirs."""


@dataclass
class Seen:
    """What a client has of the servers, when it has nothing but what the controller sends."""

    run: int
    revision: int
    listed: Listed


@dataclass
class Led:
    """The lead of a place, as the process has it that asked for it."""

    place: str
    host: str
    epoch: int


@dataclass
class Log:
    runs: list[Run] = field(default_factory=list)
    asked: dict[int, Asked] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    """All of it in words: a run that is repeated has the same."""
    left: list[Run] = field(default_factory=list)
    """Handlers that run when no call is under way any more, before their servers are stopped."""
    directory: dict[tuple[int, int], Listed] = field(default_factory=dict)
    """What the controller lists, by run and revision."""
    seen: list[Seen] = field(default_factory=list)
    leads: list[Led] = field(default_factory=list)
    """In the order in which their processes learned of them."""
    troubles: list[str] = field(default_factory=list)
    """What the run itself found wrong."""

    def write(self, now: float, text: str) -> None:
        self.lines.append(f"{now:.6f} {text}")

    def end(self, asked: Asked, now: float, end: object) -> None:
        asked.ends.append((now, end))
        asked.ended_at = len(self.lines)
        shown = f"{end.code.name} {end.execution.name}" if isinstance(end, mf.Error) else repr(end)
        self.write(now, f"{asked.client} {asked.method} {asked.call} ended: {shown}")
