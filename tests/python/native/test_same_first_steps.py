"""The handler of an asyncio server cannot notice that its first step is taken where its request was read:
neither by its task and context, nor by how it is cancelled, purely and natively."""

import asyncio
import gc
import sys
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import pytest

import mf
from mf.core.error import Code
from mf.server import async_io, first_step
from mf.server.async_io import AsyncIo
from mf.server.current import ServedCall
from mf.server.first_step import begin, beginner_of
from tests.python.conftest import AsyncRecorder
from tests.python.echo import EchoAsyncClient, Negative
from tests.python.native.plans import module
from tests.python.native.test_memory import GROWTH, resident

Act = Callable[[int], Awaitable[int]]
Calls = Callable[[EchoAsyncClient, mf.AsyncServer], Awaitable[Any]]
Serve = Callable[[Act, Calls], Any]


class Acting(AsyncRecorder):
    """Does for `twice(x)` what the test says."""

    def __init__(self, act: Act) -> None:
        self.act = act

    async def twice(self, x: int) -> int:
        return await self.act(x)


@pytest.fixture(params=["pure", "native"])
def served(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Runs a server whose `twice` is `act`, and then `calls`, on one loop. Nothing may be left on it."""
    chosen = begin if request.param == "pure" else beginner_of(module())
    begun = 0

    def counted(*given: Any) -> Any:
        nonlocal begun
        begun += 1
        return chosen(*given)

    monkeypatch.setattr(async_io, "beginner", lambda: counted)

    def serve(act: Act, calls: Calls) -> Any:
        async def main() -> Any:
            wrong: list[dict[str, Any]] = []
            asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
            server = mf.AsyncServer(options=mf.ServerOptions(drain_timeout=5.0))
            server.offer(Acting(act), agent="a")
            async with server, mf.AsyncClient(server.address) as client:
                result = await calls(EchoAsyncClient(client).at("a"), server)
                await server.stop()
            gc.collect()
            assert wrong == []
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return result

        return asyncio.run(main())

    yield serve
    assert begun > 0


def here() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    assert type(task) is asyncio.Task
    assert task in asyncio.all_tasks()
    assert not task.done()
    return task


def tasks_of(server: mf.AsyncServer) -> int:
    assert server._io is not None
    return len(server._io._tasks)


async def until(holds: Callable[[], bool]) -> None:
    """In turns of the loop."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it has not come")


def test_handlers_that_wait_for_nothing_need_one_task_and_begin_in_order(served: Serve) -> None:
    names: list[str] = []
    order: list[int] = []

    async def act(x: int) -> int:
        names.append(here().get_name())
        order.append(x)
        return 2 * x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        return await asyncio.gather(*(echo.twice(x) for x in range(300)))

    assert served(act, calls) == [2 * x for x in range(300)]
    assert order == list(range(300))
    assert len(set(names)) == 1


def test_a_handler_that_waits_keeps_its_task_and_others_go_past_it(served: Serve) -> None:
    seen: dict[int, list[Any]] = {}
    go_on = asyncio.Event()

    async def act(x: int) -> int:
        seen[x] = [here()]
        if x % 2:
            await go_on.wait()
            await asyncio.sleep(0)
            seen[x].append(here())
        return x

    async def calls(echo: EchoAsyncClient, server: mf.AsyncServer) -> list[int]:
        waiting = [asyncio.create_task(echo.twice(x)) for x in range(1, 20, 2)]
        await until(lambda: len(seen) == 10)
        assert tasks_of(server) == 10
        assert [await echo.twice(x) for x in range(0, 20, 2)] == list(range(0, 20, 2))
        go_on.set()
        answers = await asyncio.gather(*waiting)
        assert tasks_of(server) == 0
        return answers

    assert served(act, calls) == list(range(1, 20, 2))
    waited = [tasks for x, tasks in seen.items() if x % 2]
    assert all(before is after for before, after in waited)
    assert len({id(tasks[0]) for tasks in seen.values()}) == 20  # each is referred to by the test


