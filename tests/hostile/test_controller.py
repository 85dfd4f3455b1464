"""Attacks on the controller: what its clients may leave behind, register and call themselves.

With each of them runs a server with a client that finds it through the controller, before and afterwards.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

import pytest

from mf.controller._generated.mf.controller import Credential, Filter, Key, KeyKind, Offer
from mf.controller._generated.mf.controller._methods import (
    CONTROLLER_FIND,
    CONTROLLER_LEAD,
    CONTROLLER_REGISTER,
    CONTROLLER_UPDATE,
    CONTROLLER_WATCH,
)
from mf.core.service import Method
from mf.protocol import frame
from tests.hostile.attacker import Attacker, Peer, request
from tests.hostile.attacks import MIB
from tests.hostile.test_servers import settled
from tests.interop.peers import Peers, Process, Server

CONTROLLER = "mf.controller.Controller"
MIXED = 1
DECLARED, INVALID_ARGUMENT, OVERLOADED, DECODE_ERROR = 1, 2, 10, 14
MOST_STREAMS = 1024
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


def offer(service: str, agent: str = "") -> Offer:
    key = Key(KeyKind.service, service, agent)
    return Offer(key, ["tcp://127.0.0.1:1"], UUID(int=0), 1, {}, False)


@cache  # 10,000 offers take a while to be made
def offers(count: int, service: str) -> tuple[Offer, ...]:
    return tuple(offer(service, str(number)) for number in range(count))


@cache
def registered(number: int, count: int, service: str, secret: int) -> bytes:
    who = Credential(UUID(int=number), UUID(int=secret))
    return bytes(CONTROLLER_REGISTER.encode_request(who, "an attacker", offers(count, service)))


def registration(number: int, count: int, service: str = "a.B", secret: int = 1) -> bytes:
    return streamed(number, registered(number, count, service, secret), CONTROLLER_REGISTER.request_encoding)


def watch(id_: int, name: str = "nobody.Offers", run: int = 0, revision: int = 0) -> bytes:
    payload = bytes(CONTROLLER_WATCH.encode_request(Filter(KeyKind.service, name, None), run, revision))
    return streamed(id_, payload, CONTROLLER_WATCH.request_encoding)


def streamed(id_: int, payload: bytes, encoding: int) -> bytes:
    return request(payload, id_=id_, flags=encoding | frame.STREAM)


def watcher(attacker: Attacker) -> Peer:
    """A connection for watches; one has begun."""
    peer = attacker.bind(CONTROLLER, "watch")
    peer.send(watch(1))
    assert peer.next(frame.DATA)
    return peer


def answer(peer: Peer) -> tuple[int, bytes]:
    """How a stream begins: 0, or the code and the words with which it was refused."""
    for kind, status, payload in peer.frames():
        if kind == frame.DATA:
            return 0, payload
        if kind == frame.REPLY:
            return (payload[0], payload[8:]) if status == MIXED else (status, payload)
    raise AssertionError("the controller closed")


def refusals(scene: Scene, event: str) -> list[str]:
    return [line for line in scene.controller.said().splitlines() if f" {event} " in line]


def test_watches_that_are_left_behind_go_with_their_connections(scene: Scene) -> None:
    descriptors = scene.controller.descriptors()
    memory = 0

    for number in range(500):
        peer = watcher(scene.attacker)
        peer.send(b"".join(watch(id_) for id_ in range(2, 102)))
        peer.send(frame.pack(frame.PING, bytes(8)))
        peer.next(frame.PONG)  # all of them have begun
        peer.close()
        if number == 99:
            assert settled(scene.controller, descriptors)
            memory = scene.controller.memory_peak()

    assert settled(scene.controller, descriptors)
    assert scene.controller.memory_peak() - memory < 8 * MIB


def test_a_connection_has_so_many_streams_and_hears_why(scene: Scene) -> None:
    peer = watcher(scene.attacker)

    peer.send(b"".join(watch(id_) for id_ in range(2, MOST_STREAMS + 2)))
    statuses = [answer(peer) for _ in range(MOST_STREAMS)]

    assert [status for status, _ in statuses].count(OVERLOADED) == 1
    assert any(b"1024" in words for status, words in statuses if status == OVERLOADED)


def test_offers_without_end_are_refused_in_words(scene: Scene) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")
    memory = scene.controller.memory_peak()

    answers = []
    for number in range(1, 31):
        peer.send(registration(number, MOST_OFFERS))
        answers.append(answer(peer))

    assert [status for status, _ in answers] == [0] + 29 * [OVERLOADED]
    assert all(b"10000 offers" in words for status, words in answers[1:])
    assert scene.controller.memory_peak() - memory < 64 * MIB
    assert len(refusals(scene, "not_registered")) == 10  # further ones are left out for a while


def test_processes_without_offers_are_bounded_too(scene: Scene) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")

    statuses = []
    for start in range(1, MOST_STREAMS + 11, 11):
        numbers = range(start, start + 11)
        peer.send(b"".join(registration(number, 0) for number in numbers))
        statuses += [answer(peer)[0] for _ in numbers]

    assert statuses.count(0) == MOST_STREAMS
    assert statuses.count(OVERLOADED) == len(statuses) - MOST_STREAMS


def test_a_watcher_that_never_reads_costs_a_bounded_amount_whatever_changes(scene: Scene) -> None:
    deaf = scene.attacker.bind(CONTROLLER, "watch")
    deaf.send(b"".join(watch(id_, "a.*") for id_ in range(1, 101)))
    peer = scene.attacker.bind(CONTROLLER, "register")
    peer.send(registration(1, MOST_OFFERS))
    assert answer(peer)[0] == 0
    descriptors = scene.controller.descriptors()
    peaks = []

    for number in range(2, 60):  # each of them 20,000 changes, which take 20 MiB while they are known
        other = scene.attacker.bind(CONTROLLER, "register")
        other.send(registration(number, MOST_OFFERS))
        assert answer(other)[0] == 0
        other.close()
        assert settled(scene.controller, descriptors)  # so that one at a time is registered
        peaks.append(scene.controller.memory_peak())

    # What the allocator keeps depends on which threads were at it when: all of them would be 1,100 MiB.
    assert peaks[-1] < 512 * MIB, peaks


def test_a_stranger_with_the_right_nonce_is_refused_and_named(scene: Scene) -> None:
    owner = scene.attacker.bind(CONTROLLER, "register")
    owner.send(registration(7, 1, secret=1))
    assert answer(owner)[0] == 0

    stranger = scene.attacker.bind(CONTROLLER, "register")
    stranger.send(registration(7, 1, secret=2))
    status, _ = answer(stranger)

    assert status == DECLARED
    (line,) = refusals(scene, "not_owner")
    assert stranger.address in line
    assert owner.address in line
    watching = scene.attacker.bind(CONTROLLER, "watch")
    watching.send(watch(1, "a.B"))
    change = CONTROLLER_WATCH.result_element
    assert change is not None
    (listed,) = change.decode_all(answer(watching)[1], 1)[0].put
    assert listed.instance == UUID(int=7)


NAMES = ["a\nb", "\x1b[31mred", "a\0b", "a\u2028b"]

WHO, ITS = (Credential(UUID(int=number), UUID(int=number)) for number in (11, 12))

# The calls of the controller in which an attacker may put a name, by the field that holds it. Only a service
# that is offered can be led.
FIELDS: dict[str, Callable[[str], tuple[Method[Any, Any], tuple[Any, ...]]]] = {
    "service": lambda name: (CONTROLLER_REGISTER, (WHO, "p", [offer(name)])),
    "agent": lambda name: (CONTROLLER_REGISTER, (WHO, "p", [offer("a.B", name)])),
    "process": lambda name: (CONTROLLER_REGISTER, (WHO, name, [offer("a.B")])),
    "address": lambda name: (CONTROLLER_REGISTER, (WHO, "p", [replace(offer("a.B"), addresses=[name])])),
    "label": lambda name: (CONTROLLER_REGISTER, (WHO, "p", [replace(offer("a.B"), labels={name: "x"})])),
    "labelled": lambda name: (CONTROLLER_REGISTER, (WHO, "p", [replace(offer("a.B"), labels={"x": name})])),
    "alone": lambda name: (CONTROLLER_REGISTER, (WHO, name, [replace(offer(name, name), alone=True)])),
    "watched service": lambda name: (CONTROLLER_WATCH, (Filter(KeyKind.service, name, None), 0, 0)),
    "watched agent": lambda name: (CONTROLLER_WATCH, (Filter(KeyKind.service, "a.B", name), 0, 0)),
    "found service": lambda name: (CONTROLLER_FIND, (Filter(KeyKind.service, name, None),)),
    "found agent": lambda name: (CONTROLLER_FIND, (Filter(KeyKind.service, "a.B", name),)),
    "put service": lambda name: (CONTROLLER_UPDATE, (ITS, [offer(name)], [])),
    "put agent": lambda name: (CONTROLLER_UPDATE, (ITS, [offer("a.B", name)], [])),
    "led service": lambda name: (CONTROLLER_LEAD, (ITS, Key(KeyKind.service, name, ""))),
    "led agent": lambda name: (CONTROLLER_LEAD, (ITS, Key(KeyKind.service, "a.B", name))),
    "removed service": lambda name: (CONTROLLER_UPDATE, (ITS, [], [Key(KeyKind.service, name, "")])),
    "removed agent": lambda name: (CONTROLLER_UPDATE, (ITS, [], [Key(KeyKind.service, "a.B", name)])),
}
STREAMED = (CONTROLLER_REGISTER, CONTROLLER_WATCH, CONTROLLER_LEAD)


# The line that each of them is worth, beside that of the end of a registration.
EVENTS = {CONTROLLER_REGISTER: "registered", CONTROLLER_UPDATE: "updated", CONTROLLER_LEAD: "leads"}


@pytest.fixture
def its(scene: Scene) -> Peer:
    """The connection over which ITS is registered."""
    peer = scene.attacker.bind(CONTROLLER, "register")
    payload = bytes(CONTROLLER_REGISTER.encode_request(ITS, "its", []))
    peer.send(streamed(1, payload, CONTROLLER_REGISTER.request_encoding))
    assert answer(peer)[0] == 0
    return peer


def ask(scene: Scene, field: str, name: str, payload: Callable[[bytes], bytes] = bytes) -> tuple[Peer, int]:
    """Calls with the name in that field, and with what `payload` makes of it; gives the status, too."""
    method, arguments = FIELDS[field](name)
    flags = method.request_encoding | (frame.STREAM if method in STREAMED else 0)
    peer = scene.attacker.bind(CONTROLLER, method.name)
    peer.send(request(payload(bytes(method.encode_request(*arguments))), flags=flags))
    return peer, answer(peer)[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("its")
def test_strange_names_of_every_field_are_one_plain_line_in_the_log(scene: Scene, name: str) -> None:
    for field, make in FIELDS.items():
        peer, status = ask(scene, field, name)
        is_refused = field == "address"
        assert status == (INVALID_ARGUMENT if is_refused else 0), field
        event = "not_registered" if is_refused else EVENTS.get(make(name)[0])
        lines = [line for line in scene.controller.said().split("\n")[:-1] if peer.address in line]
        assert [line.split()[2] for line in lines] == ([event] if event else []), (field, lines)
        peer.close()

    lines = scene.controller.said().split("\n")[:-1]
    assert all(line.isprintable() and line.startswith("20") for line in lines), lines


@pytest.mark.usefixtures("its")
def test_bad_utf_8_is_refused_in_every_field_and_garbles_no_line(scene: Scene) -> None:
    for field in FIELDS:
        _, status = ask(scene, field, "zzzz", lambda payload: payload.replace(b"zzzz", b"\xff\xfe\xc0\x80"))
        assert status in (INVALID_ARGUMENT, DECODE_ERROR), field

    lines = scene.controller.said().split("\n")[:-1]
    assert all(line.isprintable() and line.startswith("20") for line in lines), lines


@pytest.mark.parametrize("name", NAMES)
def test_strange_names_are_one_plain_line_in_the_log(scene: Scene, name: str) -> None:
    peer = scene.attacker.bind(CONTROLLER, "register")
    before = len(scene.controller.said().splitlines())

    peer.send(registration(1, 1, service=name))
    status, words = answer(peer)
    named = scene.attacker.greet(name)
    named.send(frame.pack(frame.UNBIND, route=3))

    assert status == 0, words
    assert named.was_cut()
    lines = scene.controller.said().split("\n")[before:-1]
    assert sum(named.address in line for line in lines) == 1, lines
    assert all(line.isprintable() and line.startswith("20") for line in lines), lines
