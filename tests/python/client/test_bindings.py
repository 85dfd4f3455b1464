"""A client of more agents than a server allows bindings for: the least recently used one is given up."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

import mf
from mf.route.resolver import Instance
from tests.python.conftest import Recorder
from tests.python.echo import EchoAsyncClient, EchoClient, Number

MOST = 3
SHELVES = [f"shelf {number}" for number in range(10)]


NUMBERS = range(10)


class Numbered(Recorder):
    """Returns its own number, too."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def twice(self, x: int) -> int:
        return 1000 * x + self._number


class Shelves:
    def __init__(self) -> None:
        self.servant = Recorder()
        self.server = mf.Server(
            "tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0, max_bindings=MOST)
        )
        for shelf in SHELVES:
            self.server.offer(self.servant, agent=shelf)
        for number in NUMBERS:
            self.server.offer(Numbered(number), agent=str(number))
        self.server.start()
        self.client = mf.Client(self.server.address)
        self.echo = EchoClient(self.client)

    @property
    def bound(self) -> list[str]:
        assert self.client._pool is not None
        link = self.client._pool.usable(Instance(self.server.address))
        assert link is not None
        return [agent for _, _, agent, _ in link._bindings]


@pytest.fixture
def shelves() -> Iterator[Shelves]:
    one = Shelves()
    yield one
    one.servant.release.set()
    one.client.close()
    one.server.stop()


def test_more_agents_than_bindings_are_called_again_and_again(shelves: Shelves) -> None:
    at = [shelves.echo.at(shelf) for shelf in SHELVES]
    for round_ in range(200):
        assert [each.twice(round_) for each in at] == [2 * round_] * len(at)

    assert shelves.bound == SHELVES[-MOST:]


@pytest.mark.parametrize("way", ["call", "batch", "bulk"])
def test_each_call_reaches_its_own_agent_though_bindings_follow_one_another(
    shelves: Shelves, way: str
) -> None:
    """Routes are reused for other agents; a call that has found one must not use it after that."""
    at = [shelves.echo.at(str(number)) for number in NUMBERS]
    for round_ in range(20):
        for number, echo in enumerate(at):
            if way == "call":
                assert echo.twice(round_) == 1000 * round_ + number
                continue
            items = [Number(round_)] * 3
            outcomes = echo.twice_bulk(items) if way == "bulk" else echo.twice_batch(items).results()
            assert [outcome.value() for outcome in outcomes] == [1000 * round_ + number] * 3


def test_each_awaited_call_reaches_its_own_agent_though_bindings_follow_one_another(
    shelves: Shelves,
) -> None:
    async def call_all() -> None:
        async with mf.AsyncClient(shelves.server.address) as client:
            at = [EchoAsyncClient(client).at(str(number)) for number in NUMBERS]
            for round_ in range(20):
                for number, echo in enumerate(at):
                    assert await echo.twice(round_) == 1000 * round_ + number
                several = [echo.twice(round_) for echo in at]  # more at once than bindings are allowed
                assert await asyncio.gather(*several) == [1000 * round_ + number for number in NUMBERS]

    asyncio.run(call_all())


def test_the_one_that_was_not_used_for_longest_goes(shelves: Shelves) -> None:
    first, *_ = at = [shelves.echo.at(shelf) for shelf in SHELVES]
    for each in at[:MOST]:
        each.twice(1)
    first.twice(1)
    at[MOST].twice(1)

    assert sorted(shelves.bound) == [SHELVES[0], SHELVES[2], SHELVES[3]]


def test_a_binding_with_a_call_under_way_stays(shelves: Shelves) -> None:
    entered = threading.Semaphore(0)

    def act(x: int) -> int:
        entered.release()
        shelves.servant.release.wait(10)
        return x

    shelves.servant.act = act
    got: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: got.append(shelves.echo.at(SHELVES[n]).flaky(n)))
        for n in range(MOST)
    ]
    for thread in threads:
        thread.start()
        entered.acquire()
    with pytest.raises(mf.Error, match="takes no more bindings") as refused:
        shelves.echo.at(SHELVES[MOST]).twice(1, options=mf.CallOptions(deadline=1.0))
    shelves.servant.release.set()
    for thread in threads:
        thread.join()

    assert refused.value.code == mf.Code.OVERLOADED
    assert sorted(got) == [0, 1, 2]
    assert shelves.echo.at(SHELVES[MOST]).twice(4) == 8


def test_a_scatter_over_more_agents_than_bindings_reaches_all(shelves: Shelves) -> None:
    for x in range(20):
        scattered = shelves.echo.on(SHELVES).twice(x)
        assert scattered.failed == {}
        assert scattered.ok == dict.fromkeys(SHELVES, 2 * x)
