"""Clients of one schema call servers of another in all pairs of languages, over sockets and through a relay:
all cases and values of tests/vectors/evolution, one by one and many in a message.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import mf
from tests.evolution.conftest import Sides
from tests.evolution.live import Cpp, Ended, Peer, Python
from tests.evolution.pairs import NAMES, Side, cases, sides
from tests.interop.peers import BUILD, LANGUAGES, Peers, Process

DIRECTIONS = ("old_to_new", "new_to_old")
PAIRS_OF_LANGUAGES = [(client, server) for client in LANGUAGES for server in LANGUAGES]
SHAPES = NAMES[-1]
"""The pair that has methods of every form."""


@pytest.fixture(scope="session")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cpp]:
    program = BUILD / "tests/evolution/evolution-peer"
    if not program.is_file():
        pytest.fail(f"{program} is missing: cmake --build --preset release --target evolution-peer")
    process = Process([str(program)], {}, tmp_path_factory.mktemp("evolution-peer") / "stderr")
    yield Cpp(process)
    process.close()


@dataclass
class Calling:
    """A client of one schema, and a server of the other. `peer`: the server or relay, as failures name it."""

    client: Peer
    server: Peer
    ours: tuple[str, str]
    theirs: tuple[str, str]
    peer: str = ""

    def begin(self, peers: Peers | None) -> None:
        controller = peers.controller().address if peers else ""
        address = self.server.serve(self.theirs, controller.replace("tcp://", "mf://"))
        if peers:
            relay = peers.relay(controller.replace("tcp://", "mf://"))
            address = relay.address.replace("tcp://", "relay://")
        self.peer = address.replace("relay://", "tcp://")
        self.client.connect(self.ours, address)

    def call(self, method: str, *requests: str) -> list[Ended]:
        return self.client.call(self.ours, method, requests)

    def took(self) -> list[str]:
        return self.server.took(self.theirs)


class World:
    def __init__(self, side: Sides, cpp: Cpp, peers: Peers) -> None:
        self._made: dict[str, Peer] = {"python": Python(side), "cpp": cpp}
        self._peers = peers

    def calling(
        self, languages: tuple[str, str], pair: str, direction: str, *, through_a_relay: bool = False
    ) -> Calling:
        consumer, provider = sides(direction)
        client, server = (self._made[language] for language in languages)
        made = Calling(client, server, (pair, consumer), (pair, provider))
        made.begin(self._peers if through_a_relay else None)
        return made

    def stop(self) -> None:
        for peer in self._made.values():
            peer.stop()


@pytest.fixture
def world(side: Sides, cpp: Cpp, tmp_path: Path) -> Iterator[World]:
    peers = Peers(tmp_path, tmp_path)
    made = World(side, cpp, peers)
    yield made
    made.stop()
    peers.close()


def values_of(pair: str, direction: str, part: str) -> list[tuple[str, list[dict[str, str]]]]:
    """By method."""
    some = [
        (each["method"], each[part])
        for each in cases(pair)["values"]
        if each["direction"] == direction and part in each
    ]
    some.sort(key=lambda each: each[0])
    return [(name, [value for _, value in group]) for name, group in groupby(some, lambda each: each[0])]


def requested(calling: Calling, pair: str, direction: str, *, alone: bool) -> None:
    for method, values in values_of(pair, direction, "request"):
        wanted = [
            Ended("INVALID_ARGUMENT", "NOT_EXECUTED", f"{calling.peer}: {value['fault']}")
            if "fault" in value
            else Ended()
            for value in values
        ]
        own = [value["own"] for value in values]
        got = [calling.call(method, each)[0] for each in own] if alone else calling.call(method, *own)
        assert got == wanted
        theirs = [value["theirs"] for value in values if "theirs" in value]
        assert (sorted if not alone else list)(calling.took()) == (sorted if not alone else list)(theirs)


def answered(calling: Calling, pair: str, direction: str, *, alone: bool) -> None:
    for method, values in values_of(pair, direction, "result"):
        calling.server.answer(calling.theirs, method, [value["theirs"] for value in values])
        wanted = [
            Ended("DECODE_ERROR", "UNKNOWN", f"{calling.peer}: {value['fault']}")
            if "fault" in value
            else Ended(value=value["own"])
            for value in values
        ]
        nothing = [""] * len(values)
        got = [calling.call(method, each)[0] for each in nothing] if alone else calling.call(method, *nothing)
        assert got == wanted if alone else sorted(got, key=str) == sorted(wanted, key=str)
        calling.took()


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", NAMES)
@pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)
def test_values_arrive_in_the_other_schema_or_are_refused_alone(
    world: World, languages: tuple[str, str], pair: str, direction: str
) -> None:
    calling = world.calling(languages, pair, direction)
    for alone in (True, False):
        requested(calling, pair, direction, alone=alone)
        answered(calling, pair, direction, alone=alone)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", NAMES)
@pytest.mark.parametrize("languages", [("cpp", "cpp"), ("cpp", "python"), ("python", "cpp")], ids="-".join)
def test_values_arrive_through_a_relay_as_well(
    world: World, languages: tuple[str, str], pair: str, direction: str
) -> None:
    calling = world.calling(languages, pair, direction, through_a_relay=True)
    requested(calling, pair, direction, alone=False)
    answered(calling, pair, direction, alone=False)


ARCHIVES = (b"\2\x08\0", b"\2\x0a\0", b"\4\x0a\2\x08\0", b"\4\x08\0\x12\0")
"""Of one field, a number or a text; a graph of one such object; and of a number and a text."""


def anything(read: Callable[[bytes], Any]) -> Any:
    """A value that a schema takes, whatever it says."""
    for size in range(64):
        for data in (bytes(size), b"\1" + bytes(size), *ARCHIVES):
            try:
                return read(data)
            except mf.Error:
                continue
    raise AssertionError("no zeros are a value")


def request_of(side: Side, name: str) -> str:
    method = side.methods[name]
    return bytes(method.encode_request(*anything(method.decode_request))).hex()


def result_of(side: Side, name: str) -> str:
    method = side.methods[name]
    return bytes(method.encode_result(anything(method.decode_result))).hex()


def ended(calling: Calling, side: Side, name: str) -> Ended:
    if side.methods[name].stream:
        return calling.client.send(calling.ours, name, request_of(side, name), [])
    return calling.call(name, request_of(side, name))[0]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", NAMES)
@pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)
def test_methods_that_cannot_be_called_are_refused_one_by_one_in_words(
    world: World, side: Sides, languages: tuple[str, str], pair: str, direction: str
) -> None:
    calling = world.calling(languages, pair, direction)
    ours = side(pair, sides(direction)[0])
    for case in cases(pair)["cases"]:
        if case[direction] not in ("refused", "unknown_method"):
            continue
        code = "UNKNOWN_METHOD" if case[direction] == "unknown_method" else "SCHEMA_MISMATCH"
        wanted = Ended(code, "NOT_EXECUTED", f"{calling.peer}: {case[f'reason_{direction}']}")
        assert ended(calling, ours, case["method"]) == wanted
    assert calling.took() == []


RENAMED = {"renamed_method": "former", "former": "renamed_method"}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", NAMES)
@pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)
def test_methods_of_which_no_value_is_given_reach_the_server_if_they_can_be_called(
    world: World, side: Sides, languages: tuple[str, str], pair: str, direction: str
) -> None:
    calling = world.calling(languages, pair, direction)
    ours, theirs = (side(pair, each) for each in sides(direction))
    given = {each["method"] for each in cases(pair)["values"]}
    for case in cases(pair)["cases"]:
        if case[direction] not in ("equal", "adapts", "checked") or case["method"] in given:
            continue
        name = case["method"]
        there = name if name in theirs.methods else RENAMED[name]
        if not theirs.methods[there].stream:
            calling.server.answer(calling.theirs, there, [result_of(theirs, there)])
        got = ended(calling, ours, name)
        assert (name, got.code, len(calling.took())) == (name, "OK", 1)


def number(value: int, size: int) -> str:
    return value.to_bytes(size, "little").hex()


@pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)
@pytest.mark.parametrize("through_a_relay", [False, True], ids=["direct", "relayed"])
def test_streams_go_both_ways_and_end_at_a_value_that_does_not_go_over(
    world: World, languages: tuple[str, str], through_a_relay: bool
) -> None:
    calling = world.calling(languages, SHAPES, "old_to_new", through_a_relay=through_a_relay)
    few, wide = [number(n, 2) for n in (1, 2, 65_535)], [number(n, 4) for n in (1, 2, 65_535)]

    calling.server.stream(calling.theirs, "stream_widens", wide)
    got = calling.client.send(calling.ours, "stream_widens", "", few)
    assert (got, calling.took()) == (Ended(stream=tuple(few)), ["", *wide])

    calling.server.stream(calling.theirs, "stream_widens", [*wide, number(65_536, 4)])
    got = calling.client.send(calling.ours, "stream_widens", "", few)
    words = "Evolving.stream_widens: result stream: 65536 does not fit u16 of the client's schema"
    assert (got.code, got.message) == ("DECODE_ERROR", f"{calling.peer}: {words}")
    assert list(got.stream) == few[: len(got.stream)]
    calling.took()

    calling.server.stream(calling.theirs, "stream_of_structs", [number(7, 4) + number(8, 4)])
    got = calling.client.send(calling.ours, "stream_of_structs", "", [])
    assert got == Ended(stream=(number(7, 4),))


@pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)
def test_a_value_that_is_sent_in_a_stream_and_does_not_go_over_ends_the_call_in_words(
    world: World, languages: tuple[str, str]
) -> None:
    calling = world.calling(languages, SHAPES, "new_to_old")
    got = calling.client.send(calling.ours, "stream_widens", "", [number(1, 4), number(65_536, 4)])
    words = "Evolving.stream_widens: parameter stream: 65536 does not fit u16 of the server's schema"
    wanted = ("INVALID_ARGUMENT", "UNKNOWN", f"{calling.peer}: {words}")
    assert (got.code, got.execution, got.message) == wanted


def declared(place: int, value: str) -> Ended:
    return Ended("DECLARED", "UNKNOWN", "", place, value)


@pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)
@pytest.mark.parametrize("through_a_relay", [False, True], ids=["direct", "relayed"])
def test_declared_errors_arrive_in_the_schema_and_the_order_of_the_client(
    world: World, languages: tuple[str, str], through_a_relay: bool
) -> None:
    calling = world.calling(languages, SHAPES, "old_to_new", through_a_relay=through_a_relay)

    def thrown(method: str, place: int, value: str) -> Ended:
        calling.server.throw(calling.theirs, method, place, value)
        return without_words_of_its_own(calling.call(method, "")[0])

    text = "03" + b"why".hex()
    assert thrown("error_grows", 0, number(7, 1) + text) == declared(0, number(7, 1))
    assert thrown("throws_in_another_order", 0, text) == declared(1, text)
    assert thrown("throws_in_another_order", 1, number(7, 1)) == declared(0, number(7, 1))
    assert thrown("error_kept", 0, text) == declared(0, text)
    words = "Evolving.throws_more: OtherError was thrown, which the client's schema does not declare"
    assert thrown("throws_more", 1, text) == Ended("HANDLER_FAILED", "UNKNOWN", f"{calling.peer}: {words}")
    assert thrown("error_widens", 0, "ffff03") == declared(0, "ffff03")
    got = thrown("error_widens", 0, "808004")
    words = "Evolving.error_widens: error ErrorWidensError: a: 65536 does not fit u16 of the client's schema"
    assert got == Ended("DECODE_ERROR", "UNKNOWN", f"{calling.peer}: {words}")


def without_words_of_its_own(got: Ended) -> Ended:
    """What a declared error says of itself differs with the language."""
    return Ended(**{**vars(got), "message": "" if got.code == "DECLARED" else got.message})


def test_the_cases_are_hundreds_and_so_are_the_values() -> None:
    found: list[dict[str, Any]] = [cases(pair) for pair in NAMES]
    assert sum(len(each["cases"]) for each in found) >= 400
    assert sum(len(each["values"]) for each in found) >= 700
