"""The results of `write`, over a connection and in light, blocking and awaited."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import mf
from mf.client.stream_base import ClientStream
from tests.python.flow import AnyFlowServant, FlowClient
from tests.python.flowing import Awaiting, Plain, opened
from tests.python.serving import server_of
from tests.python.streams import FLOW_SERVICE, LOAD, WithoutStreams

ENDED = "demo.Flow.shout: this side has ended its stream, so that nothing more can be written"
KINDS = (Plain, Awaiting)


class Places:
    """Opens clients of a servant, and closes them."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._open: list[Callable[[], object]] = []

    def at(self, servant: AnyFlowServant) -> str | mf.Light:
        """Returns the address where it is served."""
        if self._where == "light":
            light = mf.Light()
            light.offer(servant)
            return light
        server = server_of(servant, "tcp://127.0.0.1:0", drain_timeout=2.0)
        server.start()
        self._open.append(server.stop)
        return server.address

    def of(self, servant: AnyFlowServant) -> FlowClient:
        return self.client(self.at(servant))

    def client(self, place: str | mf.Light) -> FlowClient:
        client = mf.Client(place)
        self._open.append(client.close)
        return FlowClient(client)

    def close(self) -> None:
        while self._open:
            self._open.pop()()


@pytest.fixture(params=["tcp", "light"])
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    made = Places(request.param)
    yield made
    made.close()


def is_refused(failed: "pytest.ExceptionInfo[mf.Error]") -> bool:
    error = failed.value
    found = (error.code, error.message, error.execution)
    return found == (mf.Code.INVALID_ARGUMENT, ENDED, mf.Execution.NOT_EXECUTED)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_after_the_end_and_the_call_goes_on(
    places: Places, kind: type[AnyFlowServant]
) -> None:
    with places.of(kind()).shout() as both:
        assert both.write("a") is True
        both.done_writing()
        both.done_writing()
        both.flush()
        with pytest.raises(mf.Error) as failed:
            both.write("b")
        assert is_refused(failed)
        assert list(both) == ["A"]
        with pytest.raises(mf.Error) as failed:
            both.write("c")
        assert is_refused(failed)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_after_the_end_by_who_awaits(places: Places, kind: type[AnyFlowServant]) -> None:
    async def main() -> None:
        async with opened(places.at(kind())) as client, client.shout() as both:
            assert await both.write("a") is True
            await both.flush()
            await both.done_writing()
            await both.done_writing()
            await both.flush()
            with pytest.raises(mf.Error) as failed:
                await both.write("b")
            assert is_refused(failed)
            assert [value async for value in both] == ["A"]

    asyncio.run(main())


class Brief(Plain):
    """Reads one word."""

    def shout(self, words: Iterator[str]) -> Iterator[str]:
        yield next(words).upper()


class BriefAwaiting(Awaiting):
    async def shout(self, words: AsyncIterator[str]) -> AsyncIterator[str]:
        yield (await anext(words)).upper()


@pytest.mark.parametrize("kind", [Brief, BriefAwaiting])
def test_a_write_says_that_nobody_reads_any_more(places: Places, kind: type[AnyFlowServant]) -> None:
    place = places.at(kind())
    both = places.client(place).shout()
    assert both.write("a") is True
    assert list(both) == ["A"]
    assert both.write("b") is False

    async def main() -> None:
        async with opened(place) as client:
            both = client.shout()
            assert await both.write("a") is True
            assert [value async for value in both] == ["A"]
            assert await both.write("b") is False

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_raises_what_the_call_has_failed_with(places: Places, kind: type[AnyFlowServant]) -> None:
    place = places.at(kind())
    both = places.client(place).shout()
    both.write("a")
    both.cancel()
    with pytest.raises(mf.Error, match="CANCELLED: cancelled by the caller"):
        both.write("b")

    async def main() -> None:
        async with opened(place) as client:
            both = client.shout()
            await both.write("a")
            both.cancel()
            with pytest.raises(mf.Error, match="CANCELLED: cancelled by the caller"):
                await both.write("b")

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_the_wrong_type_is_refused_and_the_call_goes_on(
    places: Places, kind: type[AnyFlowServant]
) -> None:
    wrong: Any = 5
    with places.of(kind()).shout() as both:
        both.write("a")
        with pytest.raises(mf.Error, match="expected str") as failed:
            both.write(wrong)
        assert (failed.value.code, failed.value.execution) == (
            mf.Code.INVALID_ARGUMENT,
            mf.Execution.UNKNOWN,
        )
        both.done_writing()
        assert list(both) == ["A"]


