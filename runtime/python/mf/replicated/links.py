"""R6. The links of replicated messages over real streams: which side opens one, and the form of messages.

All links share one asyncio loop. A link is reopened for as long as it is wanted. The pauses before that grow
to a second while no link lasts that long, so that a peer that accepts each link and ends it at once is not
tried more often than one that does not answer. Messages that are sent while a link is down, or faster than
the peer takes them, are dropped: the machines repeat what is needed.
"""

from asyncio import Event, wait
from collections import deque
from collections.abc import Callable
from typing import Any

from mf.client.standing import StandingCall, side_by_side
from mf.core import log
from mf.core.error import Code, Error, MfError
from mf.core.options import INFINITE, CallOptions
from mf.core.stream import AsyncDuplexStream
from mf.core.target import AsyncTarget
from mf.link.background import spawn
from mf.replicated._generated.mf import replication as wire
from mf.replicated._generated.mf.replication._methods import REPLICA_LINK
from mf.replicated.messages import Message

MOST_QUEUED = 65_536
_LONGEST_PAUSE = 1.0
_WITHOUT_END = CallOptions(deadline=INFINITE)

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
    """As it is written in a stream."""
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
        self._standing = StandingCall(longest=_LONGEST_PAUSE, steady=_LONGEST_PAUSE)
        self.is_up = False
        self._task = spawn(self._standing.keep(self._session, self._goes_on))

    def send(self, message: Message) -> None:
        if self.is_up and len(self._queue) < MOST_QUEUED:
            self._queue.append(message)
            self._more.set()

    async def close(self) -> None:
        self._task.cancel()
        await wait((self._task,))

    async def _session(self) -> None:
        async with self._target.duplex_stream(REPLICA_LINK, _WITHOUT_END, self._peer) as stream:
            await stream.flush()  # raises if there was no route: it is up when its request is on its way
            self._standing.answered()
            self._queue.clear()
            self.is_up = True
            try:
                self._opened()
                await side_by_side(self._read(stream), self._write(stream))
            finally:
                self.is_up = False
                self._closed()

    def _goes_on(self, ended: Exception | None) -> bool:
        """Also if the peer is not reachable, or has ended the link."""
        if ended is not None and not isinstance(ended, MfError):
            what = log.quote(f"{type(ended).__name__}: {ended}")
            log.error("a link of a replicated group is opened again: %s", what, exc_info=ended)
        return True

    async def _read(self, stream: AsyncDuplexStream[Any, Any]) -> None:
        async for message in stream:
            self._received(message.value)

    async def _write(self, stream: AsyncDuplexStream[Any, Any]) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            while self._queue:
                try:
                    await stream.write(wrapped(self._queue.popleft()))
                except Error as failed:
                    if failed.code is not Code.MESSAGE_TOO_LARGE:
                        raise
            await stream.flush()
