# ruff: noqa: ARG002 - hooks have the parameters that interceptors get
"""The interceptors that come with the runtime: access log, recorder, limiter and hedging."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import mf
from mf.core.log import Line
from mf.interceptors import AccessLog, Hedging, Limiter, Recorder
from tests.python.conftest import AsyncRecorder, eventually
from tests.python.conftest import Recorder as Echo
from tests.python.echo import EchoAsyncClient, EchoClient, Negative
from tests.python.interceptors.calling import WAYS, Way, ends

every_way = pytest.mark.parametrize("way", WAYS, ids=str)
TCP = Way("tcp", caller_awaits=False, handler_awaits=False)


# Access log


@every_way
def test_a_line_for_each_call_on_both_sides(way: Way) -> None:
    sent: list[Line] = []
    served: list[Line] = []
    with ends(way, [AccessLog(sent.append)], [AccessLog(served.append)]) as both:
        both.twice(21)
        with pytest.raises(Negative):
            both.twice(-1)
        both.bulk([1, -1])
        both.behind.wait_for(3)

    for lines in (sent, served):
        assert {line.event for line in lines} == {"call"}
        assert [line.fields["code"] for line in lines] == ["OK", "DECLARED", "OK"]
        assert [line.fields["items"] for line in lines] == ["1", "1", "2"]
        assert lines[2].fields["failed_items"] == "1"
        first = lines[0].fields
        assert (first["service"], first["method"], first["agent"]) == ("demo.Echo", "twice", "a")
    assert "identity" in served[0].fields
    assert "identity" not in sent[0].fields


@every_way
def test_failures_alone_may_be_logged(way: Way) -> None:
    lines: list[Line] = []
    with ends(way, server=[AccessLog(lines.append, failures_only=True)]) as both:
        both.twice(21)
        with pytest.raises(Negative):
            both.twice(-1)
        both.bulk([1, -1])
        both.behind.wait_for(3)

    assert [line.fields.get("failed_items") for line in lines] == ["1"]


def test_it_writes_to_the_log_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")
    with ends(TCP, server=[AccessLog()]) as both:
        both.twice(21)

        assert eventually(lambda: any("call service=demo.Echo method=twice" in m for m in caplog.messages))


# Recorder


def test_a_recorder_keeps_the_latest() -> None:
    recorder = Recorder(most=2)
    with ends(TCP, [recorder]) as both:
        for x in (1, 2, 3):
            both.twice(x)

    assert [each.end.value for each in recorder.calls()] == [4, 6]
    assert [each.end.value for each in recorder.calls("twice")] == [4, 6]
    assert recorder.calls("echo") == []
    recorder.clear()
    assert recorder.calls() == []
    with pytest.raises(TimeoutError, match="0 of 1 calls"):
        recorder.wait_for(1, timeout=0.0)


# Limiter


class Gated(Echo):
    """Its calls wait until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.running = 0
        self.most = 0
        self.lock = threading.Lock()

    def twice(self, x: int) -> int:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.go.wait(30)
        with self.lock:
            self.running -= 1
        return 2 * x


class AsyncGated(AsyncRecorder):
    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.running = 0
        self.most = 0

    async def twice(self, x: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        await self.go.wait()
        self.running -= 1
        return 2 * x


@contextmanager
def threads(count: int, do: Callable[[int], Any]) -> Iterator[list[Any]]:
    found: list[Any] = [None] * count

    def run(x: int) -> None:
        try:
            found[x] = do(x)
        except mf.Error as failed:
            found[x] = failed.code

    started = [threading.Thread(target=run, args=(x,), daemon=True) for x in range(count)]
    for each in started:
        each.start()
    yield found
    for each in started:
        each.join(30)


@pytest.mark.parametrize("at_client", [False, True])
def test_a_limiter_lets_so_many_run_and_so_many_wait(at_client: bool) -> None:
    servant, limiter = Gated(), Limiter(2, queued=3)
    sides: tuple[list[mf.Interceptor], list[mf.Interceptor]] = (
        ([limiter], []) if at_client else ([], [limiter])
    )
    light = mf.Light(interceptors=sides[1])
    light.offer(servant, "a")
    client = mf.Client(light, interceptors=sides[0])

    with threads(9, EchoClient(client).at("a").twice) as found:
        assert eventually(lambda: found.count(mf.Code.OVERLOADED) == 4 and limiter.waiting == 3)
        assert limiter.running == 2
        servant.go.set()

    assert sum(isinstance(each, int) and each % 2 == 0 for each in found if each not in set(mf.Code)) <= 5
    assert found.count(mf.Code.OVERLOADED) == 4
    assert servant.most == 2
    assert (limiter.running, limiter.waiting) == (0, 0)


@pytest.mark.parametrize("at_client", [False, True])
def test_an_awaited_limiter_lets_so_many_run_and_so_many_wait(at_client: bool) -> None:
    async def main() -> None:
        servant, limiter = AsyncGated(), Limiter(2, queued=3)
        sides: tuple[list[mf.Interceptor], list[mf.Interceptor]]
        sides = ([limiter], []) if at_client else ([], [limiter])
        light = mf.Light(interceptors=sides[1])
        light.offer(servant, "a")
        echo = EchoAsyncClient(mf.AsyncClient(light, interceptors=sides[0])).at("a")
        tasks = [asyncio.create_task(echo.twice(x)) for x in range(9)]
        while limiter.waiting != 3 or sum(task.done() for task in tasks) != 4:
            await asyncio.sleep(0.001)
        servant.go.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)

        assert sorted(each for each in found if isinstance(each, int)) == [0, 2, 4, 6, 8]
        refused = [each for each in found if isinstance(each, mf.Error)]
        assert [each.code for each in refused] == [mf.Code.OVERLOADED] * 4
        assert {each.execution for each in refused} == {mf.Execution.NOT_EXECUTED}
        assert servant.most == 2
        assert (limiter.running, limiter.waiting) == (0, 0)

    asyncio.run(main())


