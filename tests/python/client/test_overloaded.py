"""How clients handle OVERLOADED: another instance first, then a rest, within the retry budget, with exact
counts. Capacity is a semaphore that the test controls, or a limit that admits no call.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import copy
from typing import Any

import pytest

import mf
from mf.core import backoff
from mf.core.error import Code, Execution
from mf.protocol.call import RetryBudget
from mf.route import routing
from tests.python.conftest import Recorder, eventually
from tests.python.echo import TWICE, EchoAsyncClient, EchoClient, Number

FULL = mf.Limit(1, queued=0)


class Held(Recorder):
    """`flaky` holds its slot until the test gives a permit."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[int] = []
        self.permits = threading.Semaphore(0)

    def twice(self, x: int) -> int:
        self.begun.append(x)
        return 2 * x

    def flaky(self, x: int) -> int:
        self.begun.append(x)
        self.permits.acquire(timeout=20)
        return x


class Serving:
    """Servers of one slot, and how many calls each has refused."""

    def __init__(self) -> None:
        self.servants: list[Held] = []
        self.servers: list[mf.Server] = []
        self.holding: list[threading.Thread] = []

    def server(self, limit: mf.Limit = FULL) -> mf.Server:
        servant, server = (
            Held(),
            mf.Server(options=mf.ServerOptions(workers=8, limit=limit, drain_timeout=1.0)),
        )
        server.offer(servant, "a")
        server.start()
        self.servants.append(servant)
        self.servers.append(server)
        return server

    def hold(self, index: int) -> None:
        """Occupies all slots of this server until `release`."""

        def call() -> None:
            with mf.Client(self.servers[index].address) as client:
                EchoClient(client).at("a").flaky(-1)

        held = threading.Thread(target=call)
        held.start()
        self.holding.append(held)
        assert eventually(lambda: self.servers[index].stats().running == 1)

    def release(self) -> None:
        for servant in self.servants:
            servant.permits.release(100)
        for held in self.holding:
            held.join(10)

    def refused(self) -> list[int]:
        return [server.stats().refused for server in self.servers]

    @property
    def addresses(self) -> str:
        return ",".join(server.address for server in self.servers)

    def close(self) -> None:
        self.release()
        for server in self.servers:
            server.stop()


@pytest.fixture
def serving() -> Iterator[Serving]:
    made = Serving()
    yield made
    made.close()


def budget_of(client: mf.Client | mf.AsyncClient) -> RetryBudget:
    router = client._router
    assert router is not None
    return router.budget


def failures(outcomes: list[mf.Outcome[int]]) -> list[mf.Error]:
    return [outcome.error for outcome in outcomes if isinstance(outcome.error, mf.Error)]


class Blocking:
    def __init__(self, addresses: str) -> None:
        self.client = mf.Client(addresses)
        self.stub = EchoClient(self.client).at("a")

    @property
    def budget(self) -> RetryBudget:
        return budget_of(self.client)

    def twice(self, x: int, deadline: float = 20.0) -> int:
        return self.stub.twice(x, options=mf.CallOptions(deadline=deadline))

    def batch(self, count: int, size: int, window: int) -> list[mf.Outcome[int]]:
        options = mf.BatchOptions(size=size, window=window)
        return self.stub.twice_batch([Number(x) for x in range(count)], options=options).results()

    def run(self, batch: Any) -> list[mf.Outcome[int]]:
        outcomes: list[mf.Outcome[int]] = batch.results()
        return outcomes

    def close(self) -> None:
        self.client.close()


