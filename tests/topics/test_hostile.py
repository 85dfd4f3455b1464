"""Attacks on topics by subscribers, at publishers of both languages and at relays: each is bounded or refused
in words, and an innocent subscriber beside the attacker loses nothing.
"""

import struct
from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from mf.core.error import Code
from mf.protocol import frame
from mf.protocol.handshake import pack_bind
from mf.topics._generated.mf.topics._methods import ANY_TOPIC_SUBSCRIBE
from mf.topics._generated.mf.topics._types import Overflow, Subscription
from tests.hostile.attacker import Attacker, Peer, request
from tests.interop.peers import Server
from tests.topics.conftest import Program, Programs

MIB = 1 << 20
VICTIMS = ("python", "cpp", "relay")
MOST_STREAMS = 256  # that a server takes on a connection


class Field:
    """What is attacked, and the innocent peers that must not suffer from it."""

    def __init__(self, programs: Programs, victim: str) -> None:
        controller = programs.controller()
        self.publisher = programs.publisher("cpp" if victim == "relay" else victim, controller.address)
        self.publisher.ask("publish books 0 1 10")
        self.victim: Server | Program = self.publisher
        address = self.publisher.address
        if victim == "relay":
            self.victim = programs.relay(controller.address)
            address = self.victim.address
        self.innocent = programs.subscriber("cpp", address, "Additions", "*", "block", 100)
        assert self.innocent.ask("account 1")["received"] == 1
        self.published = 1
        self.attacker = Attacker(address)
        asks = Attacker(self.publisher.address)
        self._fingerprint = asks.fingerprint("events.Additions")
        asks.close()

    def bound(self) -> Peer:
        peer = self.attacker.greet()
        bind = pack_bind(self._fingerprint, "events.Additions", "", ("topic.subscribe",))
        peer.send(frame.pack(frame.BIND, bind))
        assert peer.next(frame.BOUND)[0] == 0
        return peer

    def publish(self, count: int, size: int) -> None:
        """The innocent one gets it all."""
        self.publisher.begin(f"publish books {self.published} {count} {size}")
        self.published += count
        assert self.innocent.ask(f"account {self.published}") == {
            "received": self.published,
            "missed": 0,
            "in_order": True,
        }
        assert self.publisher.end() == count

    def memory_peak(self) -> int:
        if isinstance(self.victim, Program):
            return int(self.victim.ask("memory"))
        return self.victim.memory_peak()


@pytest.fixture(params=VICTIMS)
def victim(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def field(victim: str, programs: Programs) -> Iterator[Field]:
    made = Field(programs, victim)
    yield made
    made.attacker.close()


def subscribe(
    agents: str = "*",
    overflow: Overflow = Overflow.drop_oldest,
    id_: int = 1,
    path: tuple[UUID, ...] = (),
) -> bytes:
    what = Subscription(agents=agents, overflow=overflow, max_bytes=MIB, path=list(path))
    payload = bytes(ANY_TOPIC_SUBSCRIBE.encode_request(what))
    return request(payload, id_=id_, flags=2 | frame.STREAM)


def credit(count: int, id_: int = 1) -> bytes:
    return frame.pack(frame.CREDIT, struct.pack("<I", count), id_=id_)


def test_credit_beyond_all_measure_ends_the_subscription_and_no_other_one(field: Field) -> None:
    peer = field.bound()
    peer.send(subscribe())
    peer.next(frame.DATA)
    peer.send(credit(0x7FFF_FFFF) + credit(0x7FFF_FFFF))
    assert peer.next(frame.REPLY)[0] == Code.PROTOCOL_ERROR
    field.publish(200, 1000)


def test_credit_for_what_nobody_has_subscribed_cuts_who_gives_it(field: Field) -> None:
    peer = field.bound()
    peer.send(b"".join(credit(1000, id_) for id_ in range(1, 2000)))
    assert peer.was_cut()
    field.publish(200, 1000)


def test_who_never_reads_costs_the_queue_that_it_asked_for(field: Field) -> None:
    for overflow in (Overflow.drop_oldest, Overflow.drop_newest):
        peer = field.bound()
        peer.send(subscribe(overflow=overflow) + credit(0x3FFF_FFFF))
    field.publish(10, 1000)
    before = field.memory_peak()
    for _ in range(10):
        field.publish(500, 20_000)  # 100 MB in all
    assert field.memory_peak() - before < 48 * MIB


def test_more_subscriptions_than_a_connection_may_have_are_refused(field: Field) -> None:
    peer = field.bound()
    peer.send(b"".join(subscribe(f"eu.{'*.' * (id_ % 7)}x{id_}", id_=id_) for id_ in range(1, 400)))
    refused = [peer.next(frame.REPLY)[0] for _ in range(399 - MOST_STREAMS)]
    assert set(refused) == {Code.OVERLOADED}
    field.publish(200, 1000)
    peer.close()
    field.publish(200, 1000)


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        (lambda: request(b"\xff" * 40, flags=2 | frame.STREAM), Code.DECODE_ERROR),
        (lambda: subscribe("x*y"), Code.INVALID_ARGUMENT),
    ],
    ids=["bytes", "part of a segment"],
)
def test_what_is_no_subscription_is_refused(field: Field, garbage: Callable[[], bytes], code: Code) -> None:
    peer = field.bound()
    peer.send(garbage())
    assert peer.next(frame.REPLY)[0] == code
    field.publish(10, 100)


def test_subscriptions_that_begin_and_end_at_once_leave_nothing(field: Field) -> None:
    peer = field.bound()
    for id_ in range(1, 200):
        peer.send(subscribe(f"x{id_}.*", id_=id_) + frame.pack(frame.CANCEL, b"", id_=id_))
    peer.send(subscribe(id_=5000))
    peer.next(frame.DATA)
    field.publish(200, 1000)
    peer.close()
    assert field.publisher.ask("await Additions 1")
    field.publish(200, 1000)


def test_a_hundred_wildcards_that_match_everything_share_what_waits_for_them(field: Field) -> None:
    peer = field.bound()
    for id_ in range(1, 101):
        peer.send(subscribe(id_=id_) + credit(0x3FFF_FFFF, id_))
    field.publish(10, 1000)
    before = field.memory_peak()
    for _ in range(2):
        field.publish(500, 20_000)  # for each of them the queue that it asked for, in all 100 MB
    assert field.memory_peak() - before < 64 * MIB


def test_a_hundred_thousand_subscriptions_that_end_at_once_leave_nothing(field: Field) -> None:
    before = field.memory_peak()
    for wave in range(100):
        peer = field.bound()
        for id_ in range(1, 1001):
            peer.send(subscribe(f"x{wave}.{id_}.*", id_=id_) + frame.pack(frame.CANCEL, b"", id_=id_))
        peer.close()
    field.publish(200, 1000)
    assert field.publisher.ask("await Additions 1")
    assert field.memory_peak() - before < 48 * MIB


@pytest.mark.parametrize("victim", ["relay"])
def test_a_relay_takes_no_subscription_that_has_come_through_eight(field: Field) -> None:
    peer = field.bound()
    peer.send(subscribe(path=tuple(UUID(int=number) for number in range(8))))
    status, record = peer.next(frame.REPLY)
    assert status == Code.PERMISSION_DENIED
    assert b"through 8 relays, which is all that it may" in record
    field.publish(10, 100)
