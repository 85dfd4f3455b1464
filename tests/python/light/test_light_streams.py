"""Streams in light: blocking and awaiting callers with plain and async handlers, in all combinations."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

import mf
from mf.core.error import Code, Execution
from tests.python.flow import AnyFlowServant, FlowAsyncClient, Wrong
from tests.python.flowing import Awaiting, Flow, Plain, all_of


@pytest.fixture(params=[Plain, Awaiting], ids=["plain", "async"])
def servant(request: pytest.FixtureRequest) -> AnyFlowServant:
    made: AnyFlowServant = request.param()
    return made


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def flow(request: pytest.FixtureRequest, servant: AnyFlowServant) -> Flow:
    return Flow(servant, awaits=request.param)


def test_values_come_in_order(flow: Flow) -> None:
    assert flow.count(1000) == list(range(1, 1001))
    assert flow.count(0) == []


def test_values_are_given_one_by_one_and_the_result_comes_back(flow: Flow) -> None:
    assert flow.total(range(1, 101)) == 10 + 5050
    assert flow.total([]) == 10


def test_both_directions_at_once(flow: Flow) -> None:
    assert flow.shout(["a", "b", "c"]) == ["A", "B", "C"]
    assert flow.shout([]) == []


def test_metadata_go_both_ways(flow: Flow, servant: AnyFlowServant) -> None:
    reply: dict[str, str] = {}

    flow.count(2, mf.CallOptions(metadata={"tenant": "x"}, reply_metadata=reply))

    assert servant.seen == [{"tenant": "x"}, False]
    assert list(reply) == ["how"]
    with pytest.raises(mf.Error, match="INVALID_ARGUMENT: a key of metadata has"):
        flow.count(2, mf.CallOptions(metadata={"Tenant": "x"}))


def test_a_declared_error_is_raised_behind_the_values(servant: AnyFlowServant) -> None:
    reader = Flow(servant, awaits=False).client.broken(3)

    assert [next(reader), next(reader), next(reader)] == [0, 1, 2]
    with pytest.raises(Wrong) as raised:
        next(reader)
    assert raised.value.at == 3
    with pytest.raises(Wrong):
        next(reader)


def test_a_declared_error_is_raised_to_who_awaits(servant: AnyFlowServant) -> None:
    with pytest.raises(Wrong):
        Flow(servant, awaits=True).broken(3)


def test_a_failed_handler_says_so_in_every_way(
    flow: Flow, servant: AnyFlowServant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails_async(*_: object) -> int:
        raise TypeError("mine")

    def fails(*_: object) -> int:
        raise TypeError("mine")

    monkeypatch.setattr(servant, "total", fails_async if isinstance(servant, Awaiting) else fails)
    with pytest.raises(mf.Error, match="HANDLER_FAILED: TypeError") as raised:
        flow.total([1])
    assert raised.value.execution is Execution.UNKNOWN


def test_a_failure_of_the_callers_values_is_his_own(flow: Flow) -> None:
    def values() -> Iterator[int]:
        yield 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        flow.total(values())


@pytest.mark.parametrize("kind", [Plain, Awaiting])
def test_an_async_iterable_feeds_handlers_of_both_kinds(kind: type[AnyFlowServant]) -> None:
    async def values() -> AsyncIterator[int]:
        for value in (1, 2, 3):
            await asyncio.sleep(0)
            yield value

    assert Flow(kind(), awaits=True).total(values()) == 16


def test_who_leaves_a_reader_early_ends_the_handler(servant: AnyFlowServant) -> None:
    with Flow(servant, awaits=False).client.count(10) as reader:
        assert next(reader) == 1
    assert servant.seen[1:] == [True]
    with pytest.raises(mf.Error, match="CANCELLED: cancelled by the caller"):
        next(reader)

    async def run(client: FlowAsyncClient) -> None:
        async with client.count(10) as awaited:
            assert await anext(awaited) == 1

    Flow(servant, awaits=True).awaited(run)
    assert servant.seen[3:] == [True]


def test_a_stream_ends_at_its_deadline(flow: Flow, servant: AnyFlowServant) -> None:
    hold = threading.Event()

    def forever() -> Iterator[int]:
        while not hold.wait(0.001):
            yield 1

    with pytest.raises(mf.Error) as raised:
        flow.total(forever(), mf.CallOptions(deadline=0.05))
    assert (raised.value.code, raised.value.execution) == (Code.DEADLINE_EXCEEDED, Execution.UNKNOWN)

    with pytest.raises(mf.Error) as raised:
        flow.count((1 << 32) - 1, mf.CallOptions(deadline=0.05))
    assert raised.value.code is Code.DEADLINE_EXCEEDED
    assert servant.seen[1:] == [True]


def test_a_cancelled_task_ends_its_stream() -> None:
    """The handler runs in that task, and gets its CancelledError."""
    ended: list[type[BaseException]] = []

    class Cancelled(Awaiting):
        async def count(self, to: int) -> AsyncIterator[int]:
            try:
                async for number in super().count(to):
                    yield number
            except BaseException as raised:
                ended.append(type(raised))
                raise

    servant = Cancelled()

    async def run(client: FlowAsyncClient) -> None:
        reader = client.count((1 << 32) - 1)
        task = asyncio.create_task(all_of(reader))
        while not servant.seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(mf.Error, match="CANCELLED"):
            await anext(reader)

    Flow(servant, awaits=True).awaited(run)
    assert ended == [asyncio.CancelledError]


def test_one_thread_writes_while_another_reads(servant: AnyFlowServant) -> None:
    words = [f"word {number}" for number in range(1000)]  # more than the queue holds
    stream = Flow(servant, awaits=False).client.shout()

    def write() -> None:
        for word in words:
            stream.write(word)
        stream.done_writing()

    writer = threading.Thread(target=write)
    writer.start()
    got = list(stream)
    writer.join()

    assert got == [word.upper() for word in words]


def test_one_task_writes_while_another_reads(servant: AnyFlowServant) -> None:
    words = [f"word {number}" for number in range(300)]

    async def run(client: FlowAsyncClient) -> list[str]:
        async with client.shout() as stream:

            async def write() -> None:
                for word in words:
                    await stream.write(word)
                await stream.done_writing()

            task = asyncio.create_task(write())
            got = await all_of(stream)
            await task
            return got

    assert Flow(servant, awaits=True).awaited(run) == [word.upper() for word in words]


def test_who_writes_more_than_waits_in_between_is_let_go_at_the_deadline(servant: AnyFlowServant) -> None:
    stream = Flow(servant, awaits=False).client.shout(options=mf.CallOptions(deadline=0.05))

    for _ in range(64):
        stream.write("x")
    with pytest.raises(mf.Error, match="DEADLINE_EXCEEDED"):
        stream.write("x")


def test_context_passes_on_into_nested_calls_as_far_as_it_may() -> None:
    inner = Plain()

    class Outer(Plain):
        def total(self, start: int, values: Iterator[int]) -> int:
            nested = Flow(inner, awaits=False, forward_metadata=("tenant",))
            return start + sum(nested.count(sum(values)))

    given = {"traceparent": "00-1", "tenant": "x", "secret": "y", "authorization": "z"}
    total = Flow(Outer(), awaits=False).total([1, 2], mf.CallOptions(metadata=given))

    assert total == 10 + 6
    assert inner.seen[0] == {"traceparent": "00-1", "tenant": "x"}
