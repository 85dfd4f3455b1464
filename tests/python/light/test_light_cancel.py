"""Cancelling a stream in light, also from another thread while a handler runs: the call ends once, and the
handler is closed when that is safe.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import mf
from tests.python.client.test_stream_cancel import LONGEST, Blocked, was_cancelled
from tests.python.conftest import eventually
from tests.python.flow import (
    AnyFlowServant,
    FlowAsyncClient,
    FlowAsyncServant,
    FlowClient,
    FlowServant,
)

FOREVER = mf.CallOptions(deadline=mf.INFINITE)


def hub_of(servant: AnyFlowServant) -> mf.Light:
    hub = mf.Light()
    hub.offer(servant)
    return hub


def light(servant: AnyFlowServant) -> FlowClient:
    return FlowClient(hub_of(servant))


def awaited(servant: AnyFlowServant) -> FlowAsyncClient:
    return FlowAsyncClient(hub_of(servant))


class Held(FlowServant):
    """Yields the numbers below `to`, and is then busy until it is released, on any thread."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = threading.Event()
        self.go_on = threading.Event()

    def count(self, to: int) -> Iterator[int]:
        try:
            yield from range(to)
            self.busy.set()
            self.go_on.wait(LONGEST)
            self.seen.append(mf.current_call().cancelled)
            yield 2
        finally:
            self.seen.append(threading.current_thread().name)


