"""Tasks that await calls go on in the order of the replies, in their own contexts, and end as asyncio says,
purely and natively."""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, copy_context
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.link import async_link
from tests.python.conftest import AsyncRecorder
from tests.python.echo import EchoAsyncClient
from tests.python.native.plans import module, sessions_use
from tests.python.native.test_memory import GROWTH, resident

Calls = Callable[[EchoAsyncClient, mf.AsyncClient], Awaitable[Any]]
VAR: ContextVar[int] = ContextVar("var", default=-1)


@pytest.fixture(params=["pure", "native"])
def calling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    waiter = module().Waiter if request.param == "native" else None
    monkeypatch.setattr(async_link, "waiter_type", lambda: waiter)

    def call(calls: Calls) -> Any:
        async def main() -> Any:
            wrong: list[dict[str, Any]] = []
            asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
            server = mf.AsyncServer(options=mf.ServerOptions(drain_timeout=5.0))
            server.offer(AsyncRecorder(), agent="a")
            async with server, mf.AsyncClient(server.address) as client:
                result = await calls(EchoAsyncClient(client).at("a"), client)
                await server.stop()
            assert wrong == []
            return result

        with sessions_use(request.param):
            return asyncio.run(main())

    return call


def test_tasks_go_on_in_the_order_of_the_replies(calling: Any) -> None:
    order: list[int] = []

    async def one(echo: EchoAsyncClient, x: int) -> None:
        for _ in range(3):
            assert await echo.twice(x) == 2 * x
            order.append(x)

    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> None:
        await echo.twice(0)
        await asyncio.gather(*(one(echo, x) for x in range(50)))

    calling(calls)
    assert order == [*range(50)] * 3


def test_a_task_goes_on_as_itself_in_its_context(calling: Any) -> None:
    async def one(echo: EchoAsyncClient, x: int) -> None:
        VAR.set(x)
        task = asyncio.current_task()
        for _ in range(3):
            await echo.twice(x)
            assert VAR.get() == x
            assert asyncio.current_task() is task
            VAR.set(x)

    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> int:
        await asyncio.gather(*(one(echo, x) for x in range(20)))
        return VAR.get()

    assert calling(calls) == -1


def test_a_cancelled_task_ends_and_its_call_is_forgotten(calling: Any) -> None:
    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> list[Any]:
        await echo.twice(0)
        tasks = [asyncio.create_task(echo.sleep(30.0)) for _ in range(5)]
        await echo.sleep(0.01)
        for task in tasks[:3]:
            task.cancel("enough")
        ended = await asyncio.wait(tasks, timeout=0.05)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(tasks[3], 0.01)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await tasks[4]
        target: Any = echo._target
        assert target._route.link._session.calls.by_id == {}
        return [len(ended[0]), [task.cancelled() for task in tasks], await echo.twice(4)]

    assert calling(calls) == [3, [True] * 5, 8]


@pytest.mark.parametrize("given", [(), (None,), ("why",), (("scope", 3),)])
def test_a_task_learns_the_message_with_which_it_is_cancelled(calling: Any, given: tuple[Any, ...]) -> None:
    """anyio recognises its own cancellations by it."""

    async def learns(echo: EchoAsyncClient) -> tuple[Any, ...]:
        try:
            await echo.sleep(30.0)
        except asyncio.CancelledError as cancelled:
            return cancelled.args
        raise AssertionError("it was not cancelled")

    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> tuple[Any, ...]:
        await echo.twice(0)
        task = asyncio.create_task(learns(echo))
        await asyncio.sleep(0)
        task.cancel(*given)
        return await task

    assert calling(calls) == (() if given in ((), (None,)) else given)


def test_a_call_that_was_answered_may_still_be_cancelled_in_the_same_turn(calling: Any) -> None:
    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> list[Any]:
        await echo.twice(0)
        others: list[asyncio.Task[int]] = []

        async def first() -> None:
            await echo.twice(1)
            for task in others:
                task.cancel()

        one = asyncio.create_task(first())
        await asyncio.sleep(0)
        others += [asyncio.create_task(echo.twice(x)) for x in range(3)]
        await one
        done = await asyncio.gather(*others, return_exceptions=True)
        return [await echo.twice(5), *(type(each) for each in done)]

    assert calling(calls) == [10, *[asyncio.CancelledError] * 3]


def test_a_deadline_ends_a_wait(calling: Any) -> None:
    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> Code:
        with pytest.raises(mf.DeadlineExceeded) as raised:
            await echo.sleep(30.0, options=mf.CallOptions(deadline=0.05))
        return raised.value.code

    assert calling(calls) is Code.DEADLINE_EXCEEDED


def test_a_task_may_close_the_client_between_two_replies_of_one_read(calling: Any) -> None:
    async def calls(echo: EchoAsyncClient, client: mf.AsyncClient) -> list[Any]:
        await echo.twice(0)

        async def closes() -> int:
            answer = await echo.twice(1)
            await client.close()
            return answer

        tasks = [asyncio.create_task(each) for each in (closes(), *(echo.twice(x) for x in range(2, 5)))]
        return await asyncio.gather(*tasks, asyncio.create_task(late(echo)), return_exceptions=True)

    async def late(echo: EchoAsyncClient) -> Any:
        with pytest.raises(mf.Error) as raised:
            await echo.sleep(30.0)
        return raised.value.code

    assert calling(calls) == [2, 4, 6, 8, Code.CANCELLED]


