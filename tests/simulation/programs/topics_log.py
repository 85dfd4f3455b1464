"""What happened in a run of topics: what each publisher published, and what each subscriber was given."""

from dataclasses import dataclass, field
from uuid import UUID

from log import Log
from topics_plan import Reading

import mf

Source = tuple[int, str, str]
"""A run of a publisher's program, a topic and an agent."""


@dataclass
class Sent:
    """One message that was published. `number`: its value's. `began`: when publish() was called."""

    number: int
    began: float
    ended: float


@dataclass
class Publishing:
    """One run of a publisher's program."""

    run: int
    host: str
    alive: bool = True
    """Not killed, and not stopped, until the end of the run."""
    failed: list[tuple[Source, int, str]] = field(default_factory=list)
    """Values that publish() raised for, and what."""
    stats: dict[str, list[mf.SubscriptionStats]] = field(default_factory=dict)
    """At the end, by topic."""


@dataclass
class Event:
    """`count` messages from `first` on: one that was taken, with the number of its value, or missed ones."""

    source: Source
    first: int
    count: int
    when: float
    published: int
    """How many there were then."""
    why: mf.Why | None = None
    number: int = 0
    missed: int = 0
    """As the message says."""


@dataclass
class Read:
    """What a subscriber has seen."""

    name: str
    plan: Reading
    local: bool = False
    began: float | None = None
    events: list[Event] = field(default_factory=list)
    end: object = None
    """What has ended it, other than close()."""
    closed: bool = False
    """By itself, by its client, or with its publisher's process."""
    stats: mf.SubscriberStats | None = None
    """At the end."""

    def next_of(self, source: Source) -> int | None:
        """The number that follows what has come; None: nothing has."""
        for event in reversed(self.events):
            if event.source == source:
                return event.first + event.count
        return None

    @property
    def lives(self) -> bool:
        return self.began is not None and self.end is None and not self.closed


@dataclass
class TopicsLog(Log):
    publishers: dict[UUID, Publishing] = field(default_factory=dict)
    sent: dict[Source, list[Sent]] = field(default_factory=dict)
    """The message with the number n is at n - 1."""
    reads: list[Read] = field(default_factory=list)
    patience: float | None = None
    """How late a message may be whose publisher and subscriber have no trouble; None: all have."""
    troubled: set[str] = field(default_factory=set)
    """Hosts that faults are about."""

    def process(self, run: int) -> Publishing:
        return next(each for each in self.publishers.values() if each.run == run)
