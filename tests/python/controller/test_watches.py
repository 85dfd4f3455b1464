"""How clients learn where servers are: one stream for each service, resumed after an interruption; known
instances stay while there is no news.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

import mf
from mf.controller import views
from mf.controller.async_resolver import AsyncControllerResolver
from mf.controller.resolver import ControllerResolver
from mf.core.error import Code, Execution
from mf.core.service import ServiceInfo
from mf.route.resolver import View
from tests.python.conftest import Recorder, eventually
from tests.python.controller.test_controller import Running, controller, serve
from tests.python.echo import DESCRIPTOR, EchoAsyncClient, EchoClient, service

__all__ = ["controller"]


class Elsewhere(Recorder):
    """The same service from another schema."""

    mf_service: ClassVar[ServiceInfo] = service(DESCRIPTOR.replace("   x i32", "   x f64"))


def served(controller: Running, agent: str, servant: Recorder | None = None) -> Any:
    return _Served(controller, agent, servant)


class _Served:
    def __init__(self, controller: Running, agent: str, servant: Recorder | None) -> None:
        self.server = serve(controller, agent, servant)

    def __enter__(self) -> mf.Server:
        return self.server

    def __exit__(self, *_: object) -> None:
        self.server.stop()


def thread_names() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("mf-")]


def test_a_blocking_client_has_one_thread_for_all_that_it_watches_and_it_ends(controller: Running) -> None:
    resolver = ControllerResolver(controller.address)
    assert "mf-watch" not in thread_names()

    views = {name: resolver.view(name) for name in ("a.A", "b.B", "c.C")}
    for name, view in views.items():
        assert resolver.wait(name, view, 10.0).reached

    assert thread_names().count("mf-watch") == 1
    assert sorted(each[0] for each in controller.servant.watches) == ["a.A", "b.B", "c.C"]
    resolver.close()
    assert "mf-watch" not in thread_names()


def test_a_resolver_that_is_closed_watches_nothing_any_more(controller: Running) -> None:
    resolver = ControllerResolver(controller.address)
    resolver.close()
    assert resolver.wait("a.A", resolver.view("a.A"), 10.0).agents == {}
    assert "mf-watch" not in thread_names()


def test_who_waits_goes_on_when_the_resolver_is_closed(controller: Running) -> None:
    resolver = ControllerResolver(controller.address)
    known = resolver.wait("a.A", resolver.view("a.A"), 10.0)
    waiting = threading.Thread(target=resolver.wait, args=("a.A", known, 60.0))
    waiting.start()
    resolver.close()
    waiting.join(10.0)
    assert not waiting.is_alive()


def test_a_watch_that_was_cut_off_goes_on_where_it_was(controller: Running) -> None:
    with served(controller, "a"), mf.Client(controller.address) as client:
        assert EchoClient(client).at("a").twice(1) == 2
        (_, run, revision), *_ = controller.servant.watches
        assert (run, revision) == (0, 0)
        known = controller.servant.revision

        controller.cut()
        with served(controller, "b"):
            assert EchoClient(client).at("b").twice(1) == 2

    assert ("demo.Echo", controller.servant.run, known) in controller.servant.watches


def test_a_client_follows_more_changes_than_the_controller_remembers(controller: Running) -> None:
    with mf.Client(controller.address) as client:
        echo = EchoClient(client)
        server = mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
        for number in range(30):
            server.offer(Recorder(), agent=f"a{number}")
        with server:
            expected = {f"a{number}": 2 for number in range(30)}
            assert eventually(lambda: echo.everywhere().twice(1).ok == expected)
        assert eventually(lambda: not any(_view(client).agents.values()))


def _view(client: mf.Client) -> View:
    resolver = client._resolver
    assert resolver is not None
    return resolver.view("demo.Echo")


def test_what_is_known_is_served_while_no_controller_answers_and_the_log_says_so_once(
    controller: Running, caplog: pytest.LogCaptureFixture
) -> None:
    def said() -> list[str]:
        return [each.getMessage() for each in caplog.records]

    with (
        served(controller, "a"),
        caplog.at_level(logging.INFO, "mf"),
        mf.Client(controller.address) as client,
    ):
        echo = EchoClient(client)
        assert echo.at("a").twice(1) == 2
        controller.stop()
        assert eventually(lambda: any("does not answer" in each and "mf://" in each for each in said()))
        assert echo.at("a").twice(1) == 2
        assert echo.everywhere().twice(1).ok == {"a": 2}
        with pytest.raises(mf.Error, match=r'no server offers demo\.Echo for agent "b"'):
            echo.at("b").twice(1, options=mf.CallOptions(deadline=0.2))
        controller.start()
        again = f"the controller at {controller.address} answers again"
        assert eventually(lambda: again in said())
        with served(controller, "b"):
            assert echo.at("b").twice(1) == 2

    trouble = [each for each in said() if f"the controller at {controller.address} does not answer" in each]
    assert len(trouble) <= 2  # the client's, and the server's
    assert said().count(again) == 1


def test_servers_of_another_run_are_known_beside_those_of_the_one_before(controller: Running) -> None:
    with served(controller, "a"), mf.Client(controller.address) as client:
        echo = EchoClient(client)
        assert echo.at("a").twice(1) == 2
        controller.stop()
        controller.start()
        with served(controller, "b"):
            assert echo.at("b").twice(1) == 2
            assert echo.everywhere().twice(1).ok == {"a": 2, "b": 2}


def test_servers_of_another_run_are_forgotten_after_a_while_each_time(
    controller: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "KEEP_OLD", 0.05)
    with mf.Client(controller.address) as client:
        for agent in ("a", "b", "c"):
            with served(controller, agent):
                assert EchoClient(client).at(agent).twice(1) == 2
                controller.stop()
            controller.start()  # it never learns of the server that has gone meanwhile
            assert eventually(lambda: _view(client).agents.get(agent) == ())  # noqa: B023


@contextmanager
def two_schemas(controller: Running, count: int) -> Iterator[None]:
    with served(controller, "a"):
        others = [serve(controller, "a", Elsewhere()) for _ in range(count)]
        assert eventually(lambda: len(controller.servant.instances()) == count + 1)
        yield
        for each in others:
            each.stop()


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_of_servers_with_two_schemas_a_client_calls_those_with_its_own(controller: Running, way: str) -> None:
    async def call_async() -> list[int]:
        async with mf.AsyncClient(controller.address) as client:
            echo = EchoAsyncClient(client).at("a")
            return [await echo.twice(x) for x in range(50)]

    with two_schemas(controller, 3):
        if way == "asyncio":
            assert asyncio.run(call_async()) == [2 * x for x in range(50)]
        else:
            with mf.Client(controller.address) as client:
                assert [EchoClient(client).at("a").twice(x) for x in range(50)] == [2 * x for x in range(50)]
                assert EchoClient(client).everywhere().twice(1).ok == {"a": 2}


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
@pytest.mark.parametrize("count", [1, 3])
def test_a_client_that_finds_only_schemas_that_do_not_allow_a_call_is_told_at_once_and_why(
    controller: Running, way: str, count: int
) -> None:
    async def call_async() -> None:
        async with mf.AsyncClient(controller.address) as client:
            await EchoAsyncClient(client).at("a").twice(1)

    def call() -> None:
        with mf.Client(controller.address) as client:
            EchoClient(client).at("a").twice(1)

    servers = [serve(controller, "a", Elsewhere()) for _ in range(count)]
    assert eventually(lambda: len(controller.servant.instances()) == count)
    with pytest.raises(mf.Error) as raised:
        asyncio.run(call_async()) if way == "asyncio" else call()
    addresses = [each.address for each in servers]
    for each in servers:
        each.stop()

    error = raised.value
    assert (error.code, error.execution) == (Code.SCHEMA_MISMATCH, Execution.NOT_EXECUTED)
    words = "Echo.twice: parameter x: i32 here, f64 there"
    all_of_them = 'all servers of demo.Echo for agent "a" have another schema: ' if count > 1 else ""
    assert error.message in [f"{all_of_them}{address}: {words}" for address in addresses]


def failure(method: Callable[[int], int]) -> str:
    try:
        method(1)
    except mf.Error as error:
        return error.message
    return ""


def test_servers_whose_schema_does_not_allow_a_call_never_get_it(
    controller: Running,
) -> None:
    other = Elsewhere()
    with mf.Client(controller.address) as client:
        echo = EchoClient(client).at("a")
        with served(controller, "a"):
            assert echo.twice(1) == 2
            away = serve(controller, "a", other)
            assert eventually(lambda: len(controller.servant.instances()) == 2)
        what = f"{away.address}: Echo.twice: parameter x: i32 here, f64 there"
        assert eventually(lambda: failure(echo.twice) == what)  # once it has heard of all that
        away.stop()
    assert other.calls == 0


def test_a_client_moves_to_another_controller_when_its_own_has_gone() -> None:
    first, second = Running(), Running()
    where = f"{first.address},{second.address}"
    with mf.Client(where) as client:
        echo = EchoClient(client)
        with served_at(where, "a"):
            assert echo.at("a").twice(1) == 2
            watched, other = (first, second) if first.servant.watches else (second, first)
            watched.stop()
            with served_at(where, "b"):
                assert echo.at("b").twice(1) == 2
            assert [name for name, _, _ in other.servant.watches] == ["demo.Echo"]
    other.stop()


@contextmanager
def served_at(where: str, agent: str) -> Iterator[None]:
    server = mf.Server(controller=where, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Recorder(), agent=agent)
    with server:
        yield


def test_a_client_of_asyncio_that_is_closed_leaves_no_task_and_no_timer(controller: Running) -> None:
    async def main() -> set[asyncio.Task[Any]]:
        resolver = AsyncControllerResolver(controller.address)
        client = mf.AsyncClient(resolver)
        assert await EchoAsyncClient(client).at("a").twice(1) == 2
        controller.stop()
        controller.start()  # so that it keeps what it knew for a while
        assert await EchoAsyncClient(client).at("a").twice(1) == 2
        await client.close()
        return asyncio.all_tasks() - {asyncio.current_task()}

    with served(controller, "a"):
        assert asyncio.run(main()) == set()
