"""Request ids that pass 2^24, where some systems' ids end, and wrap at 2^32, whatever is in flight meanwhile,
for blocking and asyncio clients.
"""

import asyncio
import threading
from collections.abc import Iterator

import pytest

import mf
from mf.protocol.calls import RequestTable
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoAsyncClient, EchoClient, Number
from tests.python.flow import FlowAsyncClient, FlowClient, FlowServant

HELD = 8


class Counting(Recorder):
    """Records the ids of its calls; `flaky` of a negative number answers when it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[int] = []
        self.held = 0
        self._lock = threading.Lock()

    def flaky(self, x: int) -> int:
        with self._lock:
            self.ids.append(mf.current_call().request_id)
            self.held += x < 0
        if x < 0:
            assert self.release.wait(20.0)
        return x


class Near:
    """A server and its address; the clients' ids begin near `first`."""

    def __init__(self, first: int, url: str = "", controller: str | None = None) -> None:
        self.first = first
        self.servant = Counting()
        self.server = mf.Server(
            "tcp://127.0.0.1:0",
            controller=controller,
            options=mf.ServerOptions(workers=16, drain_timeout=2.0),
        )
        self.server.offer(self.servant, agent="a")
        self.server.offer(FlowServant())
        self.server.start()
        self.url = url or self.server.address

    def check_ids(self, count: int) -> None:
        """This many calls had ids that count up and skip 0. Held ones started in any order."""
        ids = [id_ & 0xFFFFFFFF for id_ in self.servant.ids]
        expected = [
            id_ if id_ <= 0xFFFFFFFF else id_ - 0xFFFFFFFF for id_ in range(self.first, self.first + count)
        ]
        assert sorted(ids[:HELD]) == sorted(expected[:HELD])
        assert ids[HELD:] == expected[HELD:]


def begin_at(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    begin = RequestTable.__init__

    def begin_later(self: RequestTable) -> None:
        begin(self)
        self.last = first - 1

    monkeypatch.setattr(RequestTable, "__init__", begin_later)


@pytest.fixture(params=[(1 << 24) - 4, (1 << 32) - 4], ids=["24_bits", "32_bits"])
def first(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    begin_at(monkeypatch, request.param)
    return int(request.param)


@pytest.fixture
def near(first: int) -> Iterator[Near]:
    one = Near(first)
    yield one
    one.servant.release.set()
    one.server.stop()


def pass_it_blocking(near: Near) -> None:
    """Held calls, calls, a batch and streams, from before the wrap until behind it."""
    with mf.Client(near.url) as client:
        echo = EchoClient(client).at("a")
        held: list[int] = []
        threads = [threading.Thread(target=lambda x=x: held.append(echo.flaky(x))) for x in range(-HELD, 0)]
        for each in threads:
            each.start()
        assert eventually(lambda: near.servant.held == HELD)
        assert [echo.flaky(x) for x in range(20)] == list(range(20))
        batch = echo.twice_batch([Number(x) for x in range(40)], options=mf.BatchOptions(size=3, window=4))
        assert [outcome.value() for outcome in batch.results()] == [2 * x for x in range(40)]
        near.servant.release.set()
        for each in threads:
            each.join(20.0)
        assert sorted(held) == list(range(-HELD, 0))


def stream_past_it(near: Near) -> None:
    with mf.Client(near.url) as client:
        echo = EchoClient(client).at("a")
        flow = FlowClient(client)
        counted = flow.count(2_000)
        numbers = []
        for number in counted:
            numbers.append(number)
            if number % 200 == 0:
                assert echo.twice(number) == 2 * number
        assert numbers == list(range(1, 2_001))
        assert flow.total(1, iter(range(1, 2_001))) == 1 + sum(range(1, 2_001))


async def pass_it_awaiting(near: Near) -> None:
    async with mf.AsyncClient(near.url) as client:
        echo = EchoAsyncClient(client).at("a")
        flow = FlowAsyncClient(client)
        held = [asyncio.create_task(echo.flaky(x)) for x in range(-HELD, 0)]
        while near.servant.held < HELD:
            await asyncio.sleep(0.001)
        assert [await echo.flaky(x) for x in range(20)] == list(range(20))
        given_up = asyncio.create_task(echo.flaky(-100))
        while near.servant.held <= HELD:
            await asyncio.sleep(0.001)
        given_up.cancel()
        await asyncio.wait((given_up,))
        numbers = [number async for number in flow.count(2_000)]
        assert numbers == list(range(1, 2_001))
        near.servant.release.set()
        assert await asyncio.gather(*held) == list(range(-HELD, 0))


def test_calls_and_batches_in_flight_across_it_end_each_with_its_own_result(near: Near) -> None:
    pass_it_blocking(near)
    near.check_ids(HELD + 20)


def test_streams_go_on_while_calls_pass_it(near: Near) -> None:
    stream_past_it(near)


def test_tasks_that_wait_across_it_get_their_own_results_and_may_give_up(near: Near) -> None:
    asyncio.run(pass_it_awaiting(near))
    near.check_ids(HELD + 21)