@pytest.mark.parametrize("awaits", [False, True], ids=["blocking", "awaited"])
@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_wrong_types_and_ranges_are_refused(
    places: Places, kind: type[AnyFlowServant], awaits: bool
) -> None:
    servant = kind()
    place = places.at(servant)
    client = places.client(place)
    no_number: Any = "x"

    def total(start: Any, values: list[Any]) -> int:
        if awaits:

            async def main() -> int:
                async with opened(place) as client:
                    return await client.total(start, values)

            return asyncio.run(main())
        return client.total(start, values)

    for start, values, text in (
        (no_number, [], "expected u64, got 'x'"),
        (1 << 64, [], "does not fit in u64"),
        (1, [no_number], "expected u32, got 'x'"),
        (1, [1 << 32], "does not fit in u32"),
    ):
        with pytest.raises(mf.Error, match=text) as failed:
            total(start, values)
        assert failed.value.code is mf.Code.INVALID_ARGUMENT


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_on_which_nothing_comes_ends_when_it_is_idle(
    places: Places, kind: type[AnyFlowServant]
) -> None:
    idle = mf.CallOptions(deadline=mf.INFINITE, idle=0.05)
    place = places.at(kind())
    both = places.client(place).shout(options=idle)
    for _ in range(2):
        with pytest.raises(mf.Error, match=r"DEADLINE_EXCEEDED: no value and no credit came for 0\.05 s"):
            next(both)

    async def main() -> None:
        async with opened(place) as client:
            both = client.shout(options=idle)
            with pytest.raises(mf.Error, match=r"DEADLINE_EXCEEDED: no value and no credit came for 0\.05 s"):
                await anext(both)

    asyncio.run(main())


class Deaf(Plain):
    """Reads nothing until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def shout(self, words: Iterator[str]) -> Iterator[str]:
        self.go_on.wait(10)
        yield from words


def test_a_writer_that_finds_no_room_ends_when_it_is_idle(places: Places) -> None:
    servant = Deaf()
    both = places.of(servant).shout(options=mf.CallOptions(deadline=mf.INFINITE, idle=0.05))

    def write() -> None:
        while True:
            both.write("x" * 10_000)

    try:
        with pytest.raises(mf.Error, match=r"DEADLINE_EXCEEDED: no value and no credit came for 0\.05 s"):
            write()
        with pytest.raises(mf.Error, match="DEADLINE_EXCEEDED"):
            next(both)
    finally:
        servant.go_on.set()


def test_values_that_need_a_second_look_count_towards_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    class Load(WithoutStreams):
        def plain(self, x: int) -> int:
            return x

        def load(self, into: str, values: Iterator[bytes]) -> int:
            return sum(map(len, values)) if into == "x" else 0

    class Special(bytes):
        """What no quick way takes."""

    waiting: list[int] = []
    queue = ClientStream.queue_values

    def counted(self: Any) -> bool:
        waiting.append(sum(map(len, self.call.sending.values)))
        return queue(self)

    monkeypatch.setattr(ClientStream, "queue_values", counted)
    server = server_of(Load(), agent="a")
    server.start()
    with mf.Client(server.address) as client:
        flow = client.target(FLOW_SERVICE).at("a")
        assert flow.write_stream(LOAD, None, [bytes(60_000), Special(b"y")] * 30, "x") == 30 * 60_001
    server.stop()

    assert max(waiting) < 3 * 60_000
