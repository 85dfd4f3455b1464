"""A client of either kind automatically uses the unix socket of a server on its own host, and of no other."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import mf
from mf.route.async_resolver import AsyncStaticResolver
from mf.route.resolver import Instance, StaticResolver, View
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncClient, EchoClient
from tests.python.server.test_unix_server import WhoCalls, serving
from tests.python.serving import AnyServer

__all__ = ["controller"]
BOTH = ["a", "b"]


Agents = Mapping[str, Instance]
"""Instances by agent, as a controller would tell them."""

Twice = Callable[[str | Agents, int], dict[str, int]]
"""The results of a new client from agent "a" of a controller, or from each of the known agents."""


def known(agents: Agents) -> View:
    return View({agent: (instance,) for agent, instance in agents.items()})


class Known(StaticResolver):
    def __init__(self, agents: Agents) -> None:
        super().__init__([])
        self._view = known(agents)


class AwaitedKnown(AsyncStaticResolver):
    def __init__(self, agents: Agents) -> None:
        super().__init__([])
        self._view = known(agents)


def blocking(where: str | Agents, x: int) -> dict[str, int]:
    with mf.Client(where if isinstance(where, str) else Known(where)) as client:
        return EchoClient(client).on(["a"] if isinstance(where, str) else where).twice(x).ok


def blocking_alone(where: str | Agents, x: int) -> dict[str, int]:
    with mf.Client(where if isinstance(where, str) else Known(where)) as client:
        agents = ["a"] if isinstance(where, str) else where
        return {agent: EchoClient(client).at(agent).twice(x) for agent in agents}


def awaited(where: str | Agents, x: int) -> dict[str, int]:
    async def run() -> dict[str, int]:
        async with mf.AsyncClient(where if isinstance(where, str) else AwaitedKnown(where)) as client:
            return (await EchoAsyncClient(client).on(["a"] if isinstance(where, str) else where).twice(x)).ok

    return asyncio.run(run())


@pytest.fixture(params=[blocking_alone, blocking, awaited], ids=["alone", "scattered", "awaited"])
def twice(request: pytest.FixtureRequest) -> Twice:
    driver: Twice = request.param
    return driver


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s"


def at_two(
    path: Path, servant: WhoCalls, controller: str | None = None, advertise: str | None = None
) -> mf.Server:
    server = mf.Server(
        f"tcp://127.0.0.1:0,unix:{path}", controller, mf.ServerOptions(advertise=advertise, drain_timeout=2.0)
    )
    for agent in BOTH:
        server.offer(servant, agent=agent)
    return server


def near(server: AnyServer, path: Path) -> Instance:
    return Instance(server.address, 1, f"unix:{path}", server.nonce)


def test_it_is_the_unix_socket_that_the_server_registered(
    twice: Twice, controller: Running, path: Path
) -> None:
    servant = WhoCalls()
    with at_two(path, servant, controller=controller.address) as server:
        assert twice(controller.address, 1) == {"a": 2}
        assert servant.peer.startswith(f"unix:{path} (process ")
        assert controller.servant.instances()[0].offer.addresses == server.addresses
        path.rename(path.with_name("elsewhere"))  # as if the server were on another host
        assert twice(controller.address, 1) == {"a": 2}
        assert servant.peer.startswith("tcp://127.0.0.1:")


def test_an_advertised_address_takes_the_place_of_those_over_the_network(
    twice: Twice, controller: Running, path: Path
) -> None:
    with at_two(path, WhoCalls(), controller=controller.address, advertise="tcp://127.0.0.1:1") as server:
        assert twice(controller.address, 1) == {"a": 2}
        assert controller.servant.instances()[0].offer.addresses == ["tcp://127.0.0.1:1", server.addresses[1]]


def test_it_is_not_the_socket_of_another_server_at_that_path(twice: Twice, path: Path) -> None:
    wanted = WhoCalls()
    with serving("tcp://127.0.0.1:0", wanted) as server, serving(f"unix:{path}", WhoCalls()):
        assert twice({"a": near(server, path)}, 1) == {"a": 2}
    assert wanted.peer.startswith("tcp://127.0.0.1:")


def test_one_that_does_not_say_who_it_is_is_given_up_with_the_connection(twice: Twice, path: Path) -> None:
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(path))
    silent.listen()
    hanging_up = threading.Thread(target=lambda: silent.accept()[0].close())
    hanging_up.start()
    wanted = WhoCalls()
    with serving("tcp://127.0.0.1:0", wanted) as server:
        assert twice({"a": near(server, path)}, 1) == {"a": 2}
    hanging_up.join()
    silent.close()
    assert wanted.peer.startswith("tcp://127.0.0.1:")


def test_a_path_where_nobody_listens_any_more_is_passed_over(twice: Twice, path: Path) -> None:
    path.touch()
    wanted = WhoCalls()
    with serving("tcp://127.0.0.1:0", wanted) as server:
        assert twice({"a": near(server, path)}, 1) == {"a": 2}
    assert wanted.peer.startswith("tcp://127.0.0.1:")


def test_each_agent_is_called_where_it_is(twice: Twice, path: Path) -> None:
    servant = WhoCalls()
    other = WhoCalls()
    with at_two(path, servant) as server, serving("tcp://127.0.0.1:0", other) as far:
        assert twice({"a": near(far, path), "b": near(server, path)}, 2) == {"a": 4, "b": 4}
    assert servant.peer.startswith(f"unix:{path} ")
    assert other.peer.startswith("tcp://127.0.0.1:")


def test_a_path_that_another_user_could_replace_is_not_used_and_logged_once(
    twice: Twice, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.chmod(0o777)
    wanted = WhoCalls()
    with serving(f"tcp://127.0.0.1:0,unix:{path}", wanted) as server:
        for _ in range(2):
            assert twice({"a": near(server, path)}, 1) == {"a": 2}
    assert wanted.peer.startswith("tcp://127.0.0.1:")
    said = [each for each in caplog.messages if each.startswith("path_not_used ")]
    assert len(said) == 2  # one of each client
    assert f"other users may write to {path.parent}" in said[0]


def refusal(twice: Twice, instance: Instance) -> str:
    """Why agent "a", of which nothing but this instance is known, is not called."""
    if twice is blocking_alone:
        with pytest.raises(mf.Error) as refused:
            twice({"a": instance}, 1)
        assert refused.value.execution == mf.Execution.NOT_EXECUTED
        return refused.value.message
    with mf.Client(Known({"a": instance})) as client:
        failed = EchoClient(client).on(["a"]).twice(1).failed["a"]
        assert isinstance(failed, mf.Error)
        return failed.message


def test_a_server_with_only_such_a_path_is_not_called(twice: Twice, path: Path) -> None:
    with serving(f"unix:{path}", WhoCalls()) as server:
        instance = Instance(f"unix:{path}", 1, f"unix:{path}", server.nonce)
        assert twice({"a": instance}, 1) == {"a": 2}
        path.parent.chmod(0o777)
        assert "other users may write" in refusal(twice, instance)


def test_a_path_where_another_process_listens_is_not_called(twice: Twice, path: Path) -> None:
    foreign = WhoCalls()
    with serving(f"unix:{path}", foreign):
        instance = Instance(f"unix:{path}", 1, f"unix:{path}", bytes(16))
        assert "another process answers" in refusal(twice, instance)
    assert not foreign.peer


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other users")
def test_the_socket_of_another_user_is_not_used_although_its_server_has_the_nonce(
    twice: Twice, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Any process may copy the nonce, which the controller sends: here the server behind the path even is the
    registered one."""
    wanted = WhoCalls()
    with serving(f"tcp://127.0.0.1:0,unix:{path}", wanted) as server:
        os.chown(path, 12_345, 12_345)
        assert twice({"a": near(server, path)}, 1) == {"a": 2}
        assert wanted.peer.startswith("tcp://")

    said = [each.getMessage() for each in caplog.records if "path_not_used" in each.getMessage()]
    assert said == [f'path_not_used address=unix:{path} reason="{path} belongs to user 12345"']
