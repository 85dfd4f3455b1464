"""Light: the same stubs, called directly."""

import asyncio
import threading

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.echo import ECHO_SERVICE, TWICE, EchoAsyncClient, EchoClient, Negative, Number
from tests.python.serving import AnyServant


def hub_of(**servants: AnyServant) -> mf.Light:
    hub = mf.Light()
    for agent, servant in servants.items():
        hub.offer(servant, agent=agent)
    return hub


def light(**servants: AnyServant) -> EchoClient:
    return EchoClient(mf.Client(hub_of(**servants)))


def test_a_call_runs_on_the_callers_thread() -> None:
    threads: list[int] = []

    class Here(Recorder):
        def twice(self, x: int) -> int:
            threads.append(threading.get_ident())
            return 2 * x

    assert light(a=Here()).at("a").twice(21) == 42
    assert threads == [threading.get_ident()]


def test_objects_are_passed_by_reference() -> None:
    data = bytes(10)

    assert light(a=Recorder()).at("a").echo(data) is data


def test_declared_errors_arrive_as_themselves_and_others_as_failed_handlers() -> None:
    servant = Recorder()
    error = KeyError("oops")

    def act(_: int) -> int:
        raise error

    servant.act = act
    echo = light(a=servant).at("a")

    with pytest.raises(Negative):
        echo.twice(-1)
    with pytest.raises(mf.Error, match="HANDLER_FAILED: KeyError: 'oops'") as raised:
        echo.flaky(1)
    assert raised.value.__cause__ is error


def test_an_agent_or_a_service_that_nobody_offers_is_unknown_as_over_a_connection() -> None:
    with pytest.raises(mf.Error) as raised:
        light(a=Recorder()).at("y").twice(1)

    assert (raised.value.code, raised.value.execution) == (Code.UNKNOWN_AGENT, Execution.NOT_EXECUTED)
    assert 'known agents: "a"' in raised.value.message

    with pytest.raises(mf.Error) as raised:
        light().any().twice(1)
    assert (raised.value.code, raised.value.execution) == (Code.UNKNOWN_SERVICE, Execution.NOT_EXECUTED)
    assert raised.value.message.startswith("nothing in this process offers ")
    assert raised.value.message.endswith("; it offers nothing")


def test_scatter_batches_bulk_and_any() -> None:
    echo = light(a=Recorder(), b=Recorder())
    requests = [Number(x) for x in range(5)]

    assert echo.any().twice(1) == 2
    assert echo.everywhere().twice(2).ok == {"a": 4, "b": 4}
    assert list(echo.on(["b", "y"]).twice(2).failed) == ["y"]
    assert [o.value() for o in echo.twice_batch(requests, options=mf.BatchOptions(size=2)).results()] == [
        0, 2, 4, 6, 8,
    ]  # fmt: skip
    assert [o.ok for o in echo.twice_bulk([Number(1), Number(-1)])] == [True, False]


def test_one_way_calls_tell_nobody_of_their_failure(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Recorder):
        def note(self, x: int) -> None:
            raise RuntimeError(f"no {x}")

    light(a=Failing()).at("a").note(1)

    assert "RuntimeError: no 1" in caplog.text


def test_async_servants_are_called_by_both_kinds_of_callers() -> None:
    class Awaiting(AsyncRecorder):
        async def twice(self, x: int) -> int:
            await asyncio.sleep(0)
            return 2 * x

    async def awaited() -> None:
        async with mf.AsyncClient(hub) as client:
            echo = EchoAsyncClient(client)
            assert await echo.at("a").twice(3) == 6
            assert (await echo.everywhere().twice(4)).ok == {"a": 8}

    hub = hub_of(a=Awaiting())
    echo = EchoClient(hub).at("a")
    assert echo.twice(2) == 4
    assert [o.value() for o in echo.twice_bulk([Number(1), Number(2)])] == [2, 4]
    asyncio.run(awaited())


def test_a_handler_whose_own_task_was_cancelled_has_failed() -> None:
    class Cancelled(AsyncRecorder):
        async def twice(self, x: int) -> int:
            if x == 1:
                raise asyncio.CancelledError
            return 2 * x

    echo = light(a=Cancelled()).at("a")

    with pytest.raises(mf.Error, match="HANDLER_FAILED: CancelledError"):
        echo.twice(1)
    assert [outcome.ok for outcome in echo.twice_bulk([Number(1), Number(2)])] == [False, True]


def test_offers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="say which"):
        mf.Light().offer(Recorder())


def test_a_request_that_cannot_be_sent_is_the_only_one_that_fails_in_its_batch() -> None:
    hub = mf.Light()
    hub.offer(Recorder(), agent="a")
    target = mf.Client(hub).target(ECHO_SERVICE).at("a")
    requests = [Number(1), Number(1 << 40), Number(3)]

    async def awaited() -> list[mf.Outcome[int]]:
        return await EchoAsyncClient(hub).at("a").twice_batch(requests)

    for outcomes in (target.batch(TWICE, requests).results(), asyncio.run(awaited())):
        assert [outcome.ok for outcome in outcomes] == [True, False, True]
        assert isinstance(outcomes[1].error, mf.Error)
        assert outcomes[1].error.code is mf.Code.INVALID_ARGUMENT
