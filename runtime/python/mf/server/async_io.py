"""R5. The IO of a server on an asyncio loop: the counterpart of io.py without a thread. Handlers are tasks of
the loop. The replies of one turn of the loop are sent in one system call for each connection: those of
handlers that wait for nothing in the turn in which they began. One timer is set for the earliest deadline of
all running calls; it is moved when it fires, not with every call.

The number of tasks is bounded by what HELLO lets a client have in flight, and one-way calls run one after
another; the number of waiting bytes is bounded by not reading from connections with more.
"""

from asyncio import AbstractEventLoop, CancelledError, Future, Task, TimerHandle, current_task, wait
from collections.abc import Generator
from contextlib import suppress
from time import monotonic
from types import coroutine
from typing import Any

from mf.protocol.handshake import Hello
from mf.protocol.server_call import ServerCallState
from mf.server.access import Access
from mf.server.awaited_stream import ended_by
from mf.server.blocking_stream import expire
from mf.server.connection import READ, WRITE, Connection
from mf.server.current import ServedCall
from mf.server.dispatch_async import run_async, run_stream_async
from mf.server.files import ServedFiles
from mf.server.first_step import SpareTask, beginner
from mf.server.listener import Listener
from mf.server.load import ServerLoad
from mf.server.offer import PATIENCE, Offers
from mf.server.pushed import run_pushed
from mf.server.server_io import ServerIo
from mf.server.stream import StreamCall
from mf.transport.sockets import Listening
from mf.transport.stream import Stream

_FOREVER = float("inf")
_STRAGGLERS = 1.0
"""Seconds that handlers have after the drain to react to their cancellation."""
_EXPIRY_PACE = 4e-6
"""Seconds for each running call between two looks for expired ones, which take about a tenth of that: clients
whose calls have many different deadlines cannot make a server look all the time."""

_WAIT = 4
"""What a wait takes of the patience with a handler, of which each call without one returns 1."""
_UNTRIED = 64
"""How many calls of a handler that waits are tasks from the start, before one begins where it was read."""


@coroutine
def _first_step() -> Generator[None, None, None]:
    """What a task waits for that has not begun: so its coroutine learns also of a cancellation then."""
    yield


