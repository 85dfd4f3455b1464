"""The links of replicated messages: when they are opened again, and how a fault within one is handled. The
time and the pauses are simulated."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest

from mf.client import standing
from mf.core.error import Code, Error, Execution
from mf.replicated._generated.mf import replication as wire
from mf.replicated.links import OutgoingLink
from mf.replicated.messages import Leading, Message, Recover

ATTEMPTS = 10


class Clock:
    """Virtual seconds, which pass only while a link lasts and between two links."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.pauses: list[float] = []
        monkeypatch.setattr(standing, "monotonic", lambda: self.now)
        monkeypatch.setattr(standing, "sleep", self.sleep)
        monkeypatch.setattr("mf.core.backoff.JITTER", Full())

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        if len(self.pauses) == ATTEMPTS:
            await asyncio.Event().wait()


class Full:
    """Replaces the random numbers: each pause is as long as it may be."""

    def random(self) -> float:
        return 1.0


class Stream:
    """One link to a peer that behaves as `act` does."""

    def __init__(self, act: Callable[[], AsyncIterator[wire.Message]]) -> None:
        self.written: list[Any] = []
        self._messages = act()

    async def flush(self) -> None:
        pass

    async def write(self, message: wire.Message) -> bool:
        self.written.append(message.value)
        if isinstance(message.value, Leading):
            raise Error(Code.MESSAGE_TOO_LARGE, "too large", Execution.NOT_EXECUTED)
        return True

    def __aiter__(self) -> AsyncIterator[wire.Message]:
        return self._messages

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class Peer:
    """The target of the link."""

    def __init__(self, act: Callable[[], AsyncIterator[wire.Message]]) -> None:
        self.streams: list[Stream] = []
        self._act = act

    def duplex_stream(self, *_: object) -> Stream:
        self.streams.append(Stream(self._act))
        return self.streams[-1]


def run(
    clock: Clock,
    peer: Any,
    *,
    opened: Callable[[], None] = lambda: None,
    closed: Callable[[], None] = lambda: None,
) -> None:
    """Waits until the link has been opened so many times."""

    def received(_: Message) -> None:
        pass

    async def hold() -> None:
        link = OutgoingLink(peer, wire.Peer(client=UUID(int=1)), opened, received, closed)
        while len(clock.pauses) < ATTEMPTS:
            await asyncio.sleep(0)
        await link.close()

    asyncio.run(hold())


async def ends_at_once() -> AsyncIterator[wire.Message]:
    for _ in ():
        yield wire.MessageRecover(Recover(UUID(int=1)))


def test_a_link_that_its_peer_ends_at_once_is_reopened_after_growing_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    run(clock, Peer(ends_at_once))

    assert clock.pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_a_link_that_has_lasted_is_opened_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    count = 0

    async def lasts_the_fifth_time() -> AsyncIterator[wire.Message]:
        nonlocal count
        count += 1
        clock.now += 1.0 if count == 5 else 0.9
        async for each in ends_at_once():
            yield each

    run(clock, Peer(lasts_the_fifth_time))

    assert clock.pauses[:7] == [0.05, 0.1, 0.2, 0.4, 0.05, 0.1, 0.2]


def test_a_bug_within_a_link_is_logged_and_the_link_is_opened_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(monkeypatch)

    def bug() -> None:
        raise RuntimeError("a bug")

    with caplog.at_level(logging.ERROR, "mf"):
        run(clock, Peer(ends_at_once), closed=bug)

    assert len(caplog.messages) == ATTEMPTS
    assert caplog.messages[0] == "a link of a replicated group is opened again: 'RuntimeError: a bug'"


def test_a_bug_in_writing_ends_the_link_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(monkeypatch)
    made: list[OutgoingLink] = []

    async def never_ends() -> AsyncIterator[wire.Message]:
        made[0].send("no message")  # type: ignore[arg-type]
        await asyncio.Event().wait()
        async for each in ends_at_once():
            yield each

    async def hold() -> None:
        peer: Any = Peer(never_ends)
        nothing: Callable[..., None] = lambda *_: None  # noqa: E731
        made.append(OutgoingLink(peer, wire.Peer(client=UUID(int=1)), nothing, nothing, nothing))
        while len(clock.pauses) < ATTEMPTS:
            await asyncio.sleep(0)
        await made[0].close()

    with caplog.at_level(logging.ERROR, "mf"):
        asyncio.run(hold())

    assert len(caplog.messages) == ATTEMPTS
    assert "KeyError" in caplog.messages[0]


def test_a_message_that_is_too_large_is_left_out_and_the_link_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Clock(monkeypatch)
    recover = Recover(UUID(int=1))

    async def never_ends() -> AsyncIterator[wire.Message]:
        await asyncio.Event().wait()
        async for each in ends_at_once():
            yield each

    async def hold() -> list[Stream]:
        peer: Any = Peer(never_ends)
        nothing: Callable[..., None] = lambda *_: None  # noqa: E731
        link = OutgoingLink(peer, wire.Peer(client=UUID(int=1)), nothing, nothing, nothing)
        while not link.is_up:
            await asyncio.sleep(0)
        link.send(Leading(1, "a"))
        link.send(recover)
        while len(peer.streams[0].written) < 2:
            await asyncio.sleep(0)
        await link.close()
        streams: list[Stream] = peer.streams
        return streams

    [stream] = asyncio.run(hold())

    assert stream.written == [Leading(1, "a"), recover]
