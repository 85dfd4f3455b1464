"""Finding servers through a controller, here a Python servant of the controller's interface."""

import threading
import time
from collections.abc import Iterator

import pytest

import mf
from mf.core.error import Code, Execution
from mf.link.background import Background
from tests.python.client.test_calls import free_port
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient
from tests.simulation.programs.small_controller import SmallController


class Running:
    """A controller that can be stopped and started again on its port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.run = 10
        self.start()

    @property
    def address(self) -> str:
        return f"mf://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.run += 1
        self.thread = Background("controller")
        self.servant, self.server = self.thread.call(self._make)
        self.thread.run(self.server.start(), 10)

    def _make(self) -> tuple[SmallController, mf.AsyncServer]:
        servant = SmallController(self.run)
        server = mf.AsyncServer(f"tcp://127.0.0.1:{self.port}", options=mf.ServerOptions(drain_timeout=1.0))
        server.offer(servant)
        return servant, server

    def stop(self) -> None:
        self.thread.call(self.servant.stop)
        self.thread.stop(self.server.stop(), 10)

    def forget(self) -> None:
        """Simulates the end of all registrations."""
        self.thread.call(self.servant.forget)

    def cut(self) -> None:
        """Ends all watches."""
        self.thread.call(self.servant.cut)


@pytest.fixture
def controller() -> Iterator[Running]:
    running = Running()
    yield running
    running.stop()


def serve(controller: Running, agent: str, servant: Recorder | None = None) -> mf.Server:
    server = mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(servant or Recorder(), agent=agent)
    server.start()
    return server


def test_a_server_registers_and_is_found(controller: Running) -> None:
    with serve_once(controller, "books"), mf.Client(controller.address) as client:
        assert EchoClient(client).at("books").twice(4) == 8
        assert EchoClient(client).any().twice(4) == 8


class serve_once:  # noqa: N801 - reads as a function
    def __init__(self, controller: Running, agent: str) -> None:
        self.server = serve(controller, agent)

    def __enter__(self) -> mf.Server:
        return self.server

    def __exit__(self, *_: object) -> None:
        self.server.stop()


def test_agents_come_and_go_and_everywhere_follows(controller: Running) -> None:
    with mf.Client(controller.address) as client:
        echo = EchoClient(client)
        first = serve(controller, "a")
        assert echo.everywhere().twice(1).ok == {"a": 2}
        second = serve(controller, "b")
        assert eventually(lambda: echo.everywhere().twice(1).ok == {"a": 2, "b": 2})
        first.stop()
        assert eventually(lambda: echo.everywhere().twice(1).ok == {"b": 2})

        start = time.monotonic()
        with pytest.raises(mf.Error) as raised:
            echo.at("a").twice(1)
        second.stop()

    assert time.monotonic() - start < 1  # seen before and gone: fails at once
    assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)
    assert 'no server offers demo.Echo for agent "a"; known agents: "b"' in raised.value.message


def test_an_agent_never_seen_is_waited_for_and_no_longer_than_told(controller: Running) -> None:
    with mf.Client(controller.address, mf.ClientOptions(wait_for_server=0.3)) as client:
        start = time.monotonic()
        with pytest.raises(mf.Error, match="no server offers") as raised:
            EchoClient(client).at("y").twice(1)
        took = time.monotonic() - start

    assert 0.2 < took < 2
    assert raised.value.execution == Execution.NOT_EXECUTED


def test_an_agent_that_comes_while_it_is_waited_for_is_used(controller: Running) -> None:
    servers: list[mf.Server] = []
    timer = threading.Timer(0.3, lambda: servers.append(serve(controller, "late")))
    timer.start()
    with mf.Client(controller.address) as client:
        assert EchoClient(client).at("late").twice(2) == 4
    timer.join()
    servers[0].stop()


def test_client_and_server_may_come_before_the_controller() -> None:
    controller = Running()
    controller.stop()
    server = serve(controller, "a")
    timer = threading.Timer(0.3, controller.start)
    timer.start()
    with mf.Client(controller.address) as client:
        assert EchoClient(client).at("a").twice(2) == 4
    timer.join()
    server.stop()
    controller.stop()


def test_a_controller_that_never_comes_is_named_at_the_deadline() -> None:
    port = free_port()
    with mf.Client(f"mf://127.0.0.1:{port}") as client, pytest.raises(mf.Error) as raised:
        EchoClient(client).at("a").twice(2, options=mf.CallOptions(deadline=0.3))

    assert (raised.value.code, raised.value.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)


def test_known_servers_go_on_being_called_while_the_controller_is_away_and_after_it_is_back(
    controller: Running,
) -> None:
    failed: list[mf.Error] = []
    done = threading.Event()
    with serve_once(controller, "a"), mf.Client(controller.address) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2

        def call() -> None:
            while not done.is_set():
                try:
                    echo.twice(1)
                except mf.Error as error:
                    failed.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        controller.stop()
        time.sleep(0.3)
        controller.start()
        assert eventually(lambda: bool(controller.servant.instances()))
        time.sleep(0.2)
        done.set()
        thread.join()

    assert failed == []


def test_a_server_that_the_controller_forgot_registers_again(controller: Running) -> None:
    with serve_once(controller, "a") as server:
        assert eventually(lambda: bool(controller.servant.instances()))
        controller.forget()
        assert eventually(lambda: bool(controller.servant.instances()))
        (instance,) = controller.servant.instances()

    key = instance.offer.key
    assert instance.offer.addresses == [server.address]
    assert (key.name, key.agent, instance.instance.bytes) == ("demo.Echo", "a", server.nonce)
    assert eventually(lambda: controller.servant.instances() == [])


def test_calls_are_spread_over_the_instances_of_an_agent_and_survive_one_of_them(controller: Running) -> None:
    servants = [Recorder(), Recorder()]
    servers = [serve(controller, "a", servant) for servant in servants]
    with mf.Client(controller.address) as client:
        echo = EchoClient(client).at("a")
        assert eventually(lambda: (echo.flaky(1), all(servant.calls for servant in servants))[1])
        servers[0].stop()
        assert [echo.flaky(x) for x in range(50)] == list(range(50))
    servers[1].stop()


def test_a_server_that_listens_everywhere_advertises_an_address_that_can_be_reached(
    controller: Running,
) -> None:
    server = mf.Server("tcp://0.0.0.0:0", controller.address, open=True, drain_timeout=1.0)
    server.offer(Recorder(), agent="a")
    with server, mf.Client(controller.address) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        (instance,) = controller.servant.instances()

    assert instance.offer.addresses == [server.address.replace("0.0.0.0", "127.0.0.1")]
