"""Many coroutines, which share tasks unless they wait (mf.core.many_at_once)."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeVar

import pytest

from mf.core.many_at_once import AT_ONCE, some_at_once

T = TypeVar("T")
Each = Callable[[int], Coroutine[Any, Any, T]]
VALUE: ContextVar[int] = ContextVar("VALUE", default=-1)


def ran(each: Each[T], count: int) -> list[T]:
    return asyncio.run(some_at_once(each(x) for x in range(count)))


def this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def named() -> str:
    return this_task().get_name()


def test_those_that_wait_for_nothing_share_a_task() -> None:
    async def each(x: int) -> tuple[int, str]:
        return x, await named()

    results = ran(each, 3 * AT_ONCE)

    assert [x for x, _ in results] == list(range(3 * AT_ONCE))
    assert len({name for _, name in results}) == 1


def test_one_that_waits_keeps_the_task_in_which_it_began() -> None:
    running: set[str] = set()

    async def each(x: int) -> tuple[int, str, str]:
        before = await named()
        if x % 3 == 0:
            running.add(before)
            await asyncio.sleep(0 if x % 2 else 0.001)
            running.remove(before)
        else:
            assert before not in running
        return x, before, await named()

    results = ran(each, 100)

    assert [x for x, _, _ in results] == list(range(100))
    assert all(before == after for _, before, after in results)
    assert len({before for x, before, _ in results if x % 3 == 0}) == 34


def test_no_more_than_a_limit_wait_at_once_and_all_wait_together() -> None:
    waiting = most = 0

    async def each(x: int) -> int:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        for _ in range(20):
            await asyncio.sleep(0)
        waiting -= 1
        return x

    assert ran(each, 3 * AT_ONCE) == list(range(3 * AT_ONCE))
    assert most == AT_ONCE


def test_coroutines_are_made_when_their_turn_comes() -> None:
    made = 0

    async def main() -> None:
        gate = asyncio.Event()

        async def each(x: int) -> int:
            await gate.wait()
            return x

        def runs() -> Iterable[Coroutine[Any, Any, int]]:
            nonlocal made
            for x in range(2 * AT_ONCE):
                made += 1
                yield each(x)

        whole = asyncio.ensure_future(some_at_once(runs()))
        for _ in range(50):
            await asyncio.sleep(0)
        assert made == AT_ONCE
        gate.set()
        assert await whole == list(range(2 * AT_ONCE))

    asyncio.run(main())


def test_other_work_of_the_loop_goes_on_in_between() -> None:
    async def main() -> list[int]:
        seen: list[int] = []
        count = 0

        async def each(_: int) -> None:
            nonlocal count
            count += 1

        async def look() -> None:
            while count < 4 * AT_ONCE:
                seen.append(count)
                await asyncio.sleep(0)

        looking = asyncio.ensure_future(look())
        await some_at_once(each(x) for x in range(4 * AT_ONCE))
        await looking
        return seen

    seen = asyncio.run(main())

    assert len(seen) >= 4
    assert max(b - a for a, b in pairwise(seen)) <= AT_ONCE + 1


@pytest.mark.parametrize("waits", [False, True])
def test_what_one_sets_in_its_context_is_not_seen_by_the_next(waits: bool) -> None:
    async def each(x: int) -> tuple[int, int]:
        before = VALUE.get()
        VALUE.set(x)
        if waits:
            await asyncio.sleep(0)
        return before, VALUE.get()

    async def main() -> list[tuple[int, int]]:
        VALUE.set(1000)
        return await some_at_once(each(x) for x in range(10))

    assert asyncio.run(main()) == [(1000, x) for x in range(10)]


@pytest.mark.parametrize("after", [0.0, 0.001])
def test_a_timeout_ends_what_waits_within_it_alone(after: float) -> None:
    async def each(x: int) -> str:
        try:
            async with asyncio.timeout(after if x % 2 else None):
                await asyncio.sleep(0.01 if x % 2 else 0)
        except TimeoutError:
            return "late"
        assert not this_task().cancelling()
        return "in time"

    assert ran(each, 20) == ["in time", "late"] * 10


def test_a_group_of_tasks_within_one_fails_alone() -> None:
    async def fail() -> None:
        raise KeyError("oops")

    async def each(x: int) -> str:
        try:
            async with asyncio.TaskGroup() as group:
                if x == 1:
                    group.create_task(fail())
                group.create_task(asyncio.sleep(0))
        except BaseExceptionGroup:
            return "failed"
        return "whole"

    assert ran(each, 3) == ["whole", "failed", "whole"]


def test_one_that_cancels_its_task_cancels_no_other() -> None:
    async def each(x: int) -> str:
        if x == 1:
            this_task().cancel()
        try:
            if x != 1:
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            return "cancelled"
        return "whole"

    assert ran(each, 4) == ["whole"] * 4


@pytest.mark.parametrize(
    "leave",
    [
        lambda task: (task.cancel(), task.uncancel()),
        lambda task: task.set_name("mine"),
        lambda task: task.add_done_callback(lambda _: None),
    ],
    ids=["a cancellation that was taken back", "a name", "a callback"],
)
def test_a_task_in_which_one_has_left_a_trace_runs_no_other(
    leave: Callable[["asyncio.Task[Any]"], object],
) -> None:
    names: list[str] = []

    async def one(x: int) -> int:
        names.append(this_task().get_name())
        if x == 0:
            leave(this_task())
        elif x == 1:
            await asyncio.sleep(0)
        return x

    assert ran(one, 3) == [0, 1, 2]
    assert names[1] not in (names[0], "mine")


def test_a_task_that_one_still_refers_to_is_its_own() -> None:
    kept: list[asyncio.Task[Any]] = []

    async def each(x: int) -> None:
        if x % 2:
            kept.append(this_task())

    ran(each, 10)

    assert len(set(kept)) == 5


def test_a_caller_that_is_cancelled_waits_for_the_running_ones_and_starts_no_other() -> None:
    begun: list[int] = []
    ended: list[int] = []

    async def each(x: int) -> None:
        begun.append(x)
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            try:
                await asyncio.sleep(0)
            finally:
                ended.append(x)

    async def main() -> None:
        whole = asyncio.ensure_future(some_at_once(each(x) for x in range(2 * AT_ONCE)))
        while len(begun) < 10:
            await asyncio.sleep(0)
        count = len(begun)
        whole.cancel()
        await asyncio.sleep(0)
        whole.cancel()  # once more, while it waits for them
        with pytest.raises(asyncio.CancelledError):
            await whole
        assert len(begun) == len(ended) == count
        assert asyncio.all_tasks() == {this_task()}

    asyncio.run(main())


@pytest.mark.parametrize("waits", [False, True])
def test_the_first_exception_ends_the_others_and_is_raised(waits: bool) -> None:
    begun: list[int] = []
    cancelled: list[int] = []

    async def each(x: int) -> None:
        begun.append(x)
        if x == 2:
            if waits:
                await asyncio.sleep(0)
            raise KeyError(x)
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            cancelled.append(x)
            raise

    with pytest.raises(KeyError):
        ran(each, 4 * AT_ONCE)

    assert sorted(cancelled) == [x for x in begun if x != 2]
    assert len(begun) < AT_ONCE


def test_what_waits_sees_the_exceptions_that_end_its_waits() -> None:
    """A future that fails, and a wait that is cancelled several times."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()

        async def each(x: int) -> str:
            future: asyncio.Future[str] = loop.create_future()
            if x == 0:
                loop.call_soon(future.set_exception, KeyError("oops"))
            elif x == 1:
                loop.call_soon(this_task().cancel)
            else:
                loop.call_soon(future.set_result, "set")
            try:
                return await future
            except KeyError:
                return "failed"
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                return "cancelled"

        return await some_at_once(each(x) for x in range(3))

    assert asyncio.run(main()) == ["failed", "cancelled", "set"]


