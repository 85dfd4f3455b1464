"""A peer that connects badly, or asks for what it may not, fills no log: ten lines of one kind about one peer
in ten seconds, and a line that counts the others."""

import re

import pytest

from tests.hostile.attacker import Attacker
from tests.interop.peers import LANGUAGES, Peers
from tests.python.conftest import eventually

BAD = 2_400


@pytest.mark.parametrize("language", LANGUAGES)
def test_bad_connections_are_counted_and_not_each_told(peers: Peers, language: str) -> None:
    victim = peers.server(language, "--room", "red")
    attacker = Attacker(victim.address)

    for _ in range(BAD // 100):
        for peer in [attacker.connect() for _ in range(100)]:
            peer.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + bytes(64))
        attacker.close()

    def counted() -> int:
        attacker.connect().send(bytes(64))  # a line that counts precedes the next one
        attacker.close()
        return sum(map(int, re.findall(r"warnings_left_out of=.* count=(\d+)", victim.said())))

    assert eventually(lambda: counted() > BAD - 200, 60.0), victim.said()[-2_000:]
    assert len(victim.said().splitlines()) < 200
    assert peers.client("python", victim.address).ask("who red")[0]["ok"]