@pytest.mark.parametrize(
    "leave",
    [
        lambda kept: kept.append(here()),
        lambda kept: kept.append(weakref.ref(here())),
        lambda kept: here().add_done_callback(kept.append),
        lambda _: here().set_name("mine"),
        lambda _: here().cancel(),
    ],
    ids=["a reference", "a weak reference", "a callback", "a name", "a cancellation"],
)
def test_a_task_that_a_handler_has_left_a_trace_in_serves_no_other_and_ends(
    served: Serve, leave: Callable[[list[Any]], object]
) -> None:
    kept: list[Any] = []
    names: list[str] = []
    cancelling: list[int] = []

    async def act(x: int) -> int:
        names.append(here().get_name())
        cancelling.append(here().cancelling())
        leave(kept)
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        answers = [await echo.twice(x) for x in range(5)]
        await asyncio.sleep(0)
        left = [each() if isinstance(each, weakref.ref) else each for each in kept]
        assert all(each is None or each.done() for each in left)
        return answers

    assert served(act, calls) == list(range(5))
    assert len(set(names)) == 5
    assert cancelling == [0] * 5
    assert len(kept) in (0, 5)


@pytest.mark.parametrize("is_taken_back", [False, True])
def test_a_handler_that_cancels_its_task_cancels_no_other_of_the_same_turn(
    served: Serve, is_taken_back: bool
) -> None:
    async def act(x: int) -> int:
        if x == 0:
            here().cancel()
            if is_taken_back:
                here().uncancel()
            return x
        await asyncio.sleep(0.001)
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        return await asyncio.gather(*(echo.twice(x) for x in range(4)))

    assert served(act, calls) == list(range(4))


def test_handlers_of_one_turn_may_wait_for_the_same_future(served: Serve) -> None:
    shared: list[asyncio.Future[int]] = []

    async def act(x: int) -> int:
        if not shared:
            shared.append(asyncio.get_running_loop().create_future())
            asyncio.get_running_loop().call_later(0.001, shared[0].set_result, 7)
        return x + await shared[0]

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        return await asyncio.gather(*(echo.twice(x) for x in range(4)))

    assert served(act, calls) == [7, 8, 9, 10]


def test_a_handler_that_always_waits_has_tasks_of_its_own_until_it_waits_no_more(served: Serve) -> None:
    waits = True
    spares: list[bool] = []

    async def act(x: int) -> int:
        spares.append(isinstance(here().get_coro(), first_step.SpareTask))
        if waits:
            await asyncio.sleep(0)
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        nonlocal waits
        answers = [await echo.twice(x) for x in range(200)]
        waits = False
        return answers + [await echo.twice(x) for x in range(200, 400)]

    assert served(act, calls) == list(range(400))
    assert spares[:4] == [True] * 4
    assert 2 <= sum(spares[4:200]) <= 4  # now and then
    assert all(spares[300:])


VAR: ContextVar[int] = ContextVar("var", default=-1)


def test_each_handler_has_a_context_of_its_own_in_all_its_steps(served: Serve) -> None:
    seen: list[tuple[int, ...]] = []

    async def child() -> tuple[int, int]:
        return VAR.get(), mf.current_call().request_id

    async def act(x: int) -> int:
        before = VAR.get()
        VAR.set(x)
        id_ = mf.current_call().request_id
        if x % 2:
            await asyncio.sleep(0)
        var, id_of_child = await asyncio.create_task(child())
        seen.append((x, before, VAR.get(), var))
        assert id_ == id_of_child == mf.current_call().request_id
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        together = await asyncio.gather(*(echo.twice(x) for x in range(20)))
        assert VAR.get() == -1
        with pytest.raises(RuntimeError):
            mf.current_call()
        return together

    assert served(act, calls) == list(range(20))
    assert sorted(seen) == [(x, -1, x, x) for x in range(20)]


def test_the_context_of_one_that_waits_for_nothing_is_not_that_of_the_next(served: Serve) -> None:
    seen: list[int] = []

    async def act(x: int) -> int:
        seen.append(VAR.get())
        VAR.set(x)
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> None:
        for x in range(5):
            await echo.twice(x)

    served(act, calls)
    assert seen == [-1] * 5


def test_timeouts_and_groups_of_tasks_work_within_a_first_step(served: Serve) -> None:
    async def act(x: int) -> int:
        async with asyncio.timeout(30):
            pass  # without a wait
        if x == 0:
            return 0
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            assert here().cancelling() == 0
        async with asyncio.TaskGroup() as group:
            made = [group.create_task(asyncio.sleep(0, each)) for each in range(x)]
        return sum(task.result() for task in made)

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> list[int]:
        return await asyncio.gather(*(echo.twice(x) for x in range(4)))

    assert served(act, calls) == [0, 0, 1, 3]


