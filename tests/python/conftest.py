"""A servant that tests control, served on its own port."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import mf
from tests.python.echo import EchoAsyncServant, EchoClient, EchoServant, Negative


class Recorder(EchoServant):
    """Doubles, echoes, sleeps; records its notes; counts the calls of `flaky` and runs `act` there."""

    def __init__(self) -> None:
        self.notes: list[int] = []
        self.calls = 0
        self.act: Callable[[int], int] = lambda x: x
        self.release = threading.Event()

    def twice(self, x: int) -> int:
        if x < 0:
            raise Negative(x)
        return 2 * x

    def echo(self, data: bytes) -> bytes:
        return data

    def sleep(self, seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    def note(self, x: int) -> None:
        self.notes.append(x)

    def flaky(self, x: int) -> int:
        self.calls += 1
        return self.act(x)


class AsyncRecorder(EchoAsyncServant):
    """Doubles, echoes, sleeps, with `async def`."""

    async def twice(self, x: int) -> int:
        if x < 0:
            raise Negative(x)
        return 2 * x

    async def echo(self, data: bytes) -> bytes:
        return data

    async def sleep(self, seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    async def note(self, x: int) -> None:
        pass

    async def flaky(self, x: int) -> int:
        return x


class Served:
    """A running server with shelves `a` (inline) and `b` (on workers), and a client of it."""

    def __init__(self, max_in_flight: int = 8192, max_payload: int = 1 << 24) -> None:
        self.servant = Recorder()
        self.server = mf.Server(
            "tcp://127.0.0.1:0",
            options=mf.ServerOptions(drain_timeout=2.0, max_in_flight=max_in_flight, max_payload=max_payload),
        )
        self.server.offer(self.servant, agent="a", inline=True)
        self.server.offer(self.servant, agent="b")
        self.server.start()
        self.client = mf.Client(self.server.address)
        self.echo = EchoClient(self.client)

    @property
    def port(self) -> int:
        return int(self.server.address.rpartition(":")[2])

    def close(self) -> None:
        self.servant.release.set()
        self.client.close()
        self.server.stop()


@pytest.fixture
def served() -> Iterator[Served]:
    one = Served()
    yield one
    one.close()


def eventually(condition: Callable[[], bool], timeout: float = 20.0) -> bool:
    """Whether the condition becomes true in time."""
    until = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True