class Awaiting:
    """The same with an asyncio client, on its own loop."""

    def __init__(self, addresses: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.client = self.loop.run_until_complete(self._open(addresses))
        self.stub = EchoAsyncClient(self.client).at("a")

    @staticmethod
    async def _open(addresses: str) -> mf.AsyncClient:
        return mf.AsyncClient(addresses)

    @property
    def budget(self) -> RetryBudget:
        return budget_of(self.client)

    def twice(self, x: int, deadline: float = 20.0) -> int:
        return self.loop.run_until_complete(self.stub.twice(x, options=mf.CallOptions(deadline=deadline)))

    def batch(self, count: int, size: int, window: int) -> list[mf.Outcome[int]]:
        options = mf.BatchOptions(size=size, window=window)
        requests = [Number(x) for x in range(count)]
        return self.loop.run_until_complete(self.stub.twice_batch(requests, options=options))

    def run(self, batch: Any) -> list[mf.Outcome[int]]:
        outcomes: list[mf.Outcome[int]] = self.loop.run_until_complete(batch)
        return outcomes

    def close(self) -> None:
        self.loop.run_until_complete(self.client.close())
        self.loop.close()


Caller = Blocking | Awaiting


@pytest.fixture(params=[Blocking, Awaiting], ids=["blocking", "async"])
def caller(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Caller]]:
    made: list[Caller] = []

    def make(addresses: str) -> Caller:
        made.append(request.param(addresses))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_another_instance_is_asked_at_once(
    serving: Serving, caller: Callable[[str], Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "FIRST", 1000.0)  # no call waits here
    for _ in range(2):
        serving.server()
    serving.hold(0)
    client = caller(serving.addresses)

    assert [client.twice(x) for x in range(20)] == [2 * x for x in range(20)]

    # At most one call is sent to the full one: from then on it is avoided.
    assert serving.refused()[0] <= 1
    assert serving.refused()[1] == 0
    assert len(serving.servants[1].begun) == 20


def test_three_attempts_are_made_and_the_words_are_the_servers(
    serving: Serving, caller: Callable[[str], Caller]
) -> None:
    serving.server()
    serving.hold(0)
    client = caller(serving.addresses)

    with pytest.raises(mf.Error, match="at most 1 calls run at once on this server, and 0 wait") as raised:
        client.twice(1)

    assert (raised.value.code, raised.value.execution) == (Code.OVERLOADED, Execution.NOT_EXECUTED)
    assert serving.refused() == [3]
    assert serving.servants[0].begun == [-1]


def test_an_instance_that_is_down_is_no_other_to_be_asked_at_once(
    serving: Serving, caller: Callable[[str], Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float] = []

    class Noted(backoff.Backoff):
        def next(self) -> float:
            rests.append(super().next())
            return rests[-1]

    monkeypatch.setattr(routing, "Backoff", Noted)
    serving.server()
    serving.hold(0)
    with socket.socket() as bound:  # and does not listen
        bound.bind(("127.0.0.1", 0))
        client = caller(f"{serving.addresses},tcp://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(mf.Error, match="at most 1 calls run at once"):
            client.twice(1)  # it has tried both
        rests.clear()
        with pytest.raises(mf.Error, match="at most 1 calls run at once"):
            client.twice(1)

    assert serving.refused() == [6]
    assert len(rests) == 3  # one before the second attempt, and the second of the series before the third


def test_a_call_that_rests_goes_on_once_there_is_room(
    serving: Serving, caller: Callable[[str], Caller]
) -> None:
    serving.server()
    serving.hold(0)
    client = caller(serving.addresses)
    done: list[int] = []

    def free() -> None:
        assert eventually(lambda: serving.refused()[0] >= 1)
        serving.servants[0].permits.release(1)

    def calls() -> bool:  # the slot may become free too late for one call
        with suppress(mf.Error):
            done.append(client.twice(1))
        return bool(done)

    freeing = threading.Thread(target=free)
    freeing.start()
    assert eventually(calls)
    freeing.join(10)

    assert done == [2]
    assert serving.servants[0].begun == [-1, 1]


def test_a_deadline_that_leaves_no_room_ends_the_call_at_once(
    serving: Serving, caller: Callable[[str], Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "FIRST", 10_000.0)
    monkeypatch.setattr(backoff, "_LEAST", 1_000.0)
    serving.server()
    serving.hold(0)
    client = caller(serving.addresses)

    begun = time.monotonic()
    with pytest.raises(mf.Error, match="at most 1 calls run at once") as raised:
        client.twice(1, deadline=900.0)

    assert raised.value.code is Code.OVERLOADED
    assert time.monotonic() - begun < 100
    assert serving.refused() == [1]


def test_all_repeats_share_the_retry_budget(serving: Serving, caller: Callable[[str], Caller]) -> None:
    serving.server()
    serving.hold(0)
    client = caller(serving.addresses)
    client.budget.fifths = 4  # one repeat, with what the first call gives back

    for x in range(3):
        with pytest.raises(mf.Error, match="OVERLOADED"):
            client.twice(x)

    assert serving.refused() == [4]


@pytest.mark.parametrize("window", [1, 4])
def test_a_batch_whose_messages_are_refused_has_an_exact_outcome_for_each_item(
    serving: Serving, caller: Callable[[str], Caller], window: int
) -> None:
    serving.server()
    serving.hold(0)
    client = caller(serving.addresses)

    outcomes = client.batch(20, 2, window)

    assert len(outcomes) == 20
    assert [each.code for each in failures(outcomes)] == [Code.OVERLOADED] * 20
    assert {each.execution for each in failures(outcomes)} == {Execution.NOT_EXECUTED}
    assert serving.refused() == [60]  # items, since each message has three attempts
    assert serving.servants[0].begun == [-1]


def test_a_batch_that_is_refused_in_part_has_run_what_it_says(
    serving: Serving, caller: Callable[[str], Caller]
) -> None:
    serving.server(mf.Limit(1, queued=1))
    client = caller(serving.addresses)

    outcomes = client.batch(200, 2, 16)

    ran = [x for x, outcome in enumerate(outcomes) if outcome.ok]
    assert [each.code for each in failures(outcomes)] == [Code.OVERLOADED] * (200 - len(ran))
    assert sorted(serving.servants[0].begun) == ran
    assert [outcomes[x].value() for x in ran] == [2 * x for x in ran]


def test_a_batch_goes_on_at_another_server(serving: Serving, caller: Callable[[str], Caller]) -> None:
    serving.server()
    serving.server(mf.Limit(1, queued=100))
    serving.hold(0)
    client = caller(serving.addresses)

    for _ in range(10):
        outcomes = client.batch(40, 2, 4)
        assert [outcome.value() for outcome in outcomes] == [2 * x for x in range(40)]

    assert serving.servants[0].begun == [-1]


def test_an_ordered_batch_keeps_its_order_while_a_message_of_it_rests(
    serving: Serving, caller: Callable[[str], Caller]
) -> None:
    serving.server()
    serving.hold(0)
    client = caller(serving.addresses)
    method = copy(TWICE)
    method.ordered = True

    def free() -> None:
        assert eventually(lambda: serving.refused()[0] > 0)
        serving.servants[0].permits.release(1)

    freeing = threading.Thread(target=free)
    freeing.start()
    outcomes = client.run(
        client.stub._target.batch(method, [Number(x) for x in range(60)], mf.BatchOptions(size=2, window=8))
    )
    freeing.join(10)

    ran = [x for x, outcome in enumerate(outcomes) if outcome.ok]
    assert len(ran) > 1
    assert serving.servants[0].begun == [-1, *ran]


def test_a_call_that_may_have_run_is_not_repeated_and_a_handlers_overloaded_is_its_own() -> None:
    class Saying(Recorder):
        def flaky(self, x: int) -> int:  # noqa: ARG002
            self.calls += 1
            raise mf.Error(Code.OVERLOADED, "not me", Execution.NOT_EXECUTED)

    servant = Saying()
    server = mf.Server()
    server.offer(servant, "a")
    with server, mf.Client(server.address) as client, pytest.raises(mf.Error, match="not me") as raised:
        EchoClient(client).at("a").flaky(1)
    assert (raised.value.code, raised.value.execution) == (Code.OVERLOADED, Execution.UNKNOWN)
    assert servant.calls == 1


def test_closing_the_client_ends_a_call_that_rests(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backoff, "FIRST", 10_000.0)
    monkeypatch.setattr(backoff, "_LEAST", 1_000.0)
    serving.server()
    serving.hold(0)
    client = Blocking(serving.addresses)
    ended: list[Any] = []

    def call() -> None:
        try:
            client.stub.twice(1, options=mf.CallOptions(deadline=mf.INFINITE))
        except mf.Error as error:
            ended.append(error.code)

    calling = threading.Thread(target=call)
    calling.start()
    assert eventually(lambda: serving.refused() == [1])
    client.close()
    calling.join(10)

    assert ended == [Code.CANCELLED]
