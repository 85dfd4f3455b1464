"""R6. A message as a subscriber receives it."""

from copy import deepcopy
from typing import Generic, TypeVar, cast
from uuid import UUID

from mf.codec.times import Timestamp
from mf.topics.item import Item

T = TypeVar("T")


class TopicMessage(Generic[T]):
    """All subscribers in the process share `value`, so it must not be changed; `mutate()` returns a copy that
    may be. `missed`: how many messages of this publisher and agent were missed just before this one.

    Subscriptions make it of an `item` of their queue.
    """

    __slots__ = ("_item", "missed")

    def __init__(self, item: Item, missed: int) -> None:
        self._item = item
        self.missed = missed

    @property
    def value(self) -> T:
        """The value, decoded on first use. Raises Error(DECODE_ERROR) if a publisher in another process sent
        bytes that are no value of the schema."""
        return cast(T, self._item.value())

    def mutate(self) -> T:
        """A deep copy, which may be changed."""
        value = cast(T, self._item.value())
        self._item.origin.counters.count_copy()
        return deepcopy(value)

    @property
    def topic(self) -> str:
        """The full name of its topic."""
        return self._item.origin.topic.name

    @property
    def agent(self) -> str:
        """The agent as text: for a member of an enum its name."""
        return self._item.origin.shown

    @property
    def sequence(self) -> int:
        """The number of this message among those of its publisher and agent; the first has 1."""
        return self._item.sequence

    @property
    def publisher(self) -> UUID:
        """Identifies the publishing process; it changes when that process is restarted."""
        return self._item.origin.publisher

    @property
    def time(self) -> Timestamp:
        """The time of publication by the publisher's clock."""
        return self._item.time

    def __repr__(self) -> str:
        where = f"{self.topic} {self.agent}".rstrip()
        return f"TopicMessage({where}, {self.sequence})"
