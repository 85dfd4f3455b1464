"""A controller that comes late, dies and comes back: servers and clients wait for it, and go on without."""

import time
from pathlib import Path

import pytest

from tests.interop.peers import LANGUAGES, Line, Peers, free_port

CPU_SHARE = 0.1  # of a processor: of a process that has nothing to do but wait


def right(answer: list[Line]) -> bool:
    return bool(answer) and all(each["ok"] for each in answer)


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_servers_and_clients_wait_for_their_controller_without_burning_cpu(
    peers: Peers, client: str, server: str
) -> None:
    port = free_port()
    controller = f"mf://127.0.0.1:{port}"
    waiting_client = peers.client(client, controller)
    waiting_client.tell("who red")
    waiting_server = peers.server(server, "--controller", controller, "--room", "red")
    time.sleep(1.0)  # both have started and found no other
    began = time.monotonic()
    before = [each.cpu_seconds() for each in (waiting_client, waiting_server)]
    time.sleep(3.0)
    after = [each.cpu_seconds() for each in (waiting_client, waiting_server)]
    for spent, earlier in zip(after, before, strict=True):
        assert spent - earlier < CPU_SHARE * (time.monotonic() - began)

    peers.controller(port)

    assert right(waiting_client.answer())


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_no_direct_call_fails_while_the_controller_is_killed_and_restarted(
    peers: Peers, tmp_path: Path, client: str, server: str
) -> None:
    store = str(tmp_path / "store")
    controller = peers.controller(store=store)
    where, port = controller.address, int(controller.address.rpartition(":")[2])
    peers.server(server, "--controller", where, "--room", "red")
    calling = peers.client(client, where)
    assert right(calling.ask("who red"))
    calling.ask("begin red")
    time.sleep(0.5)

    controller.kill()
    late = peers.server(server, "--controller", where, "--room", "blue")  # no controller to register at yet
    time.sleep(1.5)
    peers.controller(port, store)
    found_by_old = calling.ask("who blue")
    found_by_new = peers.client(client, where).ask("who red")
    calls = calling.ask("end")[0]

    assert right(found_by_old), late.said()
    assert right(found_by_new)
    assert calls["failed"] == 0, calls
    assert calls["calls"] > 50


@pytest.mark.parametrize("client", LANGUAGES)
def test_a_client_may_come_before_any_server(peers: Peers, client: str) -> None:
    where = peers.controller().address
    calling = peers.client(client, where)
    calling.tell("who red")
    time.sleep(1.0)

    peers.server("cpp", "--controller", where, "--room", "red")

    assert right(calling.answer())


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_a_direct_client_may_come_before_its_server(peers: Peers, client: str, server: str) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    calling = peers.client(client, address)
    calling.tell("who red")
    time.sleep(1.0)

    peers.server(server, "--listen", address, "--room", "red")

    assert right(calling.answer())
