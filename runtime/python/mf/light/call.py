"""R5. One light call: its deadline, its metadata and its end; what `mf.current_call()` gives to its handler.

A deadline is the smaller one of what the caller says and what is left to the handler that calls, if any.
It holds before the handler starts, and lets the caller go where the handler is awaited. A plain handler runs
on its caller's thread, and cannot be stopped there: it sees the deadline by `mf.current_call()`.
"""

from collections.abc import Coroutine, Mapping
from itertools import count
from threading import RLock
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from mf.core.agent_names import shown_agent
from mf.core.current import NO_METADATA, CurrentCall, current, enter, leave
from mf.core.error import Code, Error, HandlerFailed, not_executed
from mf.core.identity import NO_IDENTITY, Identity
from mf.core.log import log_failure
from mf.core.metadata import passed_on
from mf.core.options import DEFAULT_DEADLINE, INFINITE, CallOptions, check_options
from mf.core.outcome import Failure, failure_of
from mf.core.peers import own_identity
from mf.core.service import Method, ServiceInfo
from mf.core.stream import stream_is_idle
from mf.protocol.metadata import pack_metadata

if TYPE_CHECKING:
    from asyncio import Task

T = TypeVar("T")

_FOREVER = 1e9
"""Seconds beyond which no timer is needed."""

_ids = count(1)
_stopping = RLock()  # for a moment, of any call; a finalizer may need it anywhere


class LightCall(CurrentCall):
    """See above. Raises Error, NOT_EXECUTED, where it is made if the caller's own time is over, or for
    metadata that may not go. `keys`: the user's that go on from the call of the calling handler.
    """

    __slots__ = (
        "_id",
        "_metadata",
        "_options",
        "_reply",
        "agent",
        "called",
        "deadline",
        "given_up",
        "limit",
        "service_info",
        "stopped",
    )

    agent: str
    called: Method[Any, Any]
    deadline: float
    given_up: bool
    limit: float
    """The end of a wait for a value of the call's stream."""
    service_info: ServiceInfo
    stopped: Error | None
    """What the call was ended with while its handler ran: by its caller, or as its time was up."""

    def __init__(
        self,
        service: ServiceInfo,
        agent: str,
        method: Method[Any, Any],
        options: CallOptions | None,
        keys: tuple[str, ...] = (),
    ) -> None:
        self.service_info = service
        self.called = method
        self._options = options
        self._metadata = NO_METADATA
        self._reply: dict[str, str] | None = None
        self.stopped = None
        self._id = 0
        self.agent = shown_agent(service, agent)
        self.given_up = False
        check_options(options)
        seconds = options.deadline if options is not None else None
        if seconds is not None and seconds <= 0:
            raise not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the handler started")
        now = monotonic()
        self.deadline = now + (seconds or method.deadline or DEFAULT_DEADLINE)
        outer = current.get()
        if outer is not None:
            self._nest(outer, now)
        if outer is not None or options is not None:
            self._take_metadata(outer, options, keys)

    def _nest(self, outer: CurrentCall, now: float) -> None:
        if outer.cancelled and outer.deadline > now:
            raise not_executed(Code.CANCELLED, "the call that the calling handler serves was given up")
        if outer.deadline < self.deadline:
            self.deadline = outer.deadline
        if self.deadline <= now:
            raise not_executed(Code.DEADLINE_EXCEEDED, "the deadline passed before the handler started")

    def _take_metadata(
        self, outer: CurrentCall | None, options: CallOptions | None, keys: tuple[str, ...]
    ) -> None:
        entries = passed_on(outer.metadata, keys) if outer is not None else {}
        if options is not None and options.metadata:
            entries = {**entries, **options.metadata}
        if entries:
            pack_metadata(entries)  # raises what a connection's client would
            self._metadata = MappingProxyType(entries)

    @property
    def identity(self) -> Identity:
        return own_identity()

    @property
    def service(self) -> str:
        return self.service_info.name

    @property
    def method(self) -> str:
        return self.called.name

    @property
    def peer(self) -> str:
        return "light:"

    @property
    def request_id(self) -> int:
        """Of this process; given out when it is first asked for."""
        if not self._id:
            self._id = next(_ids)
        return self._id

    @property
    def cancelled(self) -> bool:
        return self.given_up or self.deadline <= monotonic()

    @property
    def metadata(self) -> Mapping[str, str]:
        return self._metadata

    def set_reply_metadata(self, key: str, value: str) -> None:
        reply = {**(self._reply or {}), key: value}
        pack_metadata(reply)
        self._reply = reply

    def give_metadata(self) -> None:
        """What the handler has set goes to the caller, if he wants it."""
        options = self._options
        if self._reply and options is not None and options.reply_metadata is not None:
            options.reply_metadata.update(self._reply)

    def failure(self, raised: BaseException) -> Failure:
        """The caller's failure for what the handler raised."""
        failure = failure_of(raised, self.called.error_types)
        if isinstance(failure, HandlerFailed):
            log_failure(failure, self, NO_IDENTITY)
        return failure

    def ended(self, raised: BaseException) -> None:
        """Raises the caller's failure, unless the method is one-way."""
        failure = self.failure(raised)
        if self.called.oneway:
            return
        if failure is raised:
            raise failure
        raise failure from raised

    def stop(self, failure: Error) -> Error:
        """Ends the call while its handler runs. Returns what it has ended with: the first that was said."""
        with _stopping:
            if self.stopped is None:
                self.stopped = failure
            self.given_up = True
            return self.stopped

    def cancel(self) -> Error:
        return self.stop(Error(Code.CANCELLED, "cancelled by the caller"))

    def late(self) -> Error:
        """Ends a call whose deadline passes while its handler runs."""
        return self.stop(Error(Code.DEADLINE_EXCEEDED, "the deadline passed while the handler ran"))

    def wait_limit(self) -> float:
        """The end of a wait for the other side of a stream that begins now."""
        options = self._options
        if options is None or options.idle == INFINITE:
            return self.deadline
        return min(self.deadline, monotonic() + options.idle)

    def out_of_time(self) -> Error:
        """Ends a call whose stream was waited for until then."""
        idle = INFINITE if self._options is None else self._options.idle
        if idle == INFINITE or self.deadline <= monotonic():
            return self.late()
        return self.stop(stream_is_idle(idle))

    def failure_with(self, raised: BaseException) -> Failure:
        """The same as `failure`, where the call may have been stopped."""
        return self.stopped or self.failure(raised)


