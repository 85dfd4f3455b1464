"""Harm to processes while calls, batches and scattered calls are under way: how each of them ends, and that
it ends once. Servers and clients of both languages, each with each. For streams: tests/conformance."""

import signal
import time
from collections import Counter

import pytest

from tests.faults.test_servers import by_room
from tests.interop.peers import LANGUAGES, Peers, Process

ITEMS = 20
STOPPED = 1.0  # seconds; shorter than any limit of a connection, a deadline or a lease


def reaches(calling: Process, room: str) -> bool:
    return bool(by_room(calling.ask(f"who {room}"))[room]["ok"])


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_a_batch_of_a_killed_server_is_split_exactly(peers: Peers, client: str, server: str) -> None:
    serving = peers.server(server, "--room", "red")
    calling = peers.client(client, serving.address)
    assert reaches(calling, "red")
    calling.tell(f"slow_batch {ITEMS}")
    time.sleep(0.7)

    serving.kill()

    ended = [(each["code"], each["execution"].upper()) for each in calling.answer()]
    assert len(ended) == ITEMS
    assert ended[0] == ("", "")  # the first one had a result, which it keeps
    counts = Counter(ended[1:])
    assert counts["CONNECTION_LOST", "UNKNOWN"] == 4, counts  # those under way
    assert counts["UNAVAILABLE", "NOT_EXECUTED"] == ITEMS - 5, counts


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_a_scattered_call_loses_the_killed_servers_part_alone(peers: Peers, client: str, server: str) -> None:
    controller = peers.controller().address
    red = peers.server(server, "--controller", controller, "--room", "red")
    peers.server(server, "--controller", controller, "--room", "blue")
    calling = peers.client(client, controller)
    assert reaches(calling, "red")
    assert reaches(calling, "blue")
    calling.tell("slow_on red,blue")
    time.sleep(0.7)

    red.kill()
    time.sleep(0.3)
    calling_other = peers.client(client, controller)

    assert reaches(calling_other, "blue")  # whose handler is still at it
    parts = by_room(calling.answer())
    assert (parts["red"]["code"], parts["red"]["execution"].upper()) == ("CONNECTION_LOST", "UNKNOWN")
    assert parts["blue"]["code"] == "DEADLINE_EXCEEDED"


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_calls_wait_for_a_server_that_is_stopped_and_goes_on(peers: Peers, client: str, server: str) -> None:
    serving = peers.server(server, "--room", "red")
    calling = peers.client(client, serving.address)
    assert reaches(calling, "red")
    calling.ask("begin red")

    for _ in range(3):
        serving.signal(signal.SIGSTOP)
        time.sleep(STOPPED)
        serving.signal(signal.SIGCONT)
        time.sleep(0.2)

    calls = calling.ask("end")[0]
    assert calls["failed"] == 0, calls
    assert calls["calls"] > 10


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_no_call_fails_while_the_controller_is_stopped(peers: Peers, client: str, server: str) -> None:
    controller = peers.controller()
    peers.server(server, "--controller", controller.address, "--room", "red")
    calling = peers.client(client, controller.address)
    assert reaches(calling, "red")
    calling.ask("begin red")

    controller.signal(signal.SIGSTOP)
    time.sleep(2 * STOPPED)
    late = peers.server(server, "--controller", controller.address, "--room", "blue")
    controller.signal(signal.SIGCONT)

    assert reaches(calling, "blue"), late.said()
    calls = calling.ask("end")[0]
    assert calls["failed"] == 0, calls
    assert calls["calls"] > 50


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_no_call_fails_while_three_servers_are_replaced(peers: Peers, client: str, server: str) -> None:
    controller = peers.controller().address
    serving = [peers.server(server, "--controller", controller, "--room", "red") for _ in range(3)]
    calling = peers.client(client, controller)
    assert reaches(calling, "red")
    calling.ask("begin red")

    for old in serving:
        peers.server(server, "--controller", controller, "--room", "red")
        time.sleep(0.3)
        old.signal(signal.SIGTERM)
        assert old.wait() == 0, old.said()

    calls = calling.ask("end")[0]
    assert calls["failed"] == 0, calls
    assert calls["calls"] > 50
