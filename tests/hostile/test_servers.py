"""Attacks on servers of both languages, one hostile client each, and an innocent one beside it.

The innocent client calls without a pause while the attack lasts: none of its calls may fail. Who crosses a
limit of the connection is cut, with one line in the log and one count. The victim's memory stays within what
docs/limits.md says, and afterwards it answers and has its descriptors back.
"""

import json
import random
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from mf.protocol import frame
from tests.hostile.attacker import Attacker, Peer, hello, request, text_of
from tests.interop.peers import LANGUAGES, Peers, Server

MIB = 1 << 20
SHAPES = "interop.Shapes"
MESSAGE = 16 * MIB  # max_payload
BUFFERS = 8 * MIB  # max_unread_bytes, and what allocators round up
DECODED = 128 * MIB  # what one message may decode to
REQUESTS = 64 * MIB  # max_request_bytes


@dataclass(frozen=True)
class Attack:
    name: str
    run: Callable[[Attacker], list[Peer]]
    """Does it, and gives the connections that the victim must cut."""
    counted: bool = True
    """False: whether it is cut depends on how fast its flood comes."""
    memory: int = MESSAGE + BUFFERS
    cut_for_memory: int = 0
    """At least so many connections."""


def unread(attacker: Attacker) -> list[Peer]:
    """Replies of 1 MiB, never read: the victim ceases to read, and is not asked to cut anybody for 10 s."""
    peer = attacker.bind(SHAPES, "text", agent="red")
    asked = b"".join(request(text_of(bytes([97]) * MIB), id_=i) for i in range(1, 129))
    assert peer.send(asked) < len(asked)
    return []


def announced(attacker: Attacker) -> list[Peer]:
    """3,200 MiB are announced, and 800 KiB come."""
    header = struct.pack("<IBBHIHH", MESSAGE, frame.REQUEST, 2, 0, 1, 0, 1)
    for _ in range(200):
        attacker.greet().send(header + bytes(4096))
    return []


def half_sent(attacker: Attacker) -> list[Peer]:
    bound = attacker.bind(SHAPES, "text", agent="red")
    bound.send(request(text_of(b"a" * 1000))[:500])
    for number in range(200):
        attacker.connect().send(hello()[: 1 + number % 60])
    return []


