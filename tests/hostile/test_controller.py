"""Attacks on the controller: what its clients may leave behind, register and call themselves.

Beside each of them stands a server with a client that finds it through the controller, before and afterwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from uuid import UUID

import pytest

from mf.controller._generated.mf.controller import Instance
from mf.controller._generated.mf.controller._methods import CONTROLLER_REGISTER, CONTROLLER_WATCH
from mf.protocol import frame
from tests.hostile.attacker import Attacker, Peer, request
from tests.hostile.test_servers import MIB, settled
from tests.interop.peers import Peers, Process, Server

CONTROLLER = "mf.controller.Controller"
MIXED, OVERLOADED = 1, 10
MOST_WAITS = 1024
MOST_OFFERS = 10_000


@dataclass
class Scene:
    controller: Server
    innocent: Process
    attacker: Attacker


@pytest.fixture
def scene(peers: Peers) -> Iterator[Scene]:
    controller = peers.controller()
    peers.server("python", "--controller", controller.address, "--room", "red")
    innocent = peers.client("python", controller.address)
    assert innocent.ask("who red")[0]["ok"]
    attacker = Attacker(controller.address)
    yield Scene(controller, innocent, attacker)
    attacker.close()
    assert innocent.ask("who red")[0]["ok"]
    assert peers.client("python", controller.address).ask("who red")[0]["ok"]


@cache  # 10,000 offers take a while to be made
def instances(offers: int, service: str) -> bytes:
    """As they stand in a registration, behind its nonce."""
    made = [
        Instance(service, str(i), UUID(int=0), ["tcp://127.0.0.1:1"], UUID(int=0), 1) for i in range(offers)
    ]
    return bytes(CONTROLLER_REGISTER.encode_request(UUID(int=0), made))[16:]


def registration(number: int, offers: int, service: str = "a.B") -> bytes:
    payload = UUID(int=number).bytes + instances(offers, service)
    return request(payload, id_=number, flags=CONTROLLER_REGISTER.request_encoding)


def watch(id_: int, epoch: int, wait_ms: int = 600_000) -> bytes:
    payload = bytes(CONTROLLER_WATCH.encode_request("nobody.Offers", epoch, 0, wait_ms))
    return request(payload, id_=id_, flags=CONTROLLER_WATCH.request_encoding)


def watcher(attacker: Attacker) -> tuple[Peer, int]:
    """A connection for watches, and the controller's epoch."""
    peer = attacker.bind(CONTROLLER, "watch")
    peer.send(watch(1, 0))
    view = peer.next(frame.REPLY)[1]
    size = next(i for i, byte in enumerate(view) if byte < 0x80) + 1
    return peer, sum((byte & 0x7F) << 7 * i for i, byte in enumerate(view[:size]))


def outcome(peer: Peer) -> tuple[int, bytes]:
    """Code and words of the next reply, which has one item."""
    status, payload = peer.next(frame.REPLY)
    return (payload[0], payload[8:]) if status == MIXED else (status, payload)


def test_watches_that_are_left_behind_go_with_their_connections(scene: Scene) -> None:
    _, epoch = watcher(scene.attacker)
    descriptors = scene.controller.descriptors()
    memory = 0

    for number in range(1_000):
        peer, _ = watcher(scene.attacker)
        peer.send(b"".join(watch(id_, epoch) for id_ in range(2, 102)))
        peer.send(frame.pack(frame.PING, bytes(8)))
        peer.next(frame.PONG)  # all of them have begun
        peer.close()
        if number == 99:
            assert settled(scene.controller, descriptors)
            memory = scene.controller.memory_peak()

    assert settled(scene.controller, descriptors)
    assert scene.controller.memory_peak() - memory < 8 * MIB


def test_a_connection_has_so_many_watches_and_hears_why(scene: Scene) -> None:
    peer, epoch = watcher(scene.attacker)

    peer.send(b"".join(watch(id_, epoch) for id_ in range(2, MOST_WAITS + 3)))
    status, words = outcome(peer)

    assert status == OVERLOADED
    assert b"the controller lets at most 1024 calls of one connection wait" in words


def test_offers_without_end_are_refused_in_words(scene: Scene) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")
    memory = scene.controller.memory_peak()

    statuses = []
    for number in range(1, 31):
        peer.send(registration(number, MOST_OFFERS))
        status, words = outcome(peer)
        statuses.append(status)

    assert statuses == [0] + 29 * [OVERLOADED]
    assert b"at most 10000 offers from one connection" in words
    assert scene.controller.memory_peak() - memory < 64 * MIB
    refused = [line for line in scene.controller.said().splitlines() if "not_registered" in line]
    assert len(refused) == 29


def test_processes_without_offers_are_bounded_too(scene: Scene) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")

    statuses = []
    for start in range(1, MOST_OFFERS + 11, 10):
        peer.send(b"".join(registration(number, 0) for number in range(start, start + 10)))
        statuses += [outcome(peer)[0] for _ in range(10)]

    assert statuses == MOST_OFFERS * [0] + 10 * [OVERLOADED]


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "a\0b", "a\u2028b"])
def test_strange_names_are_one_plain_line_in_the_log(scene: Scene, name: str) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")
    before = len(scene.controller.said().splitlines())

    peer.send(registration(1, 1, service=name))
    status, words = outcome(peer)
    named = scene.attacker.greet(name)
    named.send(frame.pack(frame.UNBIND, route=3))

    assert status == 0, words
    assert named.was_cut()
    lines = scene.controller.said().split("\n")[before:-1]
    assert sum(named.address in line for line in lines) == 1, lines
    assert all(line.isprintable() and line.startswith("20") for line in lines), lines


def test_a_name_of_bad_utf_8_is_refused(scene: Scene) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")

    peer.send(registration(1, 1, service="zz").replace(b"\x02zz", b"\x02\xff\xfe"))
    status, words = peer.next(frame.REPLY)

    assert status == 14, words  # DECODE_ERROR
