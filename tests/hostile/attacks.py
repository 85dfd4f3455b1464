"""What one hostile client does to a server, attack by attack; with what is promised of each.

`python -m tests.hostile.attacks NAME ADDRESS SERVICE [AGENT]` makes one of them again and again, until it is
killed, on a server whose service has a method `text`; it says "attacks" when it begins.
"""

import random
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

from mf.protocol import frame
from mf.protocol.wire import pack_str16
from tests.hostile.attacker import Attacker, Peer, hello, request, text_of

MIB = 1 << 20
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
    """Replies of 1 MiB, never read: the victim ceases to read, and is not asked to cut a connection for 10
    s."""
    peer = attacker.bound("text")
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
    bound = attacker.bound("text")
    bound.send(request(text_of(b"a" * 1000))[:500])
    for number in range(200):
        attacker.connect().send(hello()[: 1 + number % 60])
    return []


def pings(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet()
    peer.send(frame.pack(frame.PING, bytes(8)) * 500_000)
    return []


def credits_for_nothing(attacker: Attacker) -> list[Peer]:
    peer = attacker.bound("text")
    peer.send(frame.pack(frame.CREDIT, struct.pack("<I", 1), id_=7) * 10_000)
    return [peer]


def empty_data(attacker: Attacker) -> list[Peer]:
    peer = attacker.bound("text")
    peer.send(request(text_of(b"a")) + frame.pack(frame.DATA, b"", flags=2, id_=9) * 10_000)
    return [peer]


def rapid_reset(attacker: Attacker) -> list[Peer]:
    peer = attacker.bound("text")
    for start in range(1, 50_001, 1000):
        pairs = (
            request(text_of(b"a"), id_=id_) + frame.pack(frame.CANCEL, id_=id_)
            for id_ in range(start, start + 1000)
        )
        peer.send(b"".join(pairs))
    return []


def describes(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet()
    peer.send(frame.pack(frame.DESCRIBE, pack_str16(attacker.service)) * 20_000)
    return []


def unbinds(attacker: Attacker) -> list[Peer]:
    peer = attacker.greet()
    peer.send(frame.pack(frame.UNBIND, route=3) * 10_000)
    return [peer]


def noise(attacker: Attacker) -> list[Peer]:
    source = random.Random(7)
    cut = [attacker.greet() for _ in range(50)]
    for peer in cut:
        # Of a type that no receiver may skip, so that all of them are wrong for sure.
        peer.send(struct.pack("<IB", 24, 17 + source.randrange(110)) + source.randbytes(4096))
    return cut


def empty_items(attacker: Attacker) -> list[Peer]:
    items = MESSAGE - 64
    peer = attacker.bound("text")
    peer.send(request(bytes(items), flags=2 | frame.BULK, count=items))
    assert peer.next(frame.REPLY)[0] != 0
    return []


def nesting(attacker: Attacker) -> list[Peer]:
    peer = attacker.bound("in5_out2")
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


def main() -> None:
    name, *victim = sys.argv[1:]
    attack = next(each for each in ATTACKS if each.name == name)
    print("attacks", flush=True)
    while True:
        attacker = Attacker(*victim)
        attack.run(attacker)
        attacker.close()


if __name__ == "__main__":
    main()