@pytest.mark.parametrize(
    "wait", [lambda: asyncio.sleep(0), lambda: asyncio.sleep(30)], ids=["a turn", "long"]
)
def test_a_handler_that_cancels_its_own_task_learns_of_it_where_it_waits(
    served: Serve, wait: Callable[[], Awaitable[None]]
) -> None:
    ended: list[str] = []

    async def act(x: int) -> int:
        here().cancel("enough")
        try:
            await wait()
        except asyncio.CancelledError as cancelled:
            ended.append(*cancelled.args)
            here().uncancel()
            await asyncio.sleep(0)  # it is not cancelled again
            return x
        raise AssertionError("it was not cancelled")

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> int:
        return await echo.twice(7)

    assert served(act, calls) == 7
    assert ended == ["enough"]


@pytest.mark.parametrize("how", ["cancelled", "late"])
def test_a_handler_is_cancelled_with_its_call(served: Serve, how: str) -> None:
    ended: list[str] = []
    began = asyncio.Event()

    async def act(x: int) -> int:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return x

    async def calls(echo: EchoAsyncClient, server: mf.AsyncServer) -> Code | None:
        code = None
        if how == "late":
            with pytest.raises(mf.Error) as raised:
                await echo.twice(1, options=mf.CallOptions(deadline=0.05))
            code = raised.value.code
        else:
            task = asyncio.create_task(echo.twice(1))
            await began.wait()
            task.cancel()
        await until(lambda: bool(ended))
        await until(lambda: tasks_of(server) == 0)
        return code

    assert served(act, calls) == (Code.DEADLINE_EXCEEDED if how == "late" else None)
    assert ended == ["cancelled"]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    ("raised", "wanted"),
    [
        (Negative(-3), Negative),
        (mf.Error(Code.OVERLOADED, "not today"), mf.Error),
        (ValueError("a secret"), mf.Error),
        (StopIteration(4), mf.Error),
        (SystemExit(3), mf.Error),
        (asyncio.CancelledError(), mf.Error),
    ],
    ids=["declared", "an Error", "another", "StopIteration", "the end", "cancelled"],
)
def test_what_a_handler_raises_is_answered(
    served: Serve, waits: bool, raised: BaseException, wanted: type[Exception]
) -> None:
    async def act(_: int) -> int:
        if waits:
            await asyncio.sleep(0)
        raise raised

    async def calls(echo: EchoAsyncClient, server: mf.AsyncServer) -> str:
        with pytest.raises(wanted) as failed:
            await echo.twice(1, options=mf.CallOptions(deadline=10))
        assert tasks_of(server) == 0
        return str(failed.value)

    assert "secret" not in served(act, calls)


@pytest.mark.parametrize("waits", [False, True])
def test_a_result_that_is_none_is_a_failure_of_the_handler(served: Serve, waits: bool) -> None:
    async def act(_: int) -> Any:
        if waits:
            await asyncio.sleep(0)
        return "no number"

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> Code:
        with pytest.raises(mf.Error) as failed:
            await echo.twice(1, options=mf.CallOptions(deadline=10))
        return failed.value.code

    assert served(act, calls) is Code.HANDLER_FAILED


def test_a_handler_may_return_what_is_awaited(served: Serve) -> None:
    class Returning(Acting):
        def twice(self, x: int) -> Any:  # no `async def`
            if x == 0:
                return 5
            future = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(future.set_result, 2 * x)
            return future

    async def act(x: int) -> int:
        return x

    async def calls(_: EchoAsyncClient, server: mf.AsyncServer) -> list[int]:
        server.offer(Returning(act), agent="b")
        async with mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("b")
            return [await echo.twice(x) for x in range(3)]

    assert served(act, calls) == [5, 2, 4]


def test_a_program_that_cancels_all_other_tasks_does_not_stop_the_server(served: Serve) -> None:
    async def act(x: int) -> int:
        if x < 0:
            await asyncio.Event().wait()
        return x

    async def calls(echo: EchoAsyncClient, server: mf.AsyncServer) -> list[Any]:
        before = [await echo.twice(1)]
        waiting = asyncio.create_task(echo.twice(-1, options=mf.CallOptions(deadline=10)))
        await until(lambda: tasks_of(server) == 1)
        before.append(await echo.twice(2))
        for task in asyncio.all_tasks() - {asyncio.current_task(), waiting}:
            task.cancel()
        with pytest.raises(mf.Error) as failed:
            await waiting
        assert failed.value.code is Code.HANDLER_FAILED
        return [*before, await echo.twice(3), await echo.twice(4)]

    assert served(act, calls) == [1, 2, 3, 4]


