"""hostile.py LISTEN CONTROLLER ATTACK: a publisher of Additions that breaks the rules, in the way that is
named (see ATTACKS), to every subscriber. Prints its address; answers each line of standard input by how many
subscriptions have begun there.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from events import AdditionsPublisher, AdditionsSubscriber, Indexed

import mf
from mf.core.error import Error
from mf.core.service import Encoded
from mf.core.source import OfferSource, Pushing, PushServant, PushSource
from mf.protocol.stream import SendWindow
from mf.topics._generated.mf.topics._methods import ANY_TOPIC_SUBSCRIBE
from mf.topics._generated.mf.topics._types import (
    DeliveryEnded,
    DeliveryMessage,
    DeliveryMissed,
    DeliverySource,
    Ended,
    Message,
    Missed,
    Source,
    Why,
)

TOPIC = AdditionsPublisher.mf_topic
FULL = 1 << 18
"""More agents than a subscriber takes."""
assert ANY_TOPIC_SUBSCRIBE.result_element is not None
ENCODE: Callable[[Any], Encoded] = ANY_TOPIC_SUBSCRIBE.result_element.encode
VALUE = bytes(TOPIC.codec.encode(Indexed(7, "seven")))
NOW = mf.Timestamp.now()
LAST = 1 << 48
"""The last number that a message may have."""
IDENTITIES: list[UUID] = []
"""Of other publishers, which it has heard."""


def source(number: int, agent: str = "bad", next_: int = 1, live: int | None = None) -> Any:
    return DeliverySource(Source(number, uuid4(), agent, next_, next_ if live is None else live, 10))


def message(number: int, sequence: int, payload: bytes = VALUE) -> Any:
    return DeliveryMessage(Message(number, sequence, NOW, payload))


def missed(number: int, first: int, how_many: int) -> Any:
    return DeliveryMissed(Missed(first, how_many, number, Why.dropped))


def repeats() -> Iterable[Any]:
    return source(0), *(message(0, sequence) for sequence in (1, 2, 2, 1, 3, 2, 4))


def skips() -> Iterable[Any]:
    return source(0), message(0, 1), message(0, 5), missed(0, 9, 2), message(0, 11)


def other_type() -> Iterable[Any]:
    return source(0), message(0, 1), message(0, 2, b"\xff"), message(0, 3, b""), message(0, 4)


def many_sources() -> Iterator[Any]:
    return (source(number, f"bad{number}") for number in range(FULL))


def long_names() -> Iterator[Any]:
    return (source(number, f"{number}".rjust(1024, "x")) for number in range(FULL))


def long_name() -> Iterable[Any]:
    longest = bytes(ENCODE(source(1, "x" * 1024)))
    longer = longest.replace(b"\x80\x08" + b"x" * 1024, b"\x81\x08" + b"x" * 1025)
    assert len(longer) == len(longest) + 1
    return source(0), message(0, 1), longer


def same_number() -> Iterable[Any]:
    return source(0), message(0, 1), source(0, "worse")


def unknown_number() -> Iterable[Any]:
    return source(0), message(0, 1), message(7, 1)


def ended_number() -> Iterable[Any]:
    return source(0), message(0, 1), DeliveryEnded(Ended(0)), message(0, 2)


def replays_backwards() -> Iterable[Any]:
    return source(0), message(0, 1), source(1, "worse", 10, 5)


def misses_nothing() -> Iterable[Any]:
    return source(0), message(0, 1), missed(0, 2, 0)


def skips_far() -> Iterable[Any]:
    return source(0), message(0, 1), message(0, 1 << 63)


def misses_too_much() -> Iterable[Any]:
    return source(0), message(0, 1), missed(0, 2, LAST)


def floods() -> Iterator[Any]:
    """Without credit: see Endless."""
    yield source(0)
    yield from (message(0, sequence, bytes(1000)) for sequence in count(1))


def floods_by_credit() -> Iterator[Any]:
    return floods()


def impersonates() -> Iterator[Any]:
    """Speaks for each publisher that was heard, with all numbers that it may come to, and one far ahead."""
    for number, identity in enumerate(IDENTITIES):
        yield DeliverySource(Source(number, identity, "good", 1, 1, 10))
        yield from (message(number, sequence) for sequence in (*range(1, 500), LAST))


ATTACKS: dict[str, Callable[[], Iterable[Any]]] = {
    each.__name__: each
    for each in (
        repeats,
        skips,
        other_type,
        many_sources,
        long_names,
        long_name,
        same_number,
        unknown_number,
        ended_number,
        replays_backwards,
        misses_nothing,
        skips_far,
        misses_too_much,
        floods,
        floods_by_credit,
        impersonates,
    )
}


class Endless(SendWindow):
    """Credit that is never used up."""

    def add(self, count: int) -> bool:  # noqa: ARG002
        return True

    def spend(self, cost: int) -> bool:  # noqa: ARG002
        return True


class Sent(PushSource):
    __slots__ = ("_deliveries",)

    def __init__(self, deliveries: Iterable[Any]) -> None:
        self._deliveries = iter(deliveries)

    def take(self) -> Encoded | Error | None:
        delivery = next(self._deliveries, None)
        return delivery if delivery is None or isinstance(delivery, bytes) else ENCODE(delivery)

    def instead(self) -> Encoded | None:
        return None

    def held_bytes(self) -> int:
        return 0

    def failure(self) -> Error | None:
        return None

    def gone(self) -> None:
        pass


class Hostile(OfferSource, PushServant):
    __slots__ = ("_attack", "subscriptions")

    def __init__(self, attack: Callable[[], Iterable[Any]]) -> None:
        self.mf_service = TOPIC.service
        self._attack = attack
        self.subscriptions = 0

    def servant(self, name: str) -> PushServant | None:
        return self if name == TOPIC.name else None

    def published(self) -> Iterable[tuple[str, str]]:
        return [(TOPIC.name, "bad")]

    def listen(self, changed: Callable[[], None]) -> None:
        pass

    def subscribe(self, push: Pushing, *arguments: Any) -> PushSource:  # noqa: ARG002
        self.subscriptions += 1
        if self._attack is floods:
            push._call.credit = Endless(1 << 60)  # type: ignore[attr-defined]
        return Sent(self._attack())


def main() -> None:
    listen, controller, attack = sys.argv[1:]
    if attack == "impersonates":
        with mf.Client(controller) as client:
            IDENTITIES.append(AdditionsSubscriber(client, "good").next(60.0).publisher)
    hostile = Hostile(ATTACKS[attack])
    server = mf.Server(listen, controller, mf.ServerOptions(drain_timeout=1.0))
    server.offer(hostile)
    server.start()
    print(server.address, flush=True)
    for _ in sys.stdin:
        print(hostile.subscriptions, flush=True)
    server.stop()


if __name__ == "__main__":
    main()