class FirstStepAtOnce(asyncio.Task[Any]):
    """What the tasks of asyncio.eager_task_factory of Python 3.12 are for those that wait for nothing."""


def test_tasks_are_made_by_the_factory_of_the_loop() -> None:
    made: list[asyncio.Task[Any]] = []

    def factory(loop: Any, run: Any, **named: Any) -> asyncio.Task[Any]:
        made.append(FirstStepAtOnce(run, loop=loop, **named))
        return made[-1]

    async def each(x: int) -> int:
        assert type(this_task()) is FirstStepAtOnce
        if x % 2:
            await asyncio.sleep(0)
        return x

    async def main() -> list[int]:
        asyncio.get_running_loop().set_task_factory(factory)
        return await some_at_once(each(x) for x in range(40))

    assert asyncio.run(main()) == list(range(40))
    assert 20 <= len(made) <= 40


@pytest.mark.skipif(not hasattr(asyncio, "eager_task_factory"), reason="of Python 3.12")
@pytest.mark.parametrize("waits", [False, True])
def test_tasks_may_take_their_first_step_at_once(waits: bool) -> None:
    async def each(x: int) -> int:
        if waits:
            await asyncio.sleep(0)
        return x

    async def main() -> list[int]:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined]
        return await some_at_once(each(x) for x in range(3 * AT_ONCE))

    assert asyncio.run(main()) == list(range(3 * AT_ONCE))


def test_none_are_none() -> None:
    async def main() -> list[int]:
        return await some_at_once(())

    assert asyncio.run(main()) == []