def test_a_call_that_waits_until_its_deadline_is_not_executed() -> None:
    servant, limiter = Gated(), Limiter(1, queued=1)
    light = mf.Light()
    light.offer(servant, "a")
    echo = EchoClient(mf.Client(light, interceptors=[limiter])).at("a")

    with threads(1, echo.twice):
        assert eventually(lambda: limiter.running == 1)
        with pytest.raises(mf.Error, match="waited for its turn") as failed:
            echo.twice(1, options=mf.CallOptions(deadline=0.05))
        servant.go.set()

    assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
    assert failed.value.execution is mf.Execution.NOT_EXECUTED
    assert (limiter.running, limiter.waiting) == (0, 0)


def test_a_task_that_is_cancelled_gives_its_place_away() -> None:
    async def main() -> None:
        servant, limiter = AsyncGated(), Limiter(1, queued=2)
        light = mf.Light()
        light.offer(servant, "a")
        echo = EchoAsyncClient(mf.AsyncClient(light, interceptors=[limiter])).at("a")
        tasks = [asyncio.create_task(echo.twice(x)) for x in range(3)]
        while limiter.waiting != 2:
            await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait(tasks[1:2])
        assert limiter.waiting == 1
        servant.go.set()

        assert await tasks[0] == 0
        assert await tasks[2] == 4
        assert (limiter.running, limiter.waiting) == (0, 0)

    asyncio.run(main())


def test_a_loop_that_was_closed_while_a_call_waited_keeps_no_turn() -> None:
    servant, limiter = Gated(), Limiter(1, queued=5)
    light = mf.Light()
    light.offer(servant, "a")
    awaited = AsyncRecorder()
    light.offer(awaited, "b")
    loop = asyncio.new_event_loop()

    async def wait() -> None:
        client = mf.AsyncClient(light, interceptors=[limiter])
        waits.append(loop.create_task(EchoAsyncClient(client).at("b").twice(1)))
        while not limiter.waiting:
            await asyncio.sleep(0)

    waits: list[asyncio.Task[int]] = []
    with threads(1, EchoClient(mf.Client(light, interceptors=[limiter])).at("a").twice) as found:
        assert eventually(lambda: limiter.running == 1)
        loop.run_until_complete(wait())
        loop.close()
        servant.go.set()

    assert found == [0]
    assert (limiter.running, limiter.waiting) == (0, 0)
    waits[0]._log_destroy_pending = False  # type: ignore[attr-defined]


@every_way
def test_a_stream_counts_until_it_has_ended(way: Way) -> None:
    limiter = Limiter(1)
    with ends(way, [limiter]) as both:
        assert both.count(3) == [1, 2, 3]
        assert both.first_of(1_000_000) == 1
        assert both.shout(["a"]) == ["A"]
        assert both.batch([1, 2, 3]) == [mf.Outcome(2), mf.Outcome(4), mf.Outcome(6)]

    assert limiter.running == 0


def test_other_methods_are_not_limited() -> None:
    servant, limiter = Gated(), Limiter(1, methods=("twice",))
    light = mf.Light()
    light.offer(servant, "a")
    echo = EchoClient(mf.Client(light, interceptors=[limiter])).at("a")

    with threads(1, echo.twice):
        assert eventually(lambda: limiter.running == 1)
        assert echo.echo(b"sea") == b"sea"
        with pytest.raises(mf.Error, match=r"at most 1 calls run at once, and 0 wait"):
            echo.twice(1)
        servant.go.set()


