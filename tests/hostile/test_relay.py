"""Attacks on a relay, by a client of it, with an innocent client beside the attacker.

The attacks are those on servers: a relay is one to its clients, and reads no payload. What they may cost it
is what docs/limits.md and docs/relay.md say.
"""

import pytest

from mf.protocol import frame
from mf.protocol.handshake import pack_bind
from tests.hostile.attacker import Attacker
from tests.hostile.attacks import ATTACKS, MIB, Attack
from tests.hostile.test_servers import SHAPES, settled
from tests.interop.peers import Peers, Server

# What only a reader of payloads can refuse; and requests so large that a relay refuses them instead of
# waiting.
OTHERS = ("empty_items", "nesting", "unread")
MOST_SERVICES = 128  # that one client of a relay has in use


@pytest.fixture
def relay(peers: Peers) -> Server:
    controller = peers.controller()
    peers.server("python", "--controller", controller.address, "--room", "red")
    return peers.relay(controller.address)


@pytest.mark.parametrize(
    "attack", [each for each in ATTACKS if each.name not in OTHERS], ids=lambda attack: attack.name
)
def test_an_attacker_of_a_relay_is_bounded_and_others_go_on(
    peers: Peers, relay: Server, attack: Attack
) -> None:
    innocent = peers.client("python", relay.address)
    assert innocent.ask("who red")[0]["ok"]
    innocent.ask("begin red")
    attacker = Attacker(relay.address, SHAPES, "red")
    attacker.bound("text").close()
    memory = relay.memory_peak()

    cut = attack.run(attacker)
    closed = [peer.was_cut() for peer in cut]
    during = [innocent.ask("who red")[0]["ok"] for _ in range(20)]
    grown = relay.memory_peak() - memory
    attacker.close()
    calls = innocent.ask("end")[0]

    assert calls["failed"] == 0, calls
    assert all(during), during
    assert all(closed)
    assert innocent.ask("who red")[0]["ok"]
    assert grown <= attack.memory, f"{grown / MIB:.1f} MiB"
    lines = relay.said().splitlines()
    assert not any(line.startswith("ERROR forged") or "\x1b" in line or "\0" in line for line in lines), lines


def test_bindings_of_services_that_nobody_offers_end_and_leave_nothing(peers: Peers, relay: Server) -> None:
    innocent = peers.client("python", relay.address)
    assert innocent.ask("who red")[0]["ok"]
    before = relay.descriptors()
    attacker = Attacker(relay.address)
    peer = attacker.greet()
    for number in range(300):
        peer.send(bind(f"nobody.Offers{number}", route=number))
    for _ in range(300):
        status, words = peer.next(frame.BOUND)
        assert status != 0, words
    attacker.close()
    assert settled(relay, before)
    assert innocent.ask("who red")[0]["ok"]


def test_names_that_clients_make_up_leave_room_for_real_ones(peers: Peers, relay: Server) -> None:
    """More than a relay asks about at once, by several clients, again and again."""
    attacker = Attacker(relay.address)
    for number in range(3):
        made_up = [attacker.greet() for _ in range(4)]
        for peer in made_up:
            for name in range(MOST_SERVICES + 1):
                peer.send(bind(f"made.up.By{id(peer)}.{number}.{name}", route=name))
        for peer in made_up:
            answers = [peer.next(frame.BOUND) for _ in range(MOST_SERVICES + 1)]
            assert all(status != 0 for status, _ in answers)
            assert any(b"is all that" in words for _, words in answers)
        newcomer = peers.client("python", relay.address)
        assert newcomer.ask("who red")[0]["ok"]
    attacker.close()


def bind(service: str, route: int) -> bytes:
    return bytes(frame.pack(frame.BIND, pack_bind(bytes(16), service, "", ("m",)), route=route))
