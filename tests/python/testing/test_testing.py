"""The guarantees of mf.testing for tests of programs: channels, a clock, faults, a controller, scripts."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import mf
from mf.testing import AsyncChannel, Channel, FakeClock, FakeController, Operation, Recorder, script
from tests.python.conftest import AsyncRecorder, eventually
from tests.python.conftest import Recorder as Echo
from tests.python.echo import EchoAsyncClient, EchoAsyncServant, EchoClient, EchoServant, Negative

Run = Callable[[Coroutine[Any, Any, Any]], Any]


def test_a_channel_carries_calls_in_memory() -> None:
    servant = Echo()
    with Channel(servant, "a") as channel:
        echo = EchoClient(channel.client).at("a")
        assert echo.twice(4) == 8
        with pytest.raises(Negative):
            echo.twice(-1)
        echo.note(1)
        assert echo.echo(b"x" * 300_000) == b"x" * 300_000
        assert servant.notes == [1]
        with mf.Client(channel.address) as another:
            assert EchoClient(another).at("a").twice(2) == 4


def test_a_channel_of_nobody_is_refused_in_words() -> None:
    with mf.Client("memory:nobody") as client, pytest.raises(mf.Error, match=r"nobody.*[Rr]efused"):
        EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.05))


def test_a_name_is_listened_at_by_one_server() -> None:
    with Channel(Echo(), "a") as channel:
        other = mf.Server(channel.address)
        with pytest.raises(OSError, match="another server of this process listens there"):
            other.start()


def test_a_channel_of_asyncio() -> None:
    async def main() -> None:
        async with AsyncChannel(AsyncRecorder(), "a") as channel:
            echo = EchoAsyncClient(channel.client).at("a")
            assert await echo.twice(4) == 8
            assert await echo.echo(b"x" * 300_000) == b"x" * 300_000

    asyncio.run(main())


def test_a_dropped_reply_ends_its_call_at_the_deadline(mf_clock: FakeClock) -> None:
    servant = Echo()
    with Channel(servant, "a") as channel:
        echo = EchoClient(channel.client).at("a")
        assert echo.twice(1) == 2
        channel.faults.drop(Operation.REPLY, passes=5)
        began = mf_clock.now
        with pytest.raises(mf.Error) as failed:
            echo.twice(2, options=mf.CallOptions(deadline=4))
        assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
        assert failed.value.execution is mf.Execution.UNKNOWN
        assert mf_clock.now == began + 5
        assert echo.twice(3) == 6


def test_a_delayed_reply_comes_in_time_or_not(mf_clock: FakeClock) -> None:  # noqa: ARG001
    with Channel(Echo(), "a") as channel:
        echo = EchoClient(channel.client).at("a")
        for _ in range(5):
            channel.faults.delay(Operation.REPLY, 3)
            assert echo.twice(1, options=mf.CallOptions(deadline=4)) == 2
            channel.faults.delay(Operation.REPLY, 5)
            with pytest.raises(mf.Error) as failed:
                echo.twice(1, options=mf.CallOptions(deadline=4))
            assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
            assert echo.twice(2, options=mf.CallOptions(deadline=4)) == 4


def test_a_handler_that_is_slow_by_the_clock_is_too_late(mf_clock: FakeClock) -> None:
    def slow(x: int) -> int:
        mf_clock.advance(5)
        return x

    with Channel(script(EchoServant, twice=slow), "a") as channel:
        echo = EchoClient(channel.client).at("a")
        for _ in range(5):
            with pytest.raises(mf.Error) as failed:
                echo.twice(1, options=mf.CallOptions(deadline=4))
            assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
            assert echo.twice(1, options=mf.CallOptions(deadline=6)) == 1


def test_a_connection_is_cut_in_place_of_a_reply() -> None:
    servant = Echo()
    with Channel(servant, "a") as channel:
        echo = EchoClient(channel.client).at("a")
        channel.faults.cut(Operation.REPLY)
        with pytest.raises(mf.Error) as failed:
            echo.echo(b"x")
        assert failed.value.execution is mf.Execution.UNKNOWN
        assert echo.echo(b"y") == b"y"
        assert channel.faults.seen(Operation.CONNECT) == 2
        channel.faults.cut(Operation.REPLY)
        assert echo.flaky(7) == 7
        assert servant.calls == 2  # idempotent: sent again


def test_connects_are_refused_until_they_are_over() -> None:
    with Channel(Echo(), "a") as channel:
        channel.faults.refuse(times=2)
        assert EchoClient(channel.client).at("a").twice(1) == 2
        assert channel.faults.seen(Operation.CONNECT) == 3


def test_that_time_passes_needs_a_clock() -> None:
    needs = r"needs a mf\.testing\.FakeClock"
    with Channel(Echo(), "a") as channel, pytest.raises(RuntimeError, match=needs):
        channel.faults.delay(Operation.REPLY, 1)


def test_one_clock_decides(mf_clock: FakeClock) -> None:  # noqa: ARG001
    with pytest.raises(RuntimeError, match="there is a FakeClock already"), FakeClock().installed():
        pass


def test_instances_come_and_go_by_a_call(mf_controller: FakeController) -> None:
    with mf_controller.client(mf.ClientOptions(wait_for_server=0)) as client:
        echo = EchoClient(client)
        books = mf_controller.serve(Echo(), "books")
        assert echo.at("books").twice(1) == 2
        with pytest.raises(mf.Error) as failed:
            echo.at("films").twice(1)
        assert failed.value.execution is mf.Execution.NOT_EXECUTED
        mf_controller.serve(Echo(), "films")
        assert echo.at("films").twice(2) == 4
        mf_controller.stop(books)
        with pytest.raises(mf.Error):
            echo.at("books").twice(1)


def test_a_controller_says_all_of_a_service_at_once(mf_controller: FakeController) -> None:
    mf_controller.lose("it has said nothing yet")
    with (
        Channel(Echo(), "books") as books,
        Channel(Echo(), "films") as films,
        mf_controller.client(mf.ClientOptions(wait_for_server=0)) as client,
    ):
        echo = EchoClient(client)
        with pytest.raises(mf.Error, match="it has said nothing yet"):
            echo.at("books").twice(1, options=mf.CallOptions(deadline=0.02))
        mf_controller.say("demo.Echo", {"books": [books.address]})
        assert echo.at("books").twice(1) == 2
        mf_controller.say("demo.Echo", {"films": [films.address]})
        assert echo.at("films").twice(2) == 4
        with pytest.raises(mf.Error):
            echo.at("books").twice(1)


def test_a_call_waits_for_its_server_no_longer_than_its_client_says(
    mf_clock: FakeClock, mf_controller: FakeController
) -> None:
    failed: list[mf.Error] = []

    def call() -> None:
        try:
            EchoClient(client).at("books").twice(1, options=mf.CallOptions(deadline=60))
        except mf.Error as error:
            failed.append(error)

    with mf_controller.client(mf.ClientOptions(wait_for_server=5)) as client:
        waiting = threading.Thread(target=call)
        waiting.start()
        assert eventually(lambda: mf_controller.waits > 0)
        mf_clock.advance(5)
        waiting.join(20)
    assert [error.execution for error in failed] == [mf.Execution.NOT_EXECUTED]


def test_a_script_answers_and_records_in_order(mf_recorder: Recorder) -> None:
    servant = script(EchoServant, mf_recorder, twice=lambda x: 3 * x, echo=Negative(3), flaky=1)
    with Channel(servant, "a") as channel:
        echo = EchoClient(channel.client).at("a")
        assert echo.twice(2, options=mf.CallOptions(deadline=60, metadata={"who": "ann"})) == 6
        assert echo.flaky(5) == 1
        with pytest.raises(mf.Error, match="the script has no answer for sleep"):
            echo.sleep(1.0)
    assert mf_recorder.names == ["demo.Echo.twice", "demo.Echo.flaky"]
    call = mf_recorder.calls[0]
    assert (call.agent, call.arguments, call.result) == ("a", {"x": 2}, 6)
    assert call.metadata == {"who": "ann"}
    assert 0 < call.deadline <= 61


def test_a_servant_of_ones_own_is_recorded(mf_recorder: Recorder) -> None:
    with Channel(mf_recorder.around(Echo()), "a") as channel:
        echo = EchoClient(channel.client).at("a")
        with pytest.raises(Negative):
            echo.twice(-2)
    assert mf_recorder.calls[0].arguments == {"x": -2}
    assert isinstance(mf_recorder.calls[0].error, Negative)


def test_asyncio_in_virtual_time_needs_no_patience(
    mf_clock: FakeClock, mf_recorder: Recorder, mf_run: Run
) -> None:
    async def twice(x: int) -> int:
        await asyncio.sleep(3600)
        return 2 * x

    async def main() -> None:
        servant = script(EchoAsyncServant, mf_recorder, twice=twice)
        async with AsyncChannel(servant, "a") as channel:
            echo = EchoAsyncClient(channel.client).at("a")
            assert await echo.twice(1, options=mf.CallOptions(deadline=4000)) == 2
            with pytest.raises(mf.Error) as failed:
                await echo.twice(1, options=mf.CallOptions(deadline=60))
            assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
            channel.faults.drop(Operation.REPLY)
            with pytest.raises(mf.Error):
                await echo.twice(3, options=mf.CallOptions(deadline=4000))

    began = mf_clock.now
    mf_run(main())
    assert 3600 + 60 + 4000 <= mf_clock.now - began < 3600 + 60 + 4000 + 60
    assert len(mf_recorder.calls) == 3


def test_clients_of_asyncio_hear_of_instances_at_once(mf_run: Run) -> None:
    async def main() -> None:
        async with FakeController() as controller, controller.async_client() as client:
            echo = EchoAsyncClient(client).at("books")
            call = asyncio.ensure_future(echo.twice(2))
            await asyncio.sleep(1)
            assert not call.done()
            address = await controller.serve_async(AsyncRecorder(), "books")
            assert await call == 4
            await controller.stop_async(address)
            with pytest.raises(mf.Error):
                await echo.twice(2)

    mf_run(main())
