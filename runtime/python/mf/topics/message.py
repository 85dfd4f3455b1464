"""R6. A message as a subscriber has it."""

from copy import deepcopy
from typing import Generic, TypeVar, cast
from uuid import UUID

from mf.codec.times import Timestamp
from mf.topics.item import Item

T = TypeVar("T")


class TopicMessage(Generic[T]):
    """`value` is what all in the process share who have this message: it is not to be changed. `mutate()`
    gives a copy of one's own. `missed`: so many messages of this publisher and agent, just before this one,
    did not come.
    """

    __slots__ = ("_item", "missed")

    def __init__(self, item: Item, missed: int) -> None:
        self._item = item
        self.missed = missed

    @property
    def value(self) -> T:
        """Decoded when it is first asked for. Raises Error(DECODE_ERROR) for bytes of a publisher elsewhere
        that are no value of the schema."""
        return cast(T, self._item.value())

    def mutate(self) -> T:
        """A deep copy, which may be changed."""
        value = cast(T, self._item.value())
        self._item.origin.counters.count_copy()
        return deepcopy(value)

    @property
    def topic(self) -> str:
        return self._item.origin.topic.name

    @property
    def agent(self) -> str:
        """As it travels: of a member of an enum the number."""
        return self._item.origin.agent

    @property
    def sequence(self) -> int:
        """Counts the messages of its publisher and agent, from 1 on."""
        return self._item.sequence

    @property
    def publisher(self) -> UUID:
        """Another one for each process, whenever it starts anew."""
        return self._item.origin.publisher

    @property
    def time(self) -> Timestamp:
        """When it was published, by the clock of its publisher."""
        return self._item.time

    def __repr__(self) -> str:
        where = f"{self.topic} {self.agent}".rstrip()
        return f"TopicMessage({where}, {self.sequence})"