def pings(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet()
    peer.send(frame.pack(frame.PING, bytes(8)) * 500_000)
    return []


def credits_for_nothing(attacker: Attacker) -> list[Peer]:
    peer = attacker.bind(SHAPES, "text", agent="red")
    peer.send(frame.pack(frame.CREDIT, struct.pack("<I", 1), id_=7) * 10_000)
    return [peer]


def empty_data(attacker: Attacker) -> list[Peer]:
    peer = attacker.bind(SHAPES, "text", agent="red")
    peer.send(request(text_of(b"a")) + frame.pack(frame.DATA, b"", flags=2, id_=9) * 10_000)
    return [peer]


def rapid_reset(attacker: Attacker) -> list[Peer]:
    peer = attacker.bind(SHAPES, "text", agent="red")
    for start in range(1, 50_001, 1000):
        pairs = (
            request(text_of(b"a"), id_=id_) + frame.pack(frame.CANCEL, id_=id_)
            for id_ in range(start, start + 1000)
        )
        peer.send(b"".join(pairs))
    return []


def describes(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet()
    peer.send(frame.pack(frame.DESCRIBE, struct.pack("<H", len(SHAPES)) + SHAPES.encode()) * 20_000)
    return []


def unbinds(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet()
    peer.send(frame.pack(frame.UNBIND, route=3) * 10_000)
    return [peer]


def noise(attacker: Attacker) -> list[Peer]:
    source = random.Random(7)
    cut = [attacker.greet() for _ in range(50)]
    for peer in cut:
        # Of a type that nobody may skip, so that all of them are wrong for sure.
        peer.send(struct.pack("<IB", 24, 17 + source.randrange(110)) + source.randbytes(4096))
    return cut


def empty_items(attacker: Attacker) -> list[Peer]:
    items = MESSAGE - 64
    peer = attacker.bind(SHAPES, "text", agent="red")
    peer.send(request(bytes(items), flags=2 | frame.BULK, count=items))
    assert peer.next(frame.REPLY)[0] != 0
    return []


def nesting(attacker: Attacker) -> list[Peer]:
    peer = attacker.bind(SHAPES, "in5_out2", agent="red")
    peer.send(request(b"\0\1" * MIB))  # a tree with one child, which has one child, …
    status, payload = peer.next(frame.REPLY)
    assert status == 14, payload  # DECODE_ERROR
    return []


def forged_name(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet("a\nERROR forged\x1b[31m\0")
    peer.send(frame.pack(frame.UNBIND, route=3))
    return [peer]


ATTACKS = (
    Attack("unread", unread, memory=REQUESTS + MESSAGE + BUFFERS),
    Attack("announced", announced, cut_for_memory=200 - 512 * MIB // MESSAGE),
    Attack("half_sent", half_sent),
    Attack("pings", pings, counted=False, memory=MESSAGE + 2 * BUFFERS),
    Attack("credits_for_nothing", credits_for_nothing),
    Attack("empty_data", empty_data),
    Attack("rapid_reset", rapid_reset),
    Attack("describes", describes, counted=False),
    Attack("unbinds", unbinds),
    Attack("noise", noise),
    Attack("empty_items", empty_items, memory=MESSAGE + BUFFERS + DECODED),
    Attack("nesting", nesting, memory=MESSAGE + BUFFERS),
    Attack("forged_name", forged_name),
)


def settled(victim: Server, descriptors: int) -> bool:
    """Whether the victim comes back, in time, to so many open descriptors."""
    end = time.monotonic() + 15.0
    while victim.descriptors() > descriptors and time.monotonic() < end:
        time.sleep(0.02)
    return victim.descriptors() <= descriptors


def counts_of(victim: Server) -> dict[str, int]:
    """What it prints when it has stopped."""
    victim.signal(signal.SIGTERM)
    assert victim.wait() == 0, victim.said()
    counts: dict[str, int] = json.loads(victim.output())
    return counts


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attacker_is_bounded_and_others_go_on(peers: Peers, attack: Attack, language: str) -> None:
    victim = peers.server(language, "--room", "red")
    innocent = peers.client("python", victim.address)
    assert innocent.ask("who red")[0]["ok"]
    innocent.ask("begin red")
    attacker = Attacker(victim.address)
    before = victim.descriptors()
    attacker.bind(SHAPES, "text", agent="red").close()  # what the first of all connections takes
    assert settled(victim, before)
    memory = victim.memory_peak()

    cut = attack.run(attacker)
    closed = [peer.was_cut() for peer in cut]
    during = [innocent.ask("who red")[0]["ok"] for _ in range(20)]
    grown = victim.memory_peak() - memory
    attacker.close()
    came_back = settled(victim, before)
    calls = innocent.ask("end")[0]
    afterwards = innocent.ask("who red")[0]
    counts = counts_of(victim)

    assert calls["failed"] == 0, calls
    assert all(during), during
    assert afterwards["ok"], afterwards
    assert all(closed)
    if attack.counted:
        assert counts["cut_protocol"] == len(cut), (counts, victim.said())
    assert counts["cut_memory"] >= attack.cut_for_memory, counts
    lines = victim.said().splitlines()
    for peer in cut:
        assert sum(peer.address in line for line in lines) == 1, lines
    assert not any(line.startswith("ERROR forged") or "\x1b" in line or "\0" in line for line in lines), lines
    assert grown <= attack.memory, f"{grown / MIB:.1f} MiB"
    assert came_back, victim.descriptors()


@pytest.mark.parametrize("language", LANGUAGES)
def test_silent_sockets_give_way_to_those_who_speak(peers: Peers, language: str) -> None:
    victim = peers.server(language, "--room", "red")
    innocent = peers.client("python", victim.address)
    assert innocent.ask("who red")[0]["ok"]
    before = victim.descriptors()
    attacker = Attacker(victim.address)
    silent = 2_000

    for _ in range(silent):
        attacker.connect()
    newcomer = peers.client("python", victim.address).ask("who red")[0]
    old = innocent.ask("who red")[0]
    attacker.close()

    assert newcomer["ok"], newcomer
    assert old["ok"], old
    assert settled(victim, before + 1)
    counts = counts_of(victim)
    assert counts["cut_handshakes"] >= silent - 1024, counts
    assert counts["accepted"] >= silent + 2, counts


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_victim_without_descriptors_refuses_and_recovers(peers: Peers, language: str) -> None:
    victim = peers.server(language, "--room", "red", descriptors=64)
    innocent = peers.client("python", victim.address)
    assert innocent.ask("who red")[0]["ok"]
    innocent.ask("begin red")
    before = victim.descriptors()
    attacker = Attacker(victim.address)

    greeted = [attacker.connect() for _ in range(100)]
    for peer in greeted:
        peer.send(hello())
    status, words = greeted[-1].next(frame.REFUSE)
    attacker.close()

    assert status == 10, words  # OVERLOADED
    assert settled(victim, before)
    calls = innocent.ask("end")[0]
    assert calls["failed"] == 0, calls
    assert peers.client("python", victim.address).ask("who red")[0]["ok"]
    counts = counts_of(victim)
    assert counts["turned_away"] >= 100 - 64, counts
