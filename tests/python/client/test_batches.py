"""Batches: one outcome per request and in order, whatever happens to messages and connections on the way."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from mf.core.service import Method
from tests.python.client.test_calls import Dying
from tests.python.conftest import Recorder, Served, eventually
from tests.python.echo import FLAKY, TWICE, EchoAsyncClient, EchoClient, Negative, Number


def numbers(count: int) -> list[Number]:
    return [Number(x) for x in range(count)]


@pytest.mark.parametrize("shelf", ["a", "b"])
@pytest.mark.parametrize("count", [0, 1, 2, 127, 128, 129, 1000])
@pytest.mark.parametrize("options", [None, mf.BatchOptions(size=1, window=3), mf.BatchOptions(size=77)])
def test_a_batch_gives_outcomes_in_order(
    served: Served, shelf: str, count: int, options: mf.BatchOptions | None
) -> None:
    outcomes = served.echo.at(shelf).twice_batch(numbers(count), options=options).results()

    assert [outcome.value() for outcome in outcomes] == [2 * x for x in range(count)]


@pytest.mark.parametrize("shelf", ["a", "b"])
@pytest.mark.parametrize("count", [0, 1, 2, 70_000])
def test_a_bulk_gives_outcomes_in_order(served: Served, shelf: str, count: int) -> None:
    outcomes = served.echo.at(shelf).twice_bulk(numbers(count))

    assert [outcome.value() for outcome in outcomes] == [2 * x for x in range(count)]


@pytest.mark.parametrize("bulk", [False, True])
def test_items_fail_alone(served: Served, bulk: bool) -> None:
    requests = [Number(x if x % 3 else -x - 1) for x in range(300)]
    echo = served.echo.at("b")

    outcomes = echo.twice_bulk(requests) if bulk else echo.twice_batch(requests).results()

    expected = [mf.Outcome(2 * r.x) if r.x >= 0 else mf.Outcome[int](error=Negative(r.x)) for r in requests]
    assert outcomes == expected


def test_requests_that_cannot_be_encoded_fail_alone(served: Served) -> None:
    requests = [Number(x if x not in (0, 77, 299) else 1 << 40) for x in range(300)]

    outcomes = served.echo.at("a").twice_batch(requests).results()

    failed = [x for x, outcome in enumerate(outcomes) if not outcome.ok]
    assert failed == [0, 77, 299]
    error = outcomes[77].error
    assert isinstance(error, mf.Error)
    assert (error.code, error.execution) == (Code.INVALID_ARGUMENT, Execution.NOT_EXECUTED)


def test_messages_that_are_too_large_are_halved() -> None:
    served = Served(max_payload=4096)
    try:
        options = mf.BatchOptions(size=5000)
        outcomes = served.echo.at("a").twice_batch(numbers(5000), options=options).results()
        assert [outcome.value() for outcome in outcomes] == [2 * x for x in range(5000)]
    finally:
        served.close()


def test_a_handle_tells_what_has_arrived(served: Served) -> None:
    served.servant.twice = lambda x: (served.servant.release.wait(5), 2 * x)[1] if x == 5 else 2 * x  # type: ignore[method-assign]
    server = mf.Server(options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(served.servant, agent="c")
    server.start()
    with mf.Client(server.address) as client:
        batch = EchoClient(client).at("c").twice_batch(numbers(8), options=mf.BatchOptions(size=1))

        assert eventually(lambda: sum(outcome is not None for outcome in batch.partial()) == 7)
        assert not batch.ready()
        assert not batch.wait(0.01)
        assert batch.partial()[5] is None
        served.servant.release.set()
        assert batch.wait(5)
        assert batch.ready()
        assert [outcome.value() for outcome in batch.results()] == [2 * x for x in range(8)]
    server.stop()


class Counting(Recorder):
    def __init__(self) -> None:
        super().__init__()
        self.ran: list[float] = []

    def twice(self, x: int) -> int:
        self.ran.append(x)
        return 2 * x

    def sleep(self, seconds: float) -> float:
        self.ran.append(seconds)
        return seconds


@contextmanager
def two_servers() -> Iterator[tuple[Counting, mf.Server, str]]:
    """The calls of both servers, the first server, and the addresses of both."""
    counting = Counting()
    servers = [
        mf.Server(options=mf.ServerOptions(drain_timeout=5.0)),
        mf.Server(options=mf.ServerOptions(drain_timeout=5.0)),
    ]
    for server in servers:
        server.offer(counting, agent="a")
        server.start()
    yield counting, servers[0], ",".join(server.address for server in servers)
    for server in servers:
        server.stop()


def test_no_item_is_lost_or_run_twice_when_one_of_two_servers_stops() -> None:
    with two_servers() as (counting, first, where), mf.Client(where) as client:
        echo = EchoClient(client).at("a")
        batch = echo.twice_batch(numbers(3000), options=mf.BatchOptions(size=3, window=8))
        assert eventually(lambda: len(counting.ran) > 500)
        first.stop()

        assert [outcome.value() for outcome in batch.results()] == [2 * x for x in range(3000)]
    assert sorted(counting.ran) == list(range(3000))


def test_no_call_is_lost_or_run_twice_when_one_of_two_servers_stops() -> None:
    async def call_all(where: str, first: mf.Server) -> list[float]:
        async with mf.AsyncClient(where) as client:
            echo = EchoAsyncClient(client).at("a")
            calls = [asyncio.create_task(echo.sleep(float(x))) for x in range(2000)]
            await calls[0]
            await asyncio.to_thread(first.stop)
            return list(await asyncio.gather(*calls))

    with two_servers() as (counting, first, where):
        assert asyncio.run(call_all(where, first)) == list(range(2000))
    assert sorted(counting.ran) == list(range(2000))


def test_a_batch_goes_on_while_nobody_waits(served: Served) -> None:
    batch = served.echo.at("b").twice_batch(numbers(300), options=mf.BatchOptions(size=1, window=4))

    assert eventually(batch.ready)


def test_several_threads_may_wait_for_one_batch(served: Served) -> None:
    batch = served.echo.at("b").twice_batch(numbers(3000), options=mf.BatchOptions(size=3))
    good: list[bool] = []
    threads = [threading.Thread(target=lambda: good.append(batch.wait(10))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert good == [True] * 3


def test_a_batch_ends_at_its_deadline(served: Served) -> None:
    def act(x: int) -> int:
        time.sleep(0.3)
        return x

    served.servant.act = act
    echo = served.echo.at("b")
    assert echo.twice(1) == 2  # connected
    start = time.monotonic()

    outcomes = echo._target.batch(
        FLAKY, numbers(20), mf.BatchOptions(size=1, window=2, deadline=0.1)
    ).results()

    assert time.monotonic() - start < 1.0
    codes = {outcome.error.code for outcome in outcomes if isinstance(outcome.error, mf.Error)}
    assert codes == {Code.DEADLINE_EXCEEDED}
    runs = [outcome.error.execution for outcome in outcomes if isinstance(outcome.error, mf.Error)]
    assert runs[:2] == [Execution.UNKNOWN] * 2
    assert set(runs[2:]) == {Execution.NOT_EXECUTED}


def test_who_stops_waiting_for_a_batch_ends_nothing_of_it(served: Served) -> None:
    started, go_on = threading.Event(), threading.Event()

    def act(x: int) -> int:
        started.set()
        go_on.wait(20)
        return x

    served.servant.act = act
    batch = served.echo.at("b")._target.batch(FLAKY, numbers(20), mf.BatchOptions(size=1, window=2))
    assert started.wait(10)
    before = [batch.wait(0.01), batch.ready(), batch.partial()]
    go_on.set()

    assert before == [False, False, [None] * 20]
    assert [outcome.value() for outcome in batch.results()] == list(range(20))


def test_idempotent_messages_survive_a_dying_server() -> None:
    dying = Dying(1)
    with mf.Client(dying.address) as client:
        outcomes = (
            EchoClient(client).at("a").twice_batch(numbers(6), options=mf.BatchOptions(size=2)).results()
        )

    dying.close()
    assert [outcome.value() for outcome in outcomes] == list(
        range(6)
    )  # this one answers with the request's bytes


def test_others_keep_the_results_they_have_and_the_rest_says_whether_it_may_have_run() -> None:
    from tests.python.echo import SLEEP, Seconds

    dying = Dying(0)
    with mf.Client(dying.address) as client:
        echo = EchoClient(client).at("a")
        echo.twice(1)
        dying.deaths = dying.requests + 1
        batch = echo._target.batch(
            SLEEP, [Seconds(float(x)) for x in range(6)], mf.BatchOptions(size=1, window=2, deadline=5)
        )
        outcomes = batch.results()

    dying.close()
    lost = [outcome.error for outcome in outcomes if isinstance(outcome.error, mf.Error)]
    assert {error.code for error in lost} == {Code.CONNECTION_LOST}
    assert 1 <= len(lost) <= 2  # those in flight; the others were sent over another connection
    assert all(outcome.value() == x for x, outcome in enumerate(outcomes) if outcome.ok)


def ordered_twice() -> Method[Any, Any]:
    """An idempotent method whose batches are sequences."""
    method = copy(TWICE)
    method.ordered = True
    return method


def test_an_ordered_batch_keeps_its_order_when_one_of_two_servers_stops() -> None:
    with two_servers() as (counting, first, where), mf.Client(where) as client:
        batch = (
            EchoClient(client)
            .at("a")
            ._target.batch(ordered_twice(), numbers(3000), mf.BatchOptions(size=3, window=8))
        )
        waiting = threading.Thread(target=batch.wait)
        waiting.start()
        assert eventually(lambda: len(counting.ran) > 500)
        first.stop()

        assert [outcome.value() for outcome in batch.results()] == [2 * x for x in range(3000)]
        waiting.join()
    assert counting.ran == list(range(3000))


@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_nothing_follows_a_message_of_an_ordered_batch_that_may_still_run(way: str) -> None:
    async def call(where: str) -> list[mf.Outcome[Any]]:
        async with mf.AsyncClient(where) as client:
            return await EchoAsyncClient(client).at("a")._target.batch(ordered_twice(), numbers(6), options)

    dying = Dying(1)
    options = mf.BatchOptions(size=2)
    if way == "asyncio":
        outcomes = asyncio.run(call(dying.address))
    else:
        with mf.Client(dying.address) as client:
            outcomes = (
                EchoClient(client).at("a")._target.batch(ordered_twice(), numbers(6), options).results()
            )
    dying.close()

    assert dying.requests == 1  # though the method is idempotent
    errors = [outcome.error for outcome in outcomes]
    assert all(isinstance(error, mf.Error) and error.code is Code.CONNECTION_LOST for error in errors)
    runs = [error.execution for error in errors if isinstance(error, mf.Error)]
    assert runs == [Execution.UNKNOWN] * 2 + [Execution.NOT_EXECUTED] * 4
    words = "not sent, as an earlier message of this ordered batch may still run: "
    assert [error.message.startswith(words) for error in errors if isinstance(error, mf.Error)] == [
        False,
        False,
        True,
        True,
        True,
        True,
    ]


def test_an_ordered_bulk_is_not_repeated_where_it_may_still_run_and_a_lone_call_is() -> None:
    dying = Dying(2)
    with mf.Client(dying.address) as client:
        target = EchoClient(client).at("a")._target
        with pytest.raises(mf.Error) as lost:
            target.bulk(ordered_twice(), numbers(6))
        assert (lost.value.execution, dying.requests) == (Execution.UNKNOWN, 1)
        target.call(ordered_twice(), None, 1)
        assert dying.requests == 3
    dying.close()


def test_the_items_behind_a_cancelled_one_are_not_begun() -> None:
    began: list[int] = []

    async def stubborn(x: int) -> int:
        began.append(x)
        await asyncio.sleep(10)
        return x

    async def run() -> None:
        task = asyncio.create_task(mf.each_in_order(stubborn, ((x,) for x in range(3))))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert began == [0]


def test_a_batch_without_a_server_is_unavailable_item_by_item() -> None:
    from tests.python.client.test_calls import free_port

    with mf.Client(f"tcp://127.0.0.1:{free_port()}") as client:
        options = mf.BatchOptions(deadline=0.1)
        outcomes = EchoClient(client).at("a").twice_batch(numbers(3), options=options).results()

    for outcome in outcomes:
        assert isinstance(outcome.error, mf.Error)
        assert (outcome.error.code, outcome.error.execution) == (Code.UNAVAILABLE, Execution.NOT_EXECUTED)


class Faulty(Sequence[Any]):
    """Some of its items raise an exception when they are read."""

    def __init__(self, count: int, bad: set[int]) -> None:
        self._count = count
        self._bad = bad

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        if index in self._bad:
            raise LookupError(f"item {index}")
        return Number(index)


def test_an_exception_of_the_requests_is_their_outcome_whatever_thread_meets_it(served: Served) -> None:
    bad = {3, 500, 999}
    options = mf.BatchOptions(size=10, window=2)
    outcomes = served.echo.at("b").twice_batch(Faulty(1000, bad), options=options).results()

    failed = {at: outcome.error for at, outcome in enumerate(outcomes) if not outcome.ok}
    assert failed.keys() == bad
    for at, error in failed.items():
        assert isinstance(error, mf.Error)
        assert error.code is Code.INVALID_ARGUMENT
        assert error.execution is Execution.NOT_EXECUTED
        assert f"item {at}" in error.message
    assert all(outcome.value() == 2 * at for at, outcome in enumerate(outcomes) if outcome.ok)


def test_batches_are_awaited(served: Served) -> None:
    async def main() -> list[list[mf.Outcome[int]]]:
        async with mf.AsyncClient(served.server.address) as client:
            echo = EchoAsyncClient(client).at("b")
            return [
                await echo.twice_batch(numbers(300)),
                await echo.twice_bulk(numbers(300)),
                await echo.at("a").twice_batch(numbers(300), options=mf.BatchOptions(size=7, window=2)),
                await echo.twice_batch([]),
            ]

    *full, empty = asyncio.run(main())
    for outcomes in full:
        assert [outcome.value() for outcome in outcomes] == [2 * x for x in range(300)]
    assert empty == []


def test_a_cancelled_task_gives_its_batch_up(served: Served) -> None:
    entered = threading.Semaphore(0)

    def act(x: int) -> int:
        entered.release()
        served.servant.release.wait(10)
        return x

    served.servant.act = act

    async def main() -> None:
        async with mf.AsyncClient(served.server.address) as client:
            batch = (
                EchoAsyncClient(client)
                .at("b")
                .flaky_batch(numbers(100), options=mf.BatchOptions(size=1, window=2))
            )
            task = asyncio.create_task(batch)
            while not entered.acquire(blocking=False):
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    served.servant.release.set()
    assert served.echo.at("a").twice(1) == 2
    assert served.servant.calls <= 4


def test_an_awaited_batch_ends_at_its_deadline(served: Served) -> None:
    def act(x: int) -> int:
        served.servant.release.wait(10)
        return x

    served.servant.act = act

    async def main() -> list[mf.Outcome[int]]:
        async with mf.AsyncClient(served.server.address) as client:
            options = mf.BatchOptions(size=1, window=2, deadline=0.2)
            return await EchoAsyncClient(client).at("b").flaky_batch(numbers(10), options=options)

    outcomes = asyncio.run(main())

    assert [isinstance(outcome.error, mf.Error) and outcome.error.code for outcome in outcomes] == [
        Code.DEADLINE_EXCEEDED
    ] * 10
