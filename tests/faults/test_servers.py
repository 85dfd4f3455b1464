"""Servers that are killed, come back elsewhere, or find their port taken."""

import sys
import time
from collections.abc import Collection

import pytest

from tests.interop.peers import LANGUAGES, Line, Peers, Process

COMES_BACK = 10.0  # seconds; the time is bounded, not measured
LOST = ("CONNECTION_LOST", "UNAVAILABLE", "SHUTTING_DOWN")


def by_room(answer: list[Line]) -> dict[str, Line]:
    return {each["room"]: each for each in answer}


def eventually(client: Process, command: str, answering: set[str], lost: Collection[str] = ()) -> bool:
    """Whether the command is answered, in time, by these rooms alone, and the others are said to be lost."""
    end = time.monotonic() + COMES_BACK
    while time.monotonic() < end:
        answer = by_room(client.ask(command))
        ended = {room for room, each in answer.items() if each["code"] in LOST}
        if {room for room, each in answer.items() if each["ok"]} == answering and ended == set(lost):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_a_killed_server_is_skipped_in_a_scatter_and_used_again_on_another_port(
    peers: Peers, client: str, server: str
) -> None:
    controller = peers.controller().address
    peers.server("cpp", "--controller", controller, "--room", "red")
    blue = peers.server(server, "--controller", controller, "--room", "blue")
    calling = peers.client(client, controller)
    assert eventually(calling, "everywhere", {"red", "blue"})

    blue.kill()
    without = by_room(calling.ask("on red,blue"))

    assert without["red"]["ok"]
    assert not without["blue"]["ok"]
    assert without["blue"]["code"] in LOST, without
    assert eventually(calling, "everywhere", {"red"}, lost={"blue"})

    again = peers.server(server, "--controller", controller, "--room", "blue")

    assert again.address != blue.address
    assert eventually(calling, "on red,blue", {"red", "blue"})
    assert eventually(calling, "everywhere", {"red", "blue"})


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_a_call_in_flight_to_a_killed_server_ends_long_before_its_deadline(
    peers: Peers, client: str, server: str
) -> None:
    serving = peers.server(server, "--room", "red")
    calling = peers.client(client, serving.address)
    assert by_room(calling.ask("who red"))["red"]["ok"]
    calling.tell("slow red")
    time.sleep(0.5)

    serving.kill()

    answer = calling.answer(patience=10.0)  # of 30 s
    assert answer[0]["code"] == "CONNECTION_LOST", answer


@pytest.mark.parametrize("client", LANGUAGES)
def test_a_client_of_one_server_uses_it_again_after_a_restart_at_its_address(
    peers: Peers, client: str
) -> None:
    serving = peers.server("cpp", "--room", "red")
    calling = peers.client(client, serving.address)
    assert eventually(calling, "who red", {"red"})
    serving.kill()
    assert by_room(calling.ask("who red"))["red"]["code"] in LOST

    peers.server("cpp", "--listen", serving.address, "--room", "red")

    assert eventually(calling, "who red", {"red"})


def test_a_taken_port_is_said_in_one_sentence(peers: Peers) -> None:
    taken = peers.server("cpp", "--room", "red").address
    port = taken.rpartition(":")[2]
    run = f"import mf; mf.Server({taken!r}).run()"
    commands = {
        "mf-controller": [*peers.controller_command(), "--listen", taken],
        "mf.Server of Python": [sys.executable, "-c", run],
        "mf::Server of C++": [*peers.server_command("cpp"), "--listen", taken, "--room", "red"],
    }
    for name, command in commands.items():
        second = peers.refused_server(command)

        assert second.wait(20.0) == 1, name
        said = [line for line in second.said().splitlines() if " info " not in line]
        assert len(said) == 1, (name, said)
        assert port in said[0], (name, said)
        assert "in use" in said[0] or "taken" in said[0], (name, said)
