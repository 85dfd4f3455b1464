"""Streams end to end: a client and a server of this runtime, over a connection."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest

import mf
from tests.python.conftest import eventually
from tests.python.flow import LAST_VALUE, WRONG_VALUE, FlowAsyncClient, FlowClient, FlowServant, Wrong

T = TypeVar("T")


class Flowing:
    def __init__(self) -> None:
        self.servant = FlowServant()
        self.server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0))
        self.server.offer(self.servant)
        self.server.start()
        self.client = mf.Client(self.server.address)
        self.flow = FlowClient(self.client)
        self.watched: list[mf.Client | mf.AsyncClient] = [self.client]

    def awaited(self, do: Callable[[FlowAsyncClient], Awaitable[T]]) -> T:
        """Also checks that no call of the client is left."""

        async def main() -> T:
            async with mf.AsyncClient(self.server.address) as client:
                self.watched.append(client)
                try:
                    return await do(FlowAsyncClient(client))
                finally:
                    await asyncio.sleep(0)
                    assert self.open_calls == 0

        return asyncio.run(main())

    @property
    def open_calls(self) -> int:
        pools = [client._pool for client in self.watched]
        places = [place for pool in pools if pool is not None for place in pool._places.values()]
        return sum(place.link.in_flight for place in places if place.link)


@pytest.fixture
def flowing() -> Iterator[Flowing]:
    one = Flowing()
    yield one
    one.client.close()
    one.server.stop()


MANY = 200_000


def test_values_are_read_in_order_to_the_end(flowing: Flowing) -> None:
    assert list(flowing.flow.count(MANY)) == list(range(1, MANY + 1))
    assert list(flowing.flow.count(0)) == []
    assert flowing.open_calls == 0


def test_a_value_may_span_frames(flowing: Flowing) -> None:
    chunks = list(flowing.flow.chunks(300_000, 5))

    assert chunks == [bytes([index]) * 300_000 for index in range(5)]


@pytest.mark.parametrize("kind", [list, iter])
def test_values_are_written_and_the_result_comes_back(flowing: Flowing, kind: type) -> None:
    number = MANY if kind is list else 2000
    assert flowing.flow.total(5, kind(range(number))) == 5 + sum(range(number))
    assert flowing.flow.total(7, []) == 7


def test_both_directions_at_once(flowing: Flowing) -> None:
    with flowing.flow.shout() as stream:
        for word in ("a", "bc", "é" * 50_000):
            stream.write(word)
            assert next(stream) == word.upper()
        stream.done_writing()
        assert list(stream) == []


def test_one_thread_may_write_while_another_reads(flowing: Flowing) -> None:
    words = [f"word {number} " * 20 for number in range(3000)]
    stream = flowing.flow.shout()

    def write() -> None:
        for word in words:
            stream.write(word)
        stream.done_writing()

    writer = threading.Thread(target=write)
    writer.start()
    got = list(stream)
    writer.join()

    assert got == [word.upper() for word in words]


def test_declared_errors_come_behind_the_values_before_them(flowing: Flowing) -> None:
    reader = flowing.flow.broken(3)
    got: list[int] = []
    with pytest.raises(Wrong) as failed:
        keep_all(reader, got)

    assert got == [0, 1, 2]
    assert failed.value.at == 3
    with pytest.raises(Wrong):
        next(reader)


def keep_all(values: Iterator[int], got: list[int]) -> None:
    for value in values:
        got.append(value)


def test_a_handler_may_answer_before_it_has_read_everything(flowing: Flowing) -> None:
    endless = iter(int, 1)

    assert flowing.flow.total(5, chain_of(LAST_VALUE, endless)) == 5
    with pytest.raises(Wrong):
        flowing.flow.total(5, chain_of(WRONG_VALUE, endless))


def chain_of(first: int, rest: Iterator[int]) -> Iterator[int]:
    yield first
    yield from rest


@pytest.mark.parametrize("how", ["drop", "with", "cancel"])
def test_a_reader_that_is_not_read_to_its_end_cancels_the_call(flowing: Flowing, how: str) -> None:
    reader = flowing.flow.count(1_000_000_000)
    assert next(reader) == 1

    if how == "drop":
        del reader
        gc.collect()
    elif how == "with":
        with reader:
            pass
    else:
        reader.cancel()
        reader.cancel()
        with pytest.raises(mf.Error) as failed:
            next(reader)
        assert failed.value.code == mf.Code.CANCELLED

    assert flowing.open_calls == 0
    assert eventually(lambda: flowing.servant.seen == ["count was closed"])
    assert list(flowing.flow.count(3)) == [1, 2, 3]


def test_an_exception_of_the_values_cancels_the_call_and_goes_up(flowing: Flowing) -> None:
    def values() -> Iterator[int]:
        yield 1
        raise KeyError("mine")

    with pytest.raises(KeyError):
        flowing.flow.total(0, values())

    assert flowing.open_calls == 0


def test_a_stream_ends_at_its_deadline(flowing: Flowing) -> None:
    assert list(flowing.flow.count(1)) == [1]  # connected
    stream = flowing.flow.shout(options=mf.CallOptions(deadline=1.5))
    stream.write("a")
    assert next(stream) == "A"

    with pytest.raises(mf.Error) as failed:
        next(stream)

    assert failed.value.code == mf.Code.DEADLINE_EXCEEDED
    assert flowing.open_calls == 0


def test_a_stream_ends_when_it_is_idle_for_too_long(flowing: Flowing) -> None:
    stream = flowing.flow.shout(options=mf.CallOptions(idle=0.1))
    for _ in range(3):
        stream.write("a")
        assert next(stream) == "A"
        time.sleep(0.15)  # the reader's own time, which does not count

    with pytest.raises(mf.Error, match=r"no value and no credit came for 0\.1 s"):
        next(stream)


def test_a_closed_client_ends_streams_behind_what_has_come(flowing: Flowing) -> None:
    reader = flowing.flow.count(1_000_000_000)
    assert next(reader) == 1
    flowing.client.close()

    with pytest.raises(mf.Error) as failed:
        for _ in reader:
            pass

    assert failed.value.code == mf.Code.CANCELLED


def test_values_before_a_failure_can_be_read_after_a_write_has_raised_it(flowing: Flowing) -> None:
    def last_value_that_is_read() -> str:
        with mf.Client(flowing.server.address) as client:
            stream = FlowClient(client).shout()
            for word in "abc":
                stream.write(word)
            got = [next(stream)]
            client.close()
            with pytest.raises(mf.Error, match="CANCELLED"):
                stream.write("d")
            for _ in range(2):
                with pytest.raises(mf.Error, match="CANCELLED"):
                    got.extend(stream)
        assert got == list("ABC")[: len(got)]
        return got[-1]

    # The last value may not have arrived yet when the client is closed.
    eventually(lambda: last_value_that_is_read() == "C")


def test_values_that_another_thread_reads_with_the_end_are_not_lost(
    flowing: Flowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = flowing.flow.count(3)
    inner: Any = stream._stream  # type: ignore[attr-defined]
    take = type(inner).take
    looked: list[bool] = []

    def take_too_early(of: Any) -> bool:
        if looked:
            return bool(take(of))
        looked.append(True)
        while not of.call.done:  # this thread's other calls read what comes, as another thread may
            assert list(flowing.flow.count(0)) == []
        return False

    monkeypatch.setattr(type(inner), "take", take_too_early)

    assert list(stream) == [1, 2, 3]


def test_many_streams_and_calls_share_a_connection(flowing: Flowing) -> None:
    readers = [flowing.flow.count(10_000) for _ in range(20)]
    rows = list(zip(*readers, strict=True))

    assert rows == [(number,) * 20 for number in range(1, 10_001)]


# Awaited


def test_values_are_awaited_in_order(flowing: Flowing) -> None:
    async def main(flow: FlowAsyncClient) -> list[int]:
        return [value async for value in flow.count(MANY)]

    assert flowing.awaited(main) == list(range(1, MANY + 1))


def test_values_are_written_from_a_generator_of_either_kind(flowing: Flowing) -> None:
    async def values() -> AsyncIterator[int]:
        for number in range(50_000):
            yield number
            if number % 10_000 == 0:
                await asyncio.sleep(0)

    async def main(flow: FlowAsyncClient) -> tuple[int, int]:
        return await flow.total(1, values()), await flow.total(2, range(50_000))

    total = sum(range(50_000))
    assert flowing.awaited(main) == (1 + total, 2 + total)


def test_what_is_written_leaves_within_a_turn_of_the_loop(flowing: Flowing) -> None:
    async def main(flow: FlowAsyncClient) -> list[str]:
        got = []
        async with flow.shout() as stream:
            for word in ("a", "bc", "é" * 50_000):
                await stream.write(word)
                got.append(await anext(stream))
            await stream.done_writing()
            assert [word async for word in stream] == []
        return got

    assert flowing.awaited(main) == ["A", "BC", "É" * 50_000]


def test_an_early_reply_ends_the_feeding_of_a_generator_that_sleeps(flowing: Flowing) -> None:
    async def values() -> AsyncIterator[int]:
        yield LAST_VALUE
        await asyncio.sleep(3600)

    async def main(flow: FlowAsyncClient) -> int:
        return await flow.total(5, values())

    assert flowing.awaited(main) == 5


@pytest.mark.parametrize("how", ["drop", "with", "cancel"])
def test_an_awaited_reader_that_is_not_read_to_its_end_cancels_the_call(flowing: Flowing, how: str) -> None:
    async def main(flow: FlowAsyncClient) -> list[int]:
        reader = flow.count(1_000_000_000)
        assert await anext(reader) == 1
        if how == "drop":
            del reader
            gc.collect()
        elif how == "with":
            async with reader:
                pass
        else:
            reader.cancel()
        async with asyncio.timeout(20):
            while flowing.servant.seen != ["count was closed"]:
                await asyncio.sleep(0.001)
        return [value async for value in flow.count(3)]

    assert flowing.awaited(main) == [1, 2, 3]


def test_an_awaited_stream_fails_as_its_call_does(flowing: Flowing) -> None:
    async def broken(flow: FlowAsyncClient) -> list[int]:
        got: list[int] = []
        reader = flow.broken(3)
        for _ in range(3):
            got.append(await anext(reader))
        with pytest.raises(Wrong):
            await anext(reader)
        return got

    async def raising(flow: FlowAsyncClient) -> None:
        async def values() -> AsyncIterator[int]:
            yield 1
            raise KeyError("mine")

        await flow.total(0, values())

    assert flowing.awaited(broken) == [0, 1, 2]
    with pytest.raises(KeyError):
        flowing.awaited(raising)
    assert flowing.open_calls == 0


def test_a_cancelled_task_cancels_its_stream(flowing: Flowing) -> None:
    async def main(flow: FlowAsyncClient) -> None:
        async def read() -> None:
            async with flow.shout() as stream:
                await anext(stream)

        async def write() -> None:
            async def values() -> AsyncIterator[int]:
                yield 1
                await asyncio.sleep(3600)

            await flow.total(0, values())

        tasks = [asyncio.create_task(read()), asyncio.create_task(write())]
        while flowing.open_calls < 2:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(end) for end in ended] == [asyncio.CancelledError] * 2

    flowing.awaited(main)
    assert flowing.open_calls == 0


def test_an_awaited_stream_ends_at_its_deadline_and_when_it_is_idle(flowing: Flowing) -> None:
    async def main(flow: FlowAsyncClient) -> list[mf.Error]:
        errors = []
        assert [value async for value in flow.count(1)] == [1]  # connected
        for options in (mf.CallOptions(deadline=0.1), mf.CallOptions(idle=0.1)):
            with pytest.raises(mf.Error) as failed:
                await anext(flow.shout(options=options))
            errors.append(failed.value)
        return errors

    late, idle = flowing.awaited(main)

    assert (late.code, idle.code) == (mf.Code.DEADLINE_EXCEEDED, mf.Code.DEADLINE_EXCEEDED)
    assert "no value" in idle.message
    assert flowing.open_calls == 0
