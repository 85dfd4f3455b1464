"""R6. The sources that one stream has announced, by their numbers, and what a publisher may say of them: one
that breaks these rules is taken as hostile, and its stream ends."""

from typing import NamedTuple

from mf.core.error import Code, Error, Execution
from mf.topics._generated.mf.topics._types import Missed
from mf.topics._generated.mf.topics._types import Source as Announcement
from mf.topics.channel import LONGEST_AGENT
from mf.topics.source import Source

_MOST_SOURCES = 1 << 16
_MOST_NAMES = 8 << 20
"""The most sources of one stream, and the most characters of their agents."""
_MOST_ANNOUNCED = 1 << 20
"""The most sources in the life of one stream, most of which have ended; then it begins anew."""
_LAST_NUMBER = 1 << 48
"""The last number of a message: a million a second for nine years."""


def _broken(what: str) -> Error:
    return Error(Code.PROTOCOL_ERROR, f"a publisher {what}", Execution.UNKNOWN)


def check_number(number: int) -> None:
    if not 0 < number <= _LAST_NUMBER:
        raise _broken(f"counts to {number}: messages are numbered from 1 to {_LAST_NUMBER}")


def check_missed(missed: Missed) -> None:
    check_number(missed.first)
    if not 0 < missed.count <= _LAST_NUMBER - missed.first:
        raise _broken(f"says that {missed.count} messages from {missed.first} on are missed")


class Announced(NamedTuple):
    """`source`: None if another stream has its publisher."""

    agent: str
    source: Source | None


class AnnouncedSources:
    """The sources of one stream, by their numbers; None: it has ended."""

    __slots__ = ("_live", "_names", "all")

    def __init__(self) -> None:
        self.all: list[Announced | None] = []
        self._live = 0  # that have not ended
        self._names = 0  # characters of their agents

    def check(self, source: Announcement) -> None:
        """Raises PROTOCOL_ERROR for one that cannot follow."""
        if source.source != len(self.all):
            raise _broken(f"sent source {source.source} where {len(self.all)} follows")
        check_number(source.next)
        check_number(source.live)
        if source.live < source.next:
            raise _broken(f"replays from message {source.next} to {source.live}")
        if len(source.agent.encode()) > LONGEST_AGENT:
            raise _broken(f"names an agent of {len(source.agent.encode())} bytes, of at most {LONGEST_AGENT}")
        self._live += 1
        self._names += len(source.agent)
        many = self._live > _MOST_SOURCES or len(self.all) >= _MOST_ANNOUNCED
        if many or self._names > _MOST_NAMES:
            text = f"has more than {_MOST_SOURCES} agents, or more than {_MOST_NAMES} bytes of their names"
            raise _broken(f"{text}, in one subscription")

    def owned(self) -> list[Source]:
        return [each.source for each in self.all if each is not None and each.source is not None]

    def end(self, number: int) -> None:
        self._live -= 1
        self._names -= len(self.find(number).agent)
        self.all[number] = None

    def find(self, number: int) -> Announced:
        if number >= len(self.all):
            raise _broken(f"sent a message of source {number}, of which it has {len(self.all)}")
        found = self.all[number]
        if found is None:
            raise _broken(f"sent a message of source {number}, which it has ended")
        return found
