"""Properties of a light call beside its result: its deadline, its end, and its handler's information about
it."""

import asyncio
import time
from collections.abc import Callable, Sequence

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.echo import EchoAsyncClient, EchoClient, Negative, Number
from tests.python.serving import AnyServant

FOREVER = 30.0


def hub_of(**servants: AnyServant) -> mf.Light:
    hub = mf.Light()
    for agent, servant in servants.items():
        hub.offer(servant, agent=agent)
    return hub


def light(**servants: AnyServant) -> EchoClient:
    return EchoClient(hub_of(**servants))


def awaited(**servants: AnyServant) -> EchoAsyncClient:
    return EchoAsyncClient(hub_of(**servants))


class Awaiting(AsyncRecorder):
    """Its `twice` waits until it is cancelled, and records that."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.seen: list[object] = []

    async def twice(self, x: int) -> int:
        call = mf.current_call()
        self.began.set()
        try:
            await asyncio.sleep(FOREVER)
        except asyncio.CancelledError:
            self.seen.append(call.cancelled)
            raise
        return x


class Stubborn(AsyncRecorder):
    """Its `twice` ignores cancellation until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.free = asyncio.Event()

    async def twice(self, x: int) -> int:
        while not self.free.is_set():
            try:
                await self.free.wait()
            except asyncio.CancelledError:
                continue
        return x


def test_a_handler_knows_what_it_serves() -> None:
    seen: list[mf.CurrentCall] = []

    class Asking(Recorder):
        def twice(self, x: int) -> int:
            seen.append(mf.current_call())
            return x

        def twice_items(self, requests: Sequence[Number]) -> list[mf.Outcome[int]]:
            seen.append(mf.current_call())
            return [mf.Outcome(each.x) for each in requests]

    servant = Asking()
    echo = light(b=servant)
    echo.twice(1, options=mf.CallOptions(deadline=5))
    asyncio.run(awaited(b=servant).twice(1, options=mf.CallOptions(deadline=5)))
    echo.twice_bulk([Number(1)], options=mf.CallOptions(deadline=5))

    for call in seen:
        assert (call.service, call.agent, call.method) == ("demo.Echo", "b", "twice")
        assert (call.peer, call.cancelled) == ("light:", False)
        assert 4 < call.deadline_left <= 5
    assert len({call.request_id for call in seen}) == 3
    with pytest.raises(RuntimeError, match="no handler is running"):
        mf.current_call()


def test_a_nested_call_ends_with_the_calling_handlers_deadline_or_its_own() -> None:
    left: list[float] = []
    inner = light(a=Recorder())

    class Inner(Recorder):
        def twice(self, x: int) -> int:
            left.append(mf.current_call().deadline_left)
            return x

    inner = light(a=Inner())

    class Outer(Recorder):
        def twice(self, x: int) -> int:
            inner.twice(x)
            inner.twice(x, options=mf.CallOptions(deadline=1))
            return inner.twice(x, options=mf.CallOptions(deadline=mf.INFINITE))

    light(a=Outer()).twice(1, options=mf.CallOptions(deadline=5))

    assert 4 < left[0] <= 5
    assert 0 < left[1] <= 1
    assert 4 < left[2] <= 5


def test_a_nested_call_of_a_handler_whose_time_is_over_never_runs() -> None:
    inner = Recorder()
    failures: list[mf.Error] = []

    class Outer(Recorder):
        def twice(self, x: int) -> int:
            while mf.current_call().deadline_left > 0:
                time.sleep(0.001)
            try:
                light(a=inner).flaky(x)
            except mf.Error as failure:
                failures.append(failure)
            return x

    assert light(a=Outer()).twice(1, options=mf.CallOptions(deadline=0.02)) == 1
    assert [(each.code, each.execution) for each in failures] == [
        (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)
    ]
    assert inner.calls == 0


@pytest.mark.parametrize("how", ["blocking", "awaited", "bulk", "awaited bulk"])
def test_an_awaited_handler_is_cancelled_at_the_deadline_and_its_caller_let_go(how: str) -> None:
    options = mf.CallOptions(deadline=0.05)
    servant = Awaiting()
    echo = light(a=servant)
    ways: dict[str, Callable[[], object]] = {
        "blocking": lambda: echo.twice(1, options=options),
        "awaited": lambda: asyncio.run(awaited(a=servant).twice(1, options=options)),
        "bulk": lambda: echo.twice_bulk([Number(1)], options=options),
        "awaited bulk": lambda: asyncio.run(awaited(a=servant).twice_bulk([Number(1)], options=options)),
    }
    with pytest.raises(mf.Error, match="the deadline passed while the handler ran") as raised:
        ways[how]()

    assert (raised.value.code, raised.value.execution) == (Code.DEADLINE_EXCEEDED, Execution.UNKNOWN)
    assert servant.seen == [True]