def test_a_task_that_ends_the_program_takes_no_reply_from_the_others(calling: Any) -> None:
    answers: list[int] = []

    async def ends(echo: EchoAsyncClient) -> None:
        await echo.twice(1)
        raise SystemExit(3)

    async def other(echo: EchoAsyncClient, x: int) -> None:
        answers.append(await echo.twice(x))

    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> None:
        await echo.twice(0)
        task = asyncio.create_task(ends(echo))
        rest = [asyncio.create_task(other(echo, x)) for x in range(5)]
        try:
            await asyncio.gather(*rest)
        finally:
            assert isinstance(task.exception(), SystemExit)

    with pytest.raises(SystemExit):
        calling(calls)
    assert answers == [2 * x for x in range(len(answers))]


def test_a_wait_can_be_driven_by_hand(calling: Any) -> None:
    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> int:
        await echo.twice(0)
        coroutine = echo.twice(4)
        waited = coroutine.send(None)
        while not waited.done():
            await asyncio.sleep(0)
        with pytest.raises(StopIteration) as ended:
            coroutine.send(None)
        return int(ended.value.value)

    assert calling(calls) == 8


def test_nothing_is_left_of_waits_that_have_ended(calling: Any) -> None:
    def left() -> tuple[int, int]:
        gc.collect()
        kinds = (module().Waiter, asyncio.Future)
        return tuple(sum(type(each) is kind for each in gc.get_objects()) for kind in kinds)  # type: ignore[return-value]

    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> tuple[tuple[int, int], tuple[int, int]]:
        async def some() -> None:
            for x in range(200):
                await echo.twice(x)
            task = asyncio.create_task(echo.sleep(30.0))
            await echo.twice(1)
            task.cancel()
            await asyncio.wait([task])

        await some()
        before = left()
        await some()
        return before, left()

    before, after = calling(calls)
    assert after == before


def test_neither_references_nor_memory_are_kept_of_many_waits(calling: Any) -> None:
    shared: list[Any] = [None, True, False, 0, 1, asyncio.Task, module().Waiter]

    async def calls(echo: EchoAsyncClient, _: mf.AsyncClient) -> tuple[list[int], int]:
        async def some(count: int) -> tuple[list[int], int]:
            for _ in range(count // 30):
                await asyncio.gather(*(echo.twice(x) for x in range(30)))
                task = asyncio.create_task(echo.twice(1))
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
            gc.collect()
            return [sys.getrefcount(each) for each in shared], resident()

        references, memory = await some(900)
        after, memory_after = await some(3_000)
        moved = [now - before for now, before in zip(after, references, strict=True)]
        return moved, memory_after - memory

    moved, grown = calling(calls)
    assert [each for each in moved if each > 100] == []
    assert grown < GROWTH


@pytest.mark.parametrize("kind", [asyncio.Task, asyncio.tasks._PyTask])  # type: ignore[attr-defined]
@pytest.mark.parametrize("hindrance", ["another task", "its context"])
def test_a_task_that_cannot_go_on_at_once_goes_on_in_the_next_turn(kind: Any, hindrance: str) -> None:
    order: list[Any] = []

    async def one(waiter: Any, x: int) -> None:
        VAR.set(x)
        await waiter
        order.append((x, VAR.get()))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        context = copy_context()
        waiters = [module().Waiter(loop) for _ in range(3)]
        tasks = [kind(one(waiter, x), loop=loop, context=context) for x, waiter in enumerate(waiters)]
        await asyncio.sleep(0)

        def wake() -> None:
            for waiter in waiters:
                waiter.wake()
            order.append("woken")

        if hindrance == "another task":
            wake()
        else:
            loop.call_soon(context.run, wake)
        await asyncio.wait(tasks, timeout=5)
        assert [task.exception() for task in tasks] == [None] * 3

    asyncio.run(main())
    assert order == ["woken", (0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(("failure", "in_a_task"), [(ValueError, True), (RuntimeError, False)])
def test_a_step_that_fails_for_another_reason_is_not_taken_again(
    failure: type[Exception], in_a_task: bool
) -> None:
    steps: list[Any] = []

    def step(waiter: Any) -> None:
        steps.append(waiter)
        raise failure("it has failed")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        waiter = module().Waiter(loop)
        waiter.add_done_callback(step)

        def wake() -> None:
            assert (asyncio.current_task() is not None) == in_a_task
            with pytest.raises(failure, match="it has failed"):
                waiter.wake()
            waiter.wake()
            steps.append("woken")

        if in_a_task:
            wake()
        else:
            loop.call_soon(wake)
        for _ in range(3):
            await asyncio.sleep(0)
        assert steps == [waiter, "woken"]

    asyncio.run(main())


def test_a_waiter_without_a_task_keeps_how_it_has_ended() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        waiter = module().Waiter(loop)
        assert (waiter.done(), waiter.get_loop(), waiter.result()) == (False, loop, None)
        waiter.wake()
        assert await waiter is None
        assert (waiter.done(), waiter.cancel("late")) == (True, False)
        waiter = module().Waiter(loop)
        assert waiter.cancel(msg="now")
        waiter.set_result(None)
        waiter.wake()
        for _ in range(2):
            with pytest.raises(asyncio.CancelledError, match=r"^now$"):
                await waiter
        with pytest.raises(TypeError, match=r"cancel\(\)"):
            waiter.cancel("now", None)
        with pytest.raises(TypeError, match=r"cancel\(\)"):
            waiter.cancel(why="now")
        waiter = module().Waiter(loop)
        waiter.add_done_callback(print)
        with pytest.raises(RuntimeError, match="one task alone"):
            waiter.add_done_callback(print)

    asyncio.run(main())