class AsyncIo(ServerIo):
    """Made and used on its loop; only `turn_soon` is thread-safe."""

    __slots__ = (
        "_began",
        "_begin",
        "_closed",
        "_dirty",
        "_drained_at_last",
        "_expiry",
        "_expiry_from",
        "_expiry_timer",
        "_flushes",
        "_loop",
        "_spare",
        "_tasks",
        "_timer",
        "_turning",
    )

    def __init__(
        self,
        loop: AbstractEventLoop,
        listening: list[Listening],
        offers: Offers,
        hello: Hello,
        load: ServerLoad,
        access: Access,
    ) -> None:
        super().__init__(listening, offers, hello, load, access)
        self._loop = loop
        self._closed = False
        # Dictionaries instead of sets: iteration follows the order of insertion, which is the same in each
        # run of a simulation. The order of a set of objects depends on their addresses.
        self._dirty: dict[Connection, None] = {}
        self._tasks: dict[ServedCall, Task[None]] = {}
        self._spare: SpareTask | None = None
        self._begin = beginner()
        self._run_here = self._begin_here
        self._pauses_input = False
        self._turning: Connection | None = None
        """The connection that will be flushed at the end of its turn."""
        self._began = False
        """Whether tasks were made since the last flush was scheduled."""
        self._flushes = 0
        """How many are scheduled."""
        self._expiry = _FOREVER
        self._expiry_from = -_FOREVER
        """Before that, expired calls are not looked for again."""
        self._expiry_timer: TimerHandle | None = None
        self._timer: TimerHandle | None = None
        self._drained_at_last: Future[None] | None = None
        for listener in self._listeners.values():
            self._watch_listener(listener, accept=True)

    def adopt(self, stream: Stream) -> None:
        self._open(stream)

    def watch_files(self, files: ServedFiles) -> None:
        super().watch_files(files)
        self._set_timer()

    def files_read(self) -> None:
        self._check_again()

    async def drain(self, drain_timeout: float) -> None:
        """Accepts no new connections or requests; returns when all calls have ended, or after `drain_timeout`
        seconds, and nothing of it runs any more then."""
        self._drain_until = monotonic() + drain_timeout
        self._drained_at_last = self._loop.create_future()
        try:
            self._begin_drain()
            self._look_at_all()
            self._set_timer()
            await self._drained_at_last
        finally:
            self._closed = True
            self._stop_listening()
            self._close_all()
            for timer in (self._timer, self._expiry_timer):
                if timer is not None:
                    timer.cancel()
            tasks = list(self._tasks.values())
            if self._spare is not None:
                tasks.append(self._spare.task)
            for task in tasks:
                task.cancel()
        if tasks:
            await wait(tasks, timeout=_STRAGGLERS)

    # What connections need

    def start(self, call: ServedCall) -> None:
        if self._closed:  # one-way calls that waited for others
            return
        if call.handler.pushed:
            assert isinstance(call, StreamCall)
            run_pushed(call)
            return
        steps = self._run(call)
        steps.send(None)
        task = self._loop.create_task(steps)
        self._began = True
        if task.done():  # a loop may take the first step at once: asyncio.eager_task_factory
            return
        self._goes_on(call, task)

    def _goes_on(self, call: ServedCall, task: "Task[None]") -> None:
        self._tasks[call] = task
        if call.deadline < self._expiry:
            self._expire_at(call.deadline)

    async def _run(self, call: ServedCall) -> None:
        try:
            try:
                await _first_step()
            except CancelledError as cancelled:  # a program has cancelled all tasks of its loop
                ended_by(call, call.handler, cancelled)
                raise
            if isinstance(call, StreamCall):
                await run_stream_async(call)
            else:
                await run_async(call, self._loop)
        finally:
            self._tasks.pop(call, None)

    # The first step of a handler, where its request was read

    def _begin_here(self, call: ServedCall) -> None:
        """A handler that mostly waits has a task from the start, which costs less then; from time to time it
        gets another chance. A loop with a factory of tasks makes one for each call by that."""
        loop, connection, handler = self._loop, call.connection, call.handler
        spare = None
        if handler.patience <= 0:
            handler.patience = handler.patience - 1 if handler.patience > -_UNTRIED else _WAIT
        else:
            spare = self._spare
            if spare is None and loop.get_task_factory() is None:
                spare = self._spare = SpareTask(loop, self._forget_task, self._lost)
        if (
            spare is None
            or call.count != 1
            or not connection.may_begin(call)
            or current_task(loop) is not None
        ):
            call.state = ServerCallState.RECEIVED
            if connection.admit(call):
                self.start(call)
            return
        suspended = self._begin(call, loop, spare.task)
        if suspended is not None:
            handler.patience -= _WAIT
            self._spare = None
            connection.suspends(call, spare.task.cancel)
            self._goes_on(call, spare.task)
            spare.go_on(call, suspended)
            return
        if handler.patience < PATIENCE:
            handler.patience += 1
        if not spare.is_spare():
            self._spare = None
            spare.end()

    def _lost(self, spare: SpareTask) -> None:
        if self._spare is spare:
            self._spare = None

    def _forget_task(self, call: ServedCall) -> None:
        del self._tasks[call]

    def _turn(self, connection: Connection, mask: int) -> None:
        self._turning = connection
        try:
            super()._turn(connection, mask)
        finally:
            self._turning = None
        if self._began:  # behind the first steps of the tasks that were made, in the same turn of the loop
            self._began = False
            self._flush_soon()

    def wrote(self, connection: Connection) -> None:
        if connection is self._turning:
            return
        if not self._flushes:
            self._flush_soon()
        self._dirty[connection] = None

    def _flush_soon(self) -> None:
        self._flushes += 1
        self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushes -= 1
        dirty, self._dirty = self._dirty, {}
        for connection in dirty:
            self._turn(connection, 0)

    def _time_changed(self) -> None:
        self._set_timer()

    def turn_soon(self, call: StreamCall) -> None:
        self._due.append(call)
        with suppress(RuntimeError):  # the loop was closed: no task waits any more
            self._loop.call_soon_threadsafe(self._send_due)

    def look_at(self, connection: Connection) -> None:
        self._loop.call_soon(self._look_at, connection)

    # Watching

    def _open(self, stream: Stream) -> None:
        super()._open(stream)
        self._set_timer()

    def _accept(self, listener: Listener) -> None:
        super()._accept(listener)
        self._set_timer()

    def _watch(self, connection: Connection) -> None:
        before = connection.watched or 0
        mask = connection.watched = connection.wanted()
        if mask == before:
            return
        loop, descriptor = self._loop, connection.fileno
        for bit, add, remove in (
            (READ, loop.add_reader, loop.remove_reader),
            (WRITE, loop.add_writer, loop.remove_writer),
        ):
            if mask & bit and not before & bit:
                add(descriptor, self._turn, connection, bit)
            elif before & bit and not mask & bit:
                remove(descriptor)

    def _forget(self, connection: Connection) -> None:
        self._dirty.pop(connection, None)
        with suppress(RuntimeError):  # the loop was closed
            self._loop.remove_reader(connection.fileno)
            self._loop.remove_writer(connection.fileno)

    def _watch_listener(self, listener: Listener, *, accept: bool) -> None:
        if accept:
            self._loop.add_reader(listener.fileno, self._accept, listener)
        else:
            with suppress(RuntimeError):  # the loop was closed
                self._loop.remove_reader(listener.fileno)

    # Time

    def _expire_at(self, when: float) -> None:
        when = max(when, self._expiry_from)
        if when >= self._expiry:
            return
        self._expiry = when
        if self._expiry_timer is not None:
            self._expiry_timer.cancel()
        self._expiry_timer = self._loop.call_later(max(when - monotonic(), 0.0), self._expire)

    def _expire(self) -> None:
        """Running handlers whose callers wait no more are asked to stop. Calls that have not started are
        refused when they would, and those with streams have timers of their own."""
        self._expiry_timer = None
        self._expiry = _FOREVER
        now = monotonic()
        calls = [call for call in self._tasks if not isinstance(call, StreamCall)]
        for call in calls:
            if call.deadline <= now and call.state is ServerCallState.RUNNING:
                expire(call)
        self._expiry_from = now + _EXPIRY_PACE * len(calls)
        self._expire_at(min((call.deadline for call in calls if call.deadline > now), default=_FOREVER))

    def _set_timer(self) -> None:
        """Sets one timer if anything has a time limit."""
        timeout = self._timeout()
        if self._timer is not None:
            if timeout is not None and self._timer.when() <= self._loop.time() + timeout:
                return
            self._timer.cancel()
            self._timer = None
        if timeout is not None:
            self._timer = self._loop.call_later(timeout, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = monotonic()
        self._watch_time(now)
        ended: Any = self._drained_at_last
        if ended is not None and self._drained(now):
            if not ended.done():
                ended.set_result(None)
            return
        self._set_timer()