class Waiting(FlowAsyncServant):
    """Yields the numbers below `to`, and then awaits for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = threading.Event()

    async def count(self, to: int) -> AsyncIterator[int]:
        try:
            for number in range(to):
                yield number
            self.busy.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.seen.append("cancelled")
            raise
        finally:
            self.seen.append(mf.current_call().cancelled)


@pytest.fixture(autouse=True)
def nothing_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO):
        yield
    assert [record.getMessage() for record in caplog.get_records("call")] == []


def test_a_plain_handler_that_runs_meanwhile_is_closed_by_its_own_thread() -> None:
    servant = Held()
    reader = light(servant).count(1, options=FOREVER)
    assert next(reader) == 0
    blocked = Blocked(lambda: next(reader))
    assert servant.busy.wait(LONGEST)

    reader.cancel()
    assert servant.seen == []
    servant.go_on.set()

    assert was_cancelled(blocked.ended())
    assert servant.seen == [True, blocked.name]
    with pytest.raises(mf.Error) as raised:
        next(reader)
    assert was_cancelled(raised.value)


def test_a_plain_handler_that_waits_for_its_caller_is_woken() -> None:
    stream = light(FlowServant()).shout(options=FOREVER)
    blocked = Blocked(lambda: next(stream))
    assert eventually(lambda: bool(pipe_of(stream)._waiting))

    stream.cancel()

    assert was_cancelled(blocked.ended())


def pipe_of(stream: Any) -> Any:
    return stream._stream.pipe


@pytest.mark.parametrize("kind", [FlowServant, Waiting])
def test_a_thread_that_writes_is_woken(kind: type[AnyFlowServant]) -> None:
    stream = light(kind()).shout(options=FOREVER)

    def write() -> None:
        while True:
            stream.write("x")

    blocked = Blocked(write)
    assert eventually(lambda: bool(pipe_of(stream)._waiting))

    stream.cancel()

    assert was_cancelled(blocked.ended())


def test_an_async_handler_of_a_blocked_thread_is_cancelled() -> None:
    servant = Waiting()
    reader = light(servant).count(1, options=FOREVER)
    assert next(reader) == 0
    blocked = Blocked(lambda: next(reader))
    assert servant.busy.wait(LONGEST)

    reader.cancel()
    reader.cancel()

    assert was_cancelled(blocked.ended())
    assert servant.seen == ["cancelled", True]


def test_an_async_handler_that_waits_for_its_caller_is_cancelled() -> None:
    stream = light(Waiting()).shout(options=FOREVER)
    blocked = Blocked(lambda: next(stream))
    assert eventually(lambda: bool(pipe_of(stream)._waiting))

    stream.cancel()

    assert was_cancelled(blocked.ended())


def test_a_cancel_by_another_thread_closes_a_handler_that_nobody_is_in() -> None:
    for servant in (Held(), Waiting()):
        reader = light(servant).count(1, options=FOREVER)
        assert next(reader) == 0

        assert Blocked(reader.cancel).ended() is None

        assert len(servant.seen) == 1
        with pytest.raises(mf.Error) as raised:
            next(reader)
        assert was_cancelled(raised.value)


@pytest.mark.parametrize("by_thread", [False, True])
def test_a_task_that_waits_for_a_value_is_let_go(by_thread: bool) -> None:
    servant = Waiting()

    async def main() -> None:
        reader = awaited(servant).count(1, options=FOREVER)
        assert await anext(reader) == 0
        task = asyncio.create_task(anext(reader))
        while not servant.busy.is_set():
            await asyncio.sleep(0)
        if by_thread:
            await asyncio.to_thread(reader.cancel)
        else:
            reader.cancel()
        with pytest.raises(mf.Error) as raised:
            await task
        assert was_cancelled(raised.value)

    asyncio.run(main())
    assert servant.seen == ["cancelled", True]


def test_a_task_that_waits_for_a_plain_handler_on_a_thread_is_let_go() -> None:
    async def main() -> None:
        stream: Any = awaited(FlowServant()).shout(options=FOREVER)
        await stream.write("a")
        assert await anext(stream) == "A"
        task = asyncio.create_task(anext(stream))
        while not stream._begun[0].pipe._waiting:
            await asyncio.sleep(0)
        stream.cancel()
        with pytest.raises(mf.Error) as raised:
            await task
        assert was_cancelled(raised.value)

    asyncio.run(main())


def test_a_handler_that_held_the_thread_for_longer_than_the_idle_time_is_found_out_when_it_comes_back() -> (
    None
):
    servant = Held()
    reader = light(servant).count(0, options=mf.CallOptions(deadline=mf.INFINITE, idle=0.01))
    blocked = Blocked(lambda: next(reader))
    assert servant.busy.wait(LONGEST)
    time.sleep(0.02)  # longer than the idle time
    servant.go_on.set()

    raised = blocked.ended()

    assert isinstance(raised, mf.Error)
    assert (raised.code, raised.message) == (
        mf.Code.DEADLINE_EXCEEDED,
        "no value and no credit came for 0.01 s",
    )
    assert servant.seen[-1] == blocked.name


@pytest.mark.parametrize("kind", [Held, Waiting])
def test_a_dropped_reader_closes_its_handler(kind: type[Any]) -> None:
    servant = kind()
    reader = light(servant).count(1, options=FOREVER)
    assert next(reader) == 0

    del reader

    assert len(servant.seen) == 1


def test_a_writer_whose_time_is_up_lets_go_of_the_task_that_reads() -> None:
    class Neither(Waiting):
        async def shout(self, words: AsyncIterator[str]) -> AsyncIterator[str]:
            await asyncio.Event().wait()
            async for word in words:
                yield word

    async def main() -> None:
        stream: Any = awaited(Neither()).shout(options=mf.CallOptions(deadline=mf.INFINITE, idle=0.1))

        async def write() -> None:
            while True:
                await stream.write("x")

        writing = asyncio.create_task(write())
        while not stream._begun or not stream._begun[0].pipe._waiting:
            await asyncio.sleep(0)
        await asyncio.sleep(0.03)  # so that the writer times out before the reader
        reading = asyncio.create_task(anext(stream))
        for raised in await asyncio.gather(writing, reading, return_exceptions=True):
            assert isinstance(raised, mf.Error)
            assert raised.code is mf.Code.DEADLINE_EXCEEDED

    asyncio.run(main())
