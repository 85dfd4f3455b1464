"""R0. Runs many coroutines on a loop of asyncio, for batches whose handlers are `async def`.

A task takes several times as long as most handlers run, so those that wait for nothing share one: it runs
them one after another. A coroutine that waits keeps the task in which it began, and another task goes on with
the next ones. So `asyncio.current_task()` is the same before and after a wait, and `asyncio.timeout` and
`asyncio.TaskGroup` work as anywhere; a task that a coroutine has cancelled or still refers to, or in whose
context it has set something, runs no further one.
"""

from asyncio import AbstractEventLoop, CancelledError, Future, Task, current_task, get_running_loop, shield
from collections.abc import Coroutine, Generator, Iterable
from contextvars import Context, copy_context
from types import coroutine
from typing import Any, Generic, TypeVar

from mf.core.task_traces import traces_of

T = TypeVar("T")

AT_ONCE = 1024
"""So many coroutines wait at once, and so many end in one turn of the loop."""


async def some_at_once(runs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in order. Each coroutine is taken from `runs` when its turn comes. If one raises, or the
    calling task is cancelled, no further one starts, the running ones are cancelled and waited for, and that
    is raised."""
    return await _Runs(runs).results()


class _Runs(Generic[T]):
    __slots__ = (
        "_context",
        "_is_over",
        "_is_starting",
        "_left",
        "_loop",
        "_raised",
        "_results",
        "_runs",
        "_tasks",
        "_waiting",
    )

    def __init__(self, runs: Iterable[Coroutine[Any, Any, T]]) -> None:
        self._runs = iter(runs)
        self._results: list[Any] = []
        self._loop: AbstractEventLoop = get_running_loop()
        self._context: Context = copy_context()
        self._left: Future[None] = self._loop.create_future()
        """Done once no task is left, and no further one starts."""
        self._tasks: dict[Task[None], None] = {}
        self._waiting = 0
        """How many tasks have a coroutine that waits."""
        self._is_starting = False
        self._is_over = False
        """No further coroutine starts."""
        self._raised: BaseException | None = None

    async def results(self) -> list[T]:
        self._start()
        while not self._left.done():
            try:
                await shield(self._left)
            except CancelledError as cancelled:
                self._give_up(cancelled)
        if self._raised is not None:
            raise self._raised
        return self._results

    def _give_up(self, why: BaseException) -> None:
        self._is_over = True
        self._raised = self._raised or why
        for task in list(self._tasks):
            task.cancel()
        self._leave_if_none_is_left()

    def _start(self) -> None:
        """As many tasks as have coroutines that wait: if some wait, most do."""
        self._is_starting = False
        for _ in range(min(max(self._waiting, 1), AT_ONCE - self._waiting)):
            if self._is_over:
                break
            task = self._loop.create_task(self._go_on(), context=self._context.copy())
            self._tasks[task] = None
            if task.done():  # a loop may take the first step at once: asyncio.eager_task_factory
                self._has_ended(task)
            else:
                task.add_done_callback(self._has_ended)
        self._leave_if_none_is_left()

    def _start_soon(self) -> None:
        if not self._is_starting and not self._is_over:
            self._is_starting = True
            self._loop.call_soon(self._start)

    def _has_ended(self, task: Task[None]) -> None:
        del self._tasks[task]
        raised = None if task.cancelled() else task.exception()
        if raised is not None:
            self._give_up(raised)
        elif not self._tasks:
            self._start_soon()  # a task that one of its coroutines has cancelled leaves others
        self._leave_if_none_is_left()

    def _leave_if_none_is_left(self) -> None:
        if self._is_over and not self._tasks and not self._left.done():
            self._left.set_result(None)

    @coroutine
    def _go_on(self) -> Generator[Any, Any, None]:
        """Runs coroutines until one waits, and this one to its end."""
        results, context = self._results, self._context
        task = current_task(self._loop)
        assert task is not None
        traces = traces_of(task)
        until = len(results) + AT_ONCE
        for run in self._runs:
            at = len(results)
            results.append(None)
            try:
                waits_for = run.send(None)
            except StopIteration as end:
                results[at] = end.value
            else:
                self._waiting += 1
                self._start_soon()
                try:
                    results[at] = yield from _rest_of(run, waits_for)
                finally:
                    self._waiting -= 1
                self._start_soon()
                return
            if traces_of(task) != traces or copy_context() != context:
                self._start_soon()
                return
            if at >= until:
                until = at + AT_ONCE
                yield  # so that other calls of the loop run
        self._is_over = True


@coroutine
def _rest_of(run: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """The result of a coroutine that waits for something already, as `await` returns it."""
    while True:
        try:
            yield waits_for
        except GeneratorExit:
            run.close()
            raise
        except BaseException as thrown:
            raised = thrown
        else:
            return (yield from run)  # type: ignore[no-any-return]
        try:
            waits_for = run.throw(raised)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
