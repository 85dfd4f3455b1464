"""Attacks on servers of both languages, one hostile client each, and an innocent one beside it.

The innocent client calls without a pause while the attack lasts: none of its calls may fail. A client that
crosses a limit of the connection is cut, with one line in the log and one count. The victim's memory stays
within what docs/limits.md says, and afterwards it answers and has its descriptors back.
"""

import json
import signal
import time

import pytest

from mf.protocol import frame
from tests.hostile.attacker import Attacker, hello
from tests.hostile.attacks import ATTACKS, MIB, Attack
from tests.interop.peers import LANGUAGES, Peers, Server

SHAPES = "interop.Shapes"


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
    attacker = Attacker(victim.address, SHAPES, "red")
    before = victim.descriptors()
    attacker.bound("text").close()  # what the first of all connections takes
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
    # One line for each; only some of one host are written, and then a line counts those that were left out.
    assert sum(any(peer.address in line for line in lines) for peer in cut) >= min(len(cut), 10), lines
    assert all(sum(peer.address in line for line in lines) <= 1 for peer in cut), lines
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