@pytest.mark.parametrize("wrong", [(0, 0), (1, -1)])
def test_a_limit_of_nothing_is_refused(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"is (0|-1)"):
        Limiter(*wrong)


# Hedging


class Slow(mf.Interceptor):
    """At a server: the first so many calls wait until they are let go."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.lock = threading.Lock()
        self.go = threading.Event()
        self.began = 0

    def _is_slow(self) -> bool:
        with self.lock:
            self.began += 1
            self.left -= 1
            return self.left >= 0

    def call(self, call: mf.InterceptedCall, proceed: Callable[[], Any]) -> Any:
        if self._is_slow():
            self.go.wait(30)
        return proceed()

    async def call_async(self, call: mf.InterceptedCall, proceed: Callable[[], Awaitable[Any]]) -> Any:
        if self._is_slow():
            while not self.go.is_set():
                await asyncio.sleep(0.001)
        return await proceed()


@pytest.mark.parametrize(
    "way",
    [way for way in WAYS if not (way.is_light and way.caller_awaits and not way.handler_awaits)],
    ids=str,
)
def test_a_slow_call_is_made_once_more_and_the_first_answer_counts(way: Way) -> None:
    """A plain handler in light blocks the loop of its caller, which cannot hedge it."""
    slow = Slow(1)
    with ends(way, [Hedging(after=0.02)], [slow]) as both:
        assert both.twice(21) == 42
        slow.go.set()

        assert slow.began == 2
        assert both.before.wait_for(1)[0].end.value == 42
        assert eventually(lambda: both.behind.open == 0)


@every_way
def test_a_quick_call_is_made_once(way: Way) -> None:
    with ends(way, [Hedging(after=20.0)]) as both:
        assert both.twice(21) == 42

        assert len(both.behind.wait_for(1)) == 1


@every_way
def test_a_declared_error_is_an_answer(way: Way) -> None:
    with ends(way, [Hedging(after=20.0)]) as both:
        with pytest.raises(Negative):
            both.twice(-1)

        assert len(both.behind.wait_for(1)) == 1


@every_way
def test_only_lone_calls_of_idempotent_methods_are_hedged(way: Way) -> None:
    with ends(way, [Hedging(after=0.0)]) as both:
        both.echo(lambda echo: echo.echo(b"x"), lambda echo: echo.echo(b"x"))
        both.bulk([1, 2])
        both.count(3)

        assert len(both.behind.wait_for(3)) == 3


@every_way
def test_when_all_fail_the_first_failure_counts(way: Way) -> None:
    failed: list[int] = []

    class Failing(mf.Interceptor):
        def begin(self, call: mf.InterceptedCall) -> None:
            failed.append(1)
            text = f"attempt {len(failed)}"
            raise mf.Error(mf.Code.UNAVAILABLE, text, mf.Execution.NOT_EXECUTED)

    failing = Failing()
    light_only = way.is_light
    with ends(way, [Hedging(after=20.0, most=3)], [failing]) as both:
        with pytest.raises(mf.Error, match="attempt") as raised:
            both.twice(21)

        assert raised.value.code is mf.Code.UNAVAILABLE
        assert len(failed) == 3 if light_only else len(failed) >= 3


def test_a_call_without_time_is_made_once_and_ends() -> None:
    for way in WAYS:
        with ends(way, [Hedging(after=0.0)]) as both:
            with pytest.raises(mf.Error) as failed:
                both.twice(21, mf.CallOptions(deadline=0.0))

            assert failed.value.code is mf.Code.DEADLINE_EXCEEDED
            assert both.behind.calls() == []


def test_a_cancelled_task_cancels_all_requests() -> None:
    async def main() -> None:
        servant, recorder = AsyncGated(), Recorder()
        light = mf.Light(interceptors=[recorder])
        light.offer(servant, "a")
        echo = EchoAsyncClient(mf.AsyncClient(light, interceptors=[Hedging(after=0.0)])).at("a")
        task = asyncio.create_task(echo.twice(1))
        while recorder.open != 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while recorder.open:
            await asyncio.sleep(0)

    asyncio.run(main())


@pytest.mark.parametrize(("after", "most"), [(-1.0, 2), (0.1, 1), (float("nan"), 2)])
def test_hedging_that_makes_no_sense_is_refused(after: float, most: int) -> None:
    with pytest.raises(ValueError, match="is "):
        Hedging(after, most)
