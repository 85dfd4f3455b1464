"""Many tasks that are cancelled at once cost as much each as few do, at the client and at the server. What is
counted are calls of functions, since a clock says little on a busy machine."""

import asyncio
import sys
from types import FrameType

import mf
from tests.python.conftest import AsyncRecorder
from tests.python.echo import EchoAsyncClient


class Waiting(AsyncRecorder):
    """Its `sleep` waits until it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = 0
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def sleep(self, seconds: float) -> float:
        self.waits += 1
        if self.waits == seconds:
            self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.waits -= 1
            if not self.waits:
                self.ended.set()
        return seconds


async def calls_to_cancel(tasks: int) -> int:
    """How many functions are called from the first `cancel()` to the end of the last handler."""
    servant = Waiting()
    server = mf.AsyncServer(options=mf.ServerOptions(max_in_flight=tasks, drain_timeout=2.0))
    server.offer(servant, "a")
    async with server, mf.AsyncClient(server.address) as client:
        echo = EchoAsyncClient(client).at("a")
        made = [asyncio.create_task(echo.sleep(float(tasks))) for _ in range(tasks)]
        await servant.began.wait()
        count = 0

        def counted(_: FrameType, event: str, __: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(counted)
        try:
            for each in made:
                each.cancel()
            await asyncio.wait(made)
            await servant.ended.wait()
        finally:
            sys.setprofile(None)
        assert all(each.cancelled() for each in made)
        return count


def test_four_times_as_many_tasks_cost_four_times_as_much() -> None:
    few, many = (asyncio.run(calls_to_cancel(tasks)) for tasks in (500, 2000))

    assert many < 5 * few