@pytest.mark.parametrize("given", [(), ("why",)])
@pytest.mark.parametrize("waits", [False, True])
def test_a_task_that_a_program_cancels_learns_the_message(
    served: Serve, waits: bool, given: tuple[str, ...]
) -> None:
    learned: list[tuple[Any, ...]] = []
    began = asyncio.Event()

    async def act(x: int) -> int:
        if waits:
            began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as cancelled:
                learned.append(cancelled.args)
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> int:
        call = asyncio.create_task(echo.twice(5))
        await (began.wait() if waits else call)
        (task,) = (each for each in asyncio.all_tasks() if isinstance(each.get_coro(), first_step.SpareTask))
        task.cancel(*given)
        if not waits:
            with pytest.raises(asyncio.CancelledError) as ended:
                await task
            learned.append(ended.value.args)
        return await call

    assert served(act, calls) == 5
    assert learned == [given]


def test_a_task_that_is_cancelled_before_its_first_step_is_answered_and_forgotten(served: Serve) -> None:
    async def act(x: int) -> int:
        return x

    async def calls(echo: EchoAsyncClient, server: mf.AsyncServer) -> tuple[Code, int]:
        def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, **named: Any) -> "asyncio.Task[Any]":
            task = asyncio.Task(coroutine, loop=loop, **named)
            if coroutine.__qualname__ == AsyncIo._run.__qualname__:
                task.cancel()
            return task

        loop = asyncio.get_running_loop()
        loop.set_task_factory(factory)
        with pytest.raises(mf.Error) as failed:
            await echo.twice(2, options=mf.CallOptions(deadline=10))
        loop.set_task_factory(None)
        assert await echo.twice(3) == 3
        await until(lambda: tasks_of(server) == 0)
        assert server._io is not None
        (connection,) = server._io._connections.values()
        return failed.value.code, len(connection.calls)

    assert served(act, calls) == (Code.HANDLER_FAILED, 0)


def test_nothing_is_left_of_calls_that_have_ended(served: Serve) -> None:
    async def act(x: int) -> int:
        if x % 10 == 0:
            await asyncio.sleep(0)
        if x % 10 == 1:
            raise Negative(x)
        return x

    def left() -> list[int]:
        gc.collect()
        kinds = (ServedCall, first_step.SpareTask, asyncio.Task)
        objects = gc.get_objects()
        return [sum(isinstance(each, kind) for each in objects) for kind in kinds]

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> tuple[list[int], list[int]]:
        async def some(count: int) -> None:
            for x in range(count):
                with suppress(Negative):
                    await echo.twice(x)

        await some(20)
        before = left()
        await some(400)
        return before, left()

    before, after = served(act, calls)
    assert after <= before


def test_neither_references_nor_memory_are_kept_of_many_calls(served: Serve) -> None:
    shared: list[Any] = [None, True, False, 0, 1, asyncio.Task, first_step.SpareTask, ServedCall, Negative]

    async def act(x: int) -> int:
        if x % 3 == 0:
            await asyncio.sleep(0)
        if x % 3 == 1:
            raise Negative(x)
        return x

    async def calls(echo: EchoAsyncClient, _: mf.AsyncServer) -> tuple[list[int], int]:
        async def some(count: int) -> tuple[list[int], int]:
            for _ in range(count // 30):
                await asyncio.gather(*(echo.twice(x) for x in range(30)), return_exceptions=True)
            gc.collect()
            return [sys.getrefcount(each) for each in shared], resident()

        references, memory = await some(900)
        after, memory_after = await some(3_000)
        moved = [now - before for now, before in zip(after, references, strict=True)]
        return moved, memory_after - memory

    moved, grown = served(act, calls)
    assert [each for each in moved if each > 100] == []
    assert grown < GROWTH


def test_a_one_way_call_that_waits_holds_up_what_comes_behind_it(served: Serve) -> None:
    order: list[str] = []
    go_on = asyncio.Event()

    class Noting(Acting):
        async def note(self, x: int) -> None:
            order.append(f"note {x}")
            await go_on.wait()
            order.append(f"noted {x}")

    async def act(x: int) -> int:
        order.append(f"twice {x}")
        return x

    async def calls(_: EchoAsyncClient, server: mf.AsyncServer) -> None:
        server.offer(Noting(act), agent="b")
        async with mf.AsyncClient(server.address) as client:
            echo = EchoAsyncClient(client).at("b")
            await echo.twice(0)
            await echo.note(1)
            behind = asyncio.create_task(echo.twice(2))
            await until(lambda: "note 1" in order)
            await asyncio.sleep(0.01)
            go_on.set()
            await behind

    served(act, calls)
    assert order == ["twice 0", "note 1", "noted 1", "twice 2"]
