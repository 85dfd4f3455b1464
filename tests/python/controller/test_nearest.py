"""A client takes the unix socket of a server on its own host by itself, and of no other server."""

import socket
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

import mf
from mf.link.resolver import Instance, StaticResolver, View
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoClient
from tests.python.server.test_unix_server import WhoCalls, serving
from tests.python.serving import AnyServer

__all__ = ["controller"]
BOTH = ["a", "b"]


class Known(StaticResolver):
    """Instances by agent, as a controller would tell them."""

    def __init__(self, agents: Mapping[str, Instance]) -> None:
        super().__init__([])
        self._view = View({agent: (instance,) for agent, instance in agents.items()})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s"


def at_two(
    path: Path, servant: WhoCalls, controller: str | None = None, advertise: str | None = None
) -> mf.Server:
    server = mf.Server(f"tcp://127.0.0.1:0,unix:{path}", controller, advertise=advertise, drain_timeout=2.0)
    for agent in BOTH:
        server.offer(servant, agent=agent)
    return server


def near(server: AnyServer, path: Path) -> Instance:
    return Instance(server.address, 1, f"unix:{path}", server.nonce)


def test_it_is_the_unix_socket_that_the_server_registered(controller: Running, path: Path) -> None:
    servant = WhoCalls()
    with at_two(path, servant, controller=controller.address) as server:
        with mf.Client(controller.address) as client:
            assert EchoClient(client).at("a").twice(1) == 2
            assert servant.peer.startswith(f"unix:{path} (process ")
        assert controller.servant.instances()[0].offer.addresses == server.addresses
        path.rename(path.with_name("elsewhere"))  # as if the server were on another host
        with mf.Client(controller.address) as client:
            assert EchoClient(client).at("a").twice(1) == 2
            assert servant.peer.startswith("127.0.0.1:")


def test_an_advertised_address_takes_the_place_of_those_over_the_network(
    controller: Running, path: Path
) -> None:
    with at_two(path, WhoCalls(), controller=controller.address, advertise="tcp://127.0.0.1:1") as server:
        with mf.Client(controller.address) as client:
            assert EchoClient(client).at("a").twice(1) == 2
        assert controller.servant.instances()[0].offer.addresses == ["tcp://127.0.0.1:1", server.addresses[1]]


def test_it_is_not_the_socket_of_another_server_at_that_path(path: Path) -> None:
    wanted = WhoCalls()
    with serving("tcp://127.0.0.1:0", wanted) as server, serving(f"unix:{path}", WhoCalls()):  # noqa: SIM117
        with mf.Client(Known({"a": near(server, path)})) as client:
            assert EchoClient(client).at("a").twice(1) == 2
    assert wanted.peer.startswith("127.0.0.1:")


def test_one_that_does_not_say_who_it_is_is_given_up_with_the_connection(path: Path) -> None:
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(path))
    silent.listen()
    hanging_up = threading.Thread(target=lambda: silent.accept()[0].close())
    hanging_up.start()
    wanted = WhoCalls()
    with (
        serving("tcp://127.0.0.1:0", wanted) as server,
        mf.Client(Known({"a": near(server, path)})) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2
    hanging_up.join()
    silent.close()
    assert wanted.peer.startswith("127.0.0.1:")


def test_a_path_where_nobody_listens_any_more_is_passed_over(path: Path) -> None:
    path.touch()
    wanted = WhoCalls()
    with (
        serving("tcp://127.0.0.1:0", wanted) as server,
        mf.Client(Known({"a": near(server, path)})) as client,
    ):
        assert EchoClient(client).at("a").twice(1) == 2
    assert wanted.peer.startswith("127.0.0.1:")


def test_scattered_calls_go_there_too(path: Path) -> None:
    servant = WhoCalls()
    other = WhoCalls()
    with at_two(path, servant) as server, serving("tcp://127.0.0.1:0", other) as far:
        known = {"a": near(far, path), **dict.fromkeys(BOTH[1:], near(server, path))}
        with mf.Client(Known(known)) as client:
            assert EchoClient(client).on(BOTH).twice(2).ok == {"a": 4, "b": 4}
    assert servant.peer.startswith(f"unix:{path} ")
    assert other.peer.startswith("127.0.0.1:")