async def to_end(call: LightCall, coroutine: Coroutine[Any, Any, T]) -> tuple[BaseException | None, T | None]:
    """What an `async def` handler raised, or its result. It is a task of its own, and is waited for at most
    until the deadline, or until the waiting task is cancelled, whatever the handler does about its
    CancelledError.
    """
    import asyncio

    token = enter(call)
    task = asyncio.get_running_loop().create_task(coroutine)
    leave(token)
    left = call.deadline - monotonic()
    try:
        await asyncio.wait((task,), timeout=left if left < _FOREVER else None)
    except asyncio.CancelledError:
        call.given_up = True
        _give_up(task)
        raise
    if not task.done():
        _give_up(task)
        raise call.late()
    if task.cancelled():
        return asyncio.CancelledError(), None  # of what the handler awaited: this call was not cancelled
    raised = task.exception()
    return raised, None if raised is not None else task.result()


def _give_up(task: "Task[Any]") -> None:
    task.cancel()
    task.add_done_callback(_forget)


def _forget(task: "Task[Any]") -> None:
    """What a handler raises that was given up is dropped."""
    if not task.cancelled():
        task.exception()


def run_to_end(call: LightCall, coroutine: Coroutine[Any, Any, T]) -> tuple[BaseException | None, T | None]:
    """The same for a blocking call: on a loop of its own, for this call."""
    import asyncio

    return asyncio.run(to_end(call, coroutine))
