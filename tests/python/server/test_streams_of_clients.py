"""Streams of this runtime's clients, blocking and awaited, with plain and async handlers."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

import mf
from mf.core.error import Code
from tests.python.conftest import eventually
from tests.python.flow import AnyFlowServant, FlowAsyncClient, Wrong
from tests.python.flowing import Awaiting, Flow, Plain, all_of
from tests.python.serving import server_of


@pytest.fixture(params=[Plain, Awaiting], ids=["plain", "async"])
def servant(request: pytest.FixtureRequest) -> AnyFlowServant:
    made: AnyFlowServant = request.param()
    return made


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def flow(request: pytest.FixtureRequest, servant: AnyFlowServant) -> Iterator[Flow]:
    with server_of(servant, drain_timeout=2.0) as server:
        flow = Flow(servant, awaits=request.param, where=server.address)
        yield flow
        flow.close()


def test_values_come_in_order(flow: Flow) -> None:
    assert flow.count(100_000) == list(range(1, 100_001))
    assert flow.count(0) == []


def test_values_are_given_and_the_result_comes_back(flow: Flow) -> None:
    assert flow.total([1] * 30_000) == 10 + 30_000
    assert flow.total(range(1, 101)) == 10 + 5050
    assert flow.total([]) == 10


def test_both_directions_at_once(flow: Flow) -> None:
    assert flow.shout(["a", "b", "c" * 100_000]) == ["A", "B", "C" * 100_000]
    assert flow.shout([]) == []


def test_metadata_go_both_ways(flow: Flow, servant: AnyFlowServant) -> None:
    reply: dict[str, str] = {}

    flow.count(2, mf.CallOptions(metadata={"tenant": "x"}, reply_metadata=reply))

    assert servant.seen[0] == {"tenant": "x"}
    assert list(reply) == ["how"]


def test_a_declared_error_is_raised(flow: Flow) -> None:
    with pytest.raises(Wrong) as raised:
        flow.broken(3)
    assert raised.value.at == 3


def test_a_stream_ends_at_its_deadline(flow: Flow, servant: AnyFlowServant) -> None:
    with pytest.raises(mf.Error) as raised:
        flow.count((1 << 32) - 1, mf.CallOptions(deadline=0.2))

    assert raised.value.code is Code.DEADLINE_EXCEEDED
    assert eventually(lambda: servant.seen[1:] == [True])


def test_who_leaves_early_ends_the_handler(flow: Flow, servant: AnyFlowServant) -> None:
    if flow.awaits:

        async def run(client: FlowAsyncClient) -> None:
            async with client.count((1 << 32) - 1) as stream:
                assert await anext(stream) == 1

        flow.awaited(run)
    else:
        with flow.client.count((1 << 32) - 1) as stream:
            assert next(stream) == 1

    assert eventually(lambda: servant.seen[1:] == [True])


def test_many_streams_of_one_loop_go_on_at_once() -> None:
    async def run(client: FlowAsyncClient) -> list[int]:
        async def values() -> AsyncIterator[int]:
            for number in range(200):
                await asyncio.sleep(0)
                yield number + 1

        reads = [all_of(client.count(2000)) for _ in range(20)]
        writes = [client.total(0, values()) for _ in range(20)]
        results = await asyncio.gather(*reads, *writes)
        return [result if isinstance(result, int) else sum(result) for result in results]

    with server_of(Awaiting(), drain_timeout=2.0) as server:
        flow = Flow(Awaiting(), awaits=True, where=server.address)
        results = flow.awaited(run)
        flow.close()

    assert results == [2_001_000] * 20 + [20_100] * 20
