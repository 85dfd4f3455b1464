"""Missing controllers: the error of the call and the log name the controller and the reason; and one of
several suffices.
"""

import asyncio
import logging

import pytest

import mf
from mf.client import standing
from mf.controller import connection
from tests.python.client.test_calls import free_port
from tests.python.conftest import Recorder, eventually
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncClient, EchoClient

__all__ = ["controller"]


def told(where: str) -> str:
    why = f"connect {where.replace('mf:', 'tcp:')}: connection refused"
    return f"the controller at {where} does not answer: {why}"


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_calls_and_the_log_say_which_controller_does_not_answer_and_why(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    soon = mf.CallOptions(deadline=0.1)
    where = f"mf://127.0.0.1:{free_port()}"
    words = f'gave up at the deadline: nothing is known of demo.Echo for agent "a": {told(where)}'
    said: list[str] = []

    def is_told(raised: pytest.ExceptionInfo[mf.Error]) -> bool:
        said.append(raised.value.message)
        return said[-1] == words or len(said) == 200

    async def call() -> None:
        async with mf.AsyncClient(where) as client:
            while True:
                with pytest.raises(mf.Error) as raised:
                    await EchoAsyncClient(client).at("a").twice(1, options=soon)
                if is_told(raised):
                    return

    def block() -> None:
        with mf.Client(where) as client:
            while True:
                with pytest.raises(mf.Error) as raised:
                    EchoClient(client).at("a").twice(1, options=soon)
                if is_told(raised):
                    return

    with caplog.at_level(logging.WARNING, "mf"):
        block() if way == "blocking" else asyncio.run(call())

    assert said[-1] == words
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.startswith(f"'the controller at {where} does not answer: ")
    assert line.endswith("'; trying on")


def test_the_first_attempt_at_a_controller_ends_within_a_second() -> None:
    """So that a user soon learns why there is no answer."""
    assert 0.5 < connection._FIRST_WITHIN < 1


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_a_call_whose_deadline_passes_at_once_says_which_controller_has_not_answered(way: str) -> None:
    """As a first call does on a busy machine, before it looks for a server."""
    at_once = mf.CallOptions(deadline=1e-9)

    async def call(where: str) -> None:
        async with mf.AsyncClient(where) as client:
            await EchoAsyncClient(client).at("a").twice(1, options=at_once)

    def block(where: str) -> None:
        with mf.Client(where) as client:
            EchoClient(client).at("a").twice(1, options=at_once)

    where = f"mf://127.0.0.1:{free_port()}"
    with pytest.raises(mf.Error) as raised:
        block(where) if way == "blocking" else asyncio.run(call(where))
    assert raised.value.code is mf.Code.UNAVAILABLE
    assert raised.value.execution is mf.Execution.NOT_EXECUTED
    words = 'gave up at the deadline: nothing is known of demo.Echo for agent "a"'
    assert raised.value.message == f"{words}: the controller at {where} has not answered yet"


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_a_server_says_which_controller_it_cannot_register_with(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    def said() -> list[str]:
        return [record.getMessage() for record in caplog.records]

    async def serve(where: str) -> None:
        async with mf.AsyncServer(controller=where):
            for _ in range(1000):
                if said():
                    return
                await asyncio.sleep(0.01)

    where = f"mf://127.0.0.1:{free_port()}"
    with caplog.at_level(logging.WARNING, "mf"):
        if way == "asyncio":
            asyncio.run(serve(where))
        else:
            server = mf.Server(controller=where)
            server.start()
            assert eventually(lambda: bool(said()))
            server.stop()

    assert said() == [f"'{told(where)}'; trying on"]


def test_a_server_says_once_that_it_cannot_register_however_often_it_tries(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> list[str]:
        return [each.getMessage() for each in caplog.records if "trying on" in each.getMessage()]

    async def rest(seconds: float) -> None:
        rests.append((seconds, len(said())))
        await asyncio.sleep(0.001)

    rests: list[tuple[float, int]] = []
    monkeypatch.setattr(standing, "sleep", rest)
    monkeypatch.setattr(connection, "_FIRST_WITHIN", 0.05)
    monkeypatch.setattr(connection, "_AGAIN_WITHIN", 0.05)
    with caplog.at_level(logging.WARNING, "mf"):
        server = mf.Server(controller=f"mf://127.0.0.1:{free_port()}")
        server.start()
        assert eventually(lambda: sum(before for _, before in rests) > 5, 20)
        server.stop()

    assert len(said()) == 1
    assert min(seconds for seconds, _ in rests) > 0


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_one_of_several_controllers_is_enough(controller: Running, way: str) -> None:
    async def call(where: str) -> int:
        async with mf.AsyncClient(where) as client:
            return await EchoAsyncClient(client).at("a").twice(21)

    where = f"mf://127.0.0.1:{free_port()},{controller.address}"
    server = mf.Server(controller=where)
    server.offer(Recorder(), agent="a")
    server.start()
    try:
        if way == "asyncio":
            assert asyncio.run(call(where)) == 42
        else:
            with mf.Client(where) as client:
                assert EchoClient(client).at("a").twice(21) == 42
    finally:
        server.stop()


def test_an_address_that_is_none_of_a_controller_is_refused_among_several() -> None:
    with pytest.raises(
        ValueError, match=r"the controller's address starts with mf:// or mf\+tls://, not tcp:"
    ):
        mf.Client("mf://127.0.0.1:1,tcp://127.0.0.1:2")
