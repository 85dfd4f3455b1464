"""R4. The links of replicated messages over real streams: who opens one, and how messages lie in it.

One loop of asyncio. A link is opened anew for as long as it is wanted, at most once a second. What is sent
while it is down, or faster than the other side takes it, is dropped: the machines repeat what matters.
"""

from asyncio import Event, Task, get_running_loop, sleep, wait
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from random import Random
from typing import Any

from mf.core.error import MfError
from mf.core.options import INFINITE, CallOptions
from mf.core.stream import AsyncDuplexStream
from mf.core.target import AsyncTarget
from mf.replicated._generated.mf import replication as wire
from mf.replicated._generated.mf.replication._methods import REPLICA_LINK
from mf.replicated.messages import Message

MOST_QUEUED = 65_536
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_jitter = Random()

_WRAPPERS: dict[type[Any], Callable[[Any], wire.Message]] = {
    wire.Ask: wire.MessageAsk,
    wire.Submit: wire.MessageSubmit,
    wire.Tagged: wire.MessageTagged,
    wire.Direct: wire.MessageDirect,
    wire.Stamped: wire.MessageStamped,
    wire.Leading: wire.MessageLeading,
    wire.Given: wire.MessageGiven,
    wire.Ack: wire.MessageAck,
    wire.Refused: wire.MessageRefused,
    wire.Numbered: wire.MessageNumbered,
    wire.Prepare: wire.MessagePrepare,
    wire.Report: wire.MessageReport,
    wire.Pull: wire.MessagePull,
    wire.Sync: wire.MessageSync,
    wire.Restore: wire.MessageRestore,
    wire.Seal: wire.MessageSeal,
    wire.Sealed: wire.MessageSealed,
    wire.Recover: wire.MessageRecover,
    wire.Recovered: wire.MessageRecovered,
    wire.Part: wire.MessagePart,
    wire.Took: wire.MessageTook,
}


def wrapped(message: Message) -> wire.Message:
    """As it lies in a stream."""
    return _WRAPPERS[type(message)](message)


def group_agent(service: str, agent: str) -> str:
    """Behind which any replica of a group is, in the service mf.replication.Replica."""
    return f"{service}|{agent}|"


class OutgoingLink:
    """A link that this side opens. `opened`, `received` and `closed` are called on the loop."""

    def __init__(
        self,
        target: AsyncTarget,
        peer: wire.Peer,
        opened: Callable[[], None],
        received: Callable[[Message], None],
        closed: Callable[[], None],
    ) -> None:
        self._target = target
        self._peer = peer
        self._opened = opened
        self._received = received
        self._closed = closed
        self._queue: deque[Message] = deque()
        self._more = Event()
        self._pause = _FIRST_PAUSE
        self.is_up = False
        # In a context of its own: it belongs to no call.
        self._task: Task[None] = get_running_loop().create_task(self._run(), context=Context())

    def send(self, message: Message) -> None:
        if self.is_up and len(self._queue) < MOST_QUEUED:
            self._queue.append(message)
            self._more.set()

    async def close(self) -> None:
        self._task.cancel()
        await wait((self._task,))

    async def _run(self) -> None:
        while True:
            stream = self._target.duplex_stream(REPLICA_LINK, CallOptions(deadline=INFINITE), self._peer)
            with suppress(MfError):
                async with stream:
                    await self._hold(stream)
            await sleep(self._pause * _jitter.uniform(0.5, 1.0))
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    async def _hold(self, stream: AsyncDuplexStream[Any, Any]) -> None:
        await stream.flush()  # raises if there was no route: it is up when its request is on its way
        self._pause = _FIRST_PAUSE
        self._queue.clear()
        self.is_up = True
        writer = get_running_loop().create_task(self._write(stream))
        try:
            self._opened()
            async for message in stream:
                self._received(message.value)
        finally:
            self.is_up = False
            self._closed()
            writer.cancel()
            await wait((writer,))  # which a cancellation of this task interrupts, but does not get lost in
            if not writer.cancelled():
                writer.exception()  # that of the stream, which the reading has met, too

    async def _write(self, stream: AsyncDuplexStream[Any, Any]) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            while self._queue:
                await stream.write(wrapped(self._queue.popleft()))
            await stream.flush()
