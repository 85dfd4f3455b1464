"""One message: made at most once, under a lock of its own."""

import threading
from typing import Any
from uuid import uuid4

from mf.codec.times import Timestamp
from mf.topics.item import Counters, Item, Origin


class Codec:
    """A codec that uses another item, as a codec of a user may."""

    def __init__(self) -> None:
        self.other: Item | None = None
        self.encoded = 0

    def encode(self, value: Any) -> bytes:
        self.encoded += 1
        other, self.other = self.other, None
        return bytes(value) + (b"" if other is None else other.payload())


class Topic:
    name = "a.T"
    agent = None

    def __init__(self) -> None:
        self.codec = Codec()


def test_a_codec_may_use_another_message_of_the_hub() -> None:
    topic: Any = Topic()
    origin = Origin(topic, "", uuid4(), Counters())
    one, two = (Item(origin, Timestamp(0), value=value) for value in (b"one", b"two"))
    topic.codec.other = two
    results: list[bytes] = []
    threads = [threading.Thread(target=lambda: results.append(one.payload())) for _ in range(3)]
    for thread in threads:
        thread.daemon = True
        thread.start()
    for thread in threads:
        thread.join(20)
    assert results == [b"onetwo"] * 3
    assert topic.codec.encoded == origin.counters.encoded == 2
