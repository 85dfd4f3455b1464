"""Handlers that call: one that waits for a call of its own gives its worker's place to another call."""

import threading
from collections.abc import Callable, Iterator

import pytest

import mf
from mf.core.error import Code
from mf.server import workers
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient, Number


class Calling(Recorder):
    """Its method `flaky` calls the function that the test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.act = lambda x: x
        self.client: mf.Client | None = None

    @property
    def echo_client(self) -> EchoClient:
        assert self.client is not None
        return EchoClient(self.client).at("a")


class Two:
    """Two servers, each of which calls the other."""

    def __init__(self, at_once: int) -> None:
        self.servants = Calling(), Calling()
        self.servers = [
            mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(workers=at_once, drain_timeout=0.5))
            for _ in range(2)
        ]
        for server, servant in zip(self.servers, self.servants, strict=True):
            server.offer(servant, "a")
            server.start()
        for at, servant in enumerate(self.servants):
            servant.client = mf.Client(self.servers[1 - at].address)

    def close(self) -> None:
        for servant in self.servants:
            assert servant.client is not None
            servant.client.close()
        for server in self.servers:
            server.stop()


@pytest.fixture
def two() -> Iterator[Two]:
    one = Two(2)
    yield one
    one.close()


def at_once(count: int, call: Callable[[int], int]) -> list[object]:
    """The results of so many calls from as many threads, or the names of their codes."""
    results: list[object] = [None] * count

    def one(at: int) -> None:
        try:
            results[at] = call(at)
        except mf.Error as failure:
            results[at] = failure

    threads = [threading.Thread(target=one, args=(at,)) for at in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


WAYS: dict[str, Callable[[EchoClient, int], int]] = {
    "a call": lambda echo, x: echo.twice(x),
    "a batch": lambda echo, x: echo.twice_batch([Number(x)]).results()[0].value(),
    "a bulk": lambda echo, x: echo.twice_bulk([Number(x)])[0].value(),
    "several agents": lambda echo, x: echo.on(["a"]).twice(x)["a"].value(),
}


@pytest.mark.parametrize("way", WAYS)
def test_servers_that_call_each_other_answer_all_calls(two: Two, way: str) -> None:
    """Both servers have two workers, and eight callers fill them before any of them goes on."""
    first, second = two.servants
    met = threading.Barrier(2)

    def outer(x: int) -> int:
        if x < 2:
            met.wait(20)
        return second_calls(x)

    def second_calls(x: int) -> int:
        return first.echo_client.flaky(x)

    first.act = outer
    second.act = lambda x: WAYS[way](second.echo_client, x)
    with mf.Client(two.servers[0].address) as client:
        results = at_once(8, EchoClient(client).at("a").flaky)
    assert results == [2 * x for x in range(8)]


def test_no_more_handlers_run_than_there_are_workers_when_none_waits(two: Two) -> None:
    first, _ = two.servants
    lock, running, most = threading.Lock(), [0], [0]

    def act(x: int) -> int:
        first.echo_client.twice(x)
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        with lock:
            running[0] -= 1
        return x

    first.act = act
    with mf.Client(two.servers[0].address) as client:
        echo = EchoClient(client).at("a")
        assert at_once(20, echo.flaky) == list(range(20))
        gate = threading.Event()
        busy = [0]

        def held(x: int) -> int:
            with lock:
                busy[0] += 1
            gate.wait(20)
            return x

        first.act = held
        waiting = threading.Thread(target=at_once, args=(6, echo.flaky))
        waiting.start()
        assert eventually(lambda: two.servers[0].stats().executed >= 22)
        assert eventually(lambda: busy[0] == 2)
        gate.set()
        waiting.join()


def test_a_nested_call_is_refused_when_all_workers_would_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "_MOST_WAITING", 2)
    two = Two(1)
    first, second = two.servants
    try:
        gate = threading.Event()

        def wait(x: int) -> int:
            gate.wait(20)
            return x

        second.act = wait
        first.act = lambda x: first.echo_client.flaky(x)
        with mf.Client(two.servers[0].address) as client:
            echo = EchoClient(client).at("a")
            waiting = threading.Thread(target=at_once, args=(2, echo.flaky))
            waiting.start()
            assert eventually(lambda: two.servers[0].stats().executed == 2)
            assert eventually(lambda: two.servers[0]._workers._waiting == 2)
            with pytest.raises(mf.Error) as refused:
                echo.flaky(3)
            gate.set()
            waiting.join()
            assert echo.flaky(4) == 4
        assert refused.value.code is Code.OVERLOADED
        assert "all 3 workers wait for calls that their handlers made" in refused.value.message
    finally:
        two.close()