def test_a_caller_is_let_go_at_the_deadline_whatever_the_handler_does_about_it() -> None:
    async def run() -> int:
        servant = Stubborn()
        with pytest.raises(mf.Error, match="DEADLINE_EXCEEDED"):
            await awaited(a=servant).twice(1, options=mf.CallOptions(deadline=0.02))
        ran_on = len(asyncio.all_tasks()) - 1
        servant.free.set()
        return ran_on

    assert asyncio.run(run()) == 1


def test_a_caller_that_is_cancelled_cancels_the_handler() -> None:
    async def run() -> list[object]:
        servant = Awaiting()
        task = asyncio.create_task(awaited(a=servant).twice(1))
        await servant.began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        return servant.seen

    assert asyncio.run(run()) == [True]


def test_an_awaited_scatter_waits_for_all_agents_at_once() -> None:
    class Meeting(AsyncRecorder):
        """Each of them waits until all have started, which they would not one after another."""

        here = 0
        everybody: asyncio.Event

        async def twice(self, x: int) -> int:
            Meeting.here += 1
            if Meeting.here == 3:
                Meeting.everybody.set()
            await Meeting.everybody.wait()
            return 2 * x

    async def run() -> mf.Scattered[str, int]:
        Meeting.everybody = asyncio.Event()
        echo = awaited(a=Meeting(), b=Meeting(), c=Meeting())
        return await echo.on(["c", "x", "a", "b"]).twice(4, options=mf.CallOptions(deadline=5))

    scattered = asyncio.run(run())
    assert scattered.ok == {"a": 8, "b": 8, "c": 8}
    assert list(scattered) == ["c", "x", "a", "b"]


def test_the_deadline_of_a_scatter_is_that_of_the_whole() -> None:
    deadlines: list[float] = []

    class Reading(Recorder):
        def twice(self, x: int) -> int:
            deadlines.append(mf.current_call().deadline)
            time.sleep(0.05)
            return x

    echo = light(a=Reading(), b=Reading(), c=Reading())
    options = mf.CallOptions(deadline=5)

    assert len(echo.on(["a", "b", "c"]).twice(1, options=options).ok) == 3
    assert max(deadlines) - min(deadlines) < 0.1
    assert options.deadline == 5


def test_agents_whose_turn_comes_after_the_deadline_of_a_scatter_are_not_called() -> None:
    called: list[int] = []

    class Slow(Recorder):
        def twice(self, x: int) -> int:
            called.append(x)
            time.sleep(0.1)
            return x

    echo = light(a=Slow(), b=Slow(), c=Slow())

    ended = echo.on(["a", "b", "c"]).twice(1, options=mf.CallOptions(deadline=0.05))

    assert (list(ended.ok), len(called)) == (["a"], 1)
    for failure in ended.failed.values():
        assert isinstance(failure, mf.Error)
        assert (failure.code, failure.execution) == (Code.DEADLINE_EXCEEDED, Execution.NOT_EXECUTED)


def test_all_failures_have_one_base() -> None:
    echo = light(a=Recorder())

    with pytest.raises(mf.MfError):
        echo.twice(-1)
    with pytest.raises(mf.MfError):
        echo.at("x").twice(1)
    assert issubclass(Negative, mf.MfError)
    assert not issubclass(Negative, mf.Error)


def test_each_async_gives_the_outcomes_in_the_order_of_the_items() -> None:
    async def handler(x: int) -> int:
        await asyncio.sleep(0 if x > 1 else 0.001)
        if x == 2:
            raise Negative(x)
        if x == 3:
            raise asyncio.CancelledError
        if x == 4:
            raise KeyError("oops")
        return x

    outcomes = asyncio.run(mf.each_async(handler, ((x,) for x in range(6))))

    assert [outcome.ok for outcome in outcomes] == [True, True, False, False, False, True]
    assert outcomes[2].error == Negative(2)
    assert "CancelledError" in str(outcomes[3].error)
    assert "HANDLER_FAILED: KeyError: 'oops'" in str(outcomes[4].error)
