"""Many single calls without a task for each: their order, how many are open, and each outcome."""

import asyncio
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import pytest

import mf
from mf.client.volley import Shot, Volley
from mf.core.service import Method
from mf.core.target import AsyncTarget
from tests.python.conftest import AsyncRecorder
from tests.python.echo import ECHO, ECHO_SERVICE, FLAKY, NOTE, SLEEP, TWICE

DEADLINE = 20.0


class Counting(AsyncRecorder):
    """Answers `flaky` when it is let go."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.notes: list[int] = []
        self.most = 0
        self.open = 0
        self.go = asyncio.Event()

    async def note(self, x: int) -> None:
        self.notes.append(x)

    async def flaky(self, x: int) -> int:
        self.begun.append(x)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await self.go.wait()
        finally:
            self.open -= 1
        return x


def shots(
    target: AsyncTarget, method: Method[Any, Any], *values: Any, moment: float | None = None
) -> list[tuple[float | None, Shot]]:
    return [(moment, Shot(target, method, (each,), each)) for each in values]


class Ended:
    """Outcomes in the order in which they came, with what the calls were of."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, Any]] = []

    def __call__(self, shot: Shot) -> None:
        failure = shot.failed()
        if failure is None:
            self.found.append((shot.what, None if shot.method.oneway else shot.value()))
        else:
            code = failure.code.name if isinstance(failure, mf.Error) else type(failure).__name__
            self.found.append((shot.what, code))


async def served(body: "Callable[[Counting, AsyncTarget, mf.AsyncServer], Any]", **options: Any) -> None:
    servant = Counting()
    server = mf.AsyncServer(options=mf.ServerOptions(**({"drain_timeout": 2.0} | options)))
    server.offer(servant, "a")
    async with server, mf.AsyncClient(server.address) as client:
        await body(servant, client.async_target(ECHO_SERVICE).at("a"), server)


def test_each_call_ends_once_in_its_own_way() -> None:
    async def body(_: Counting, target: AsyncTarget, __: mf.AsyncServer) -> None:
        ended = Ended()
        volley = Volley(ended, 64, DEADLINE)
        await volley.fire(shots(target, TWICE, *range(-50, 1000)))
        assert sorted(ended.found) == [(x, "Negative" if x < 0 else 2 * x) for x in range(-50, 1000)]
        assert volley.given_up == 0

    asyncio.run(served(body))


def test_they_begin_in_order_and_few_are_open() -> None:
    async def body(servant: Counting, target: AsyncTarget, _: mf.AsyncServer) -> None:
        ended = Ended()
        firing = asyncio.ensure_future(Volley(ended, 8, DEADLINE).fire(shots(target, FLAKY, *range(40))))
        while len(servant.begun) < 8:
            await asyncio.sleep(0)
        servant.go.set()
        await firing
        assert servant.begun == list(range(40))
        assert servant.most == 8
        assert sorted(ended.found) == [(x, x) for x in range(40)]

    asyncio.run(served(body))


def test_oneway_calls_have_ended_when_they_are_sent() -> None:
    async def body(servant: Counting, target: AsyncTarget, _: mf.AsyncServer) -> None:
        ended = Ended()
        await Volley(ended, 8, DEADLINE).fire([*shots(target, NOTE, *range(20)), *shots(target, TWICE, 1)])
        assert ended.found == [*((x, None) for x in range(20)), (1, 2)]
        while len(servant.notes) < 20:
            await asyncio.sleep(0)
        assert servant.notes == list(range(20))

    asyncio.run(served(body))


def test_one_that_cannot_be_sent_is_an_outcome() -> None:
    async def body(_: Counting, target: AsyncTarget, __: mf.AsyncServer) -> None:
        ended = Ended()
        large = b"x" * 5000
        await Volley(ended, 8, DEADLINE).fire([*shots(target, ECHO, b"1", large), *shots(target, TWICE, 2)])
        assert sorted(ended.found, key=str) == [(2, 4), (b"1", b"1"), (large, "MESSAGE_TOO_LARGE")]

    asyncio.run(served(body, max_payload=4096))


def test_refused_calls_are_made_again_as_others_are() -> None:
    async def body(servant: Counting, target: AsyncTarget, server: mf.AsyncServer) -> None:
        ended = Ended()
        servant.go.set()
        await Volley(ended, 50, DEADLINE).fire(shots(target, SLEEP, *(0.0 for _ in range(200))))
        assert len(ended.found) == 200
        assert server.stats().refused > 0
        codes = {code for _, code in ended.found}
        assert codes <= {0.0, "OVERLOADED"}
        assert 0.0 in codes

    asyncio.run(served(body, limit=mf.Limit(4, queued=0)))


def test_a_server_that_is_not_there_fails_each() -> None:
    async def main() -> None:
        ended = Ended()
        async with mf.AsyncClient("tcp://127.0.0.1:9") as client:
            target = client.async_target(ECHO_SERVICE).at("a")
            await Volley(ended, 4, 0.1).fire(shots(target, TWICE, *range(9)))
        assert sorted(ended.found) == [(x, "UNAVAILABLE") for x in range(9)]

    asyncio.run(main())


def test_a_connection_that_ends_is_an_outcome_of_each_in_flight() -> None:
    async def body(servant: Counting, target: AsyncTarget, server: mf.AsyncServer) -> None:
        ended = Ended()
        once = copy(FLAKY)
        once.idempotent = False  # what may have run is not repeated
        firing = asyncio.ensure_future(Volley(ended, 8, DEADLINE).fire(shots(target, once, *range(8))))
        while len(servant.begun) < 8:
            await asyncio.sleep(0)
        await server.stop()
        await firing
        assert sorted(ended.found) == [(x, ended.found[0][1]) for x in range(8)]
        assert ended.found[0][1] in ("CONNECTION_LOST", "CANCELLED", "SHUTTING_DOWN", "UNAVAILABLE")

    asyncio.run(served(body, drain_timeout=0.01))


def test_cancelling_gives_up_what_is_in_flight_also_at_the_server() -> None:
    async def body(servant: Counting, target: AsyncTarget, _: mf.AsyncServer) -> None:
        ended = Ended()
        volley = Volley(ended, 8, DEADLINE)
        calls = [*shots(target, TWICE, 1), *shots(target, FLAKY, *range(40))]
        firing = asyncio.ensure_future(volley.fire(calls))
        while servant.open < 7 or not ended.found:
            await asyncio.sleep(0)
        open_ = servant.open
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing
        assert ended.found == [(1, 2)]
        assert volley.given_up == open_
        while servant.open:
            await asyncio.sleep(0)

    asyncio.run(served(body))


def test_what_the_source_or_the_callback_raises_ends_it() -> None:
    async def body(_: Counting, target: AsyncTarget, __: mf.AsyncServer) -> None:
        def source() -> Iterator[tuple[float | None, Shot]]:
            yield from shots(target, FLAKY, 1, 2)
            raise RuntimeError("the source")

        volley = Volley(Ended(), 8, DEADLINE)
        with pytest.raises(RuntimeError, match="the source"):
            await volley.fire(source())
        assert volley.given_up == 2

        def refuses(shot: Shot) -> None:
            if shot.what == 5:
                raise RuntimeError("the callback")

        with pytest.raises(RuntimeError, match="the callback"):
            await Volley(refuses, 4, DEADLINE).fire(shots(target, TWICE, *range(1000)))

    asyncio.run(served(body))


def test_those_with_a_moment_wait_for_it() -> None:
    async def body(_: Counting, target: AsyncTarget, __: mf.AsyncServer) -> None:
        dues: list[float] = []
        volley = Volley(lambda shot: dues.append(shot.due), 8, DEADLINE)
        made = [*shots(target, TWICE, 1, moment=0.0), *shots(target, TWICE, 2, moment=0.002)]
        await volley.fire(made, 1000.0)
        assert dues == [1000.0, 1000.002]
        assert volley.late > 0.0

    asyncio.run(served(body))


def test_a_deadline_ends_a_call() -> None:
    async def body(_: Counting, target: AsyncTarget, __: mf.AsyncServer) -> None:
        ended = Ended()
        await Volley(ended, 8, 0.02).fire(shots(target, FLAKY, 1, 2))
        assert sorted(ended.found) == [(1, "DEADLINE_EXCEEDED"), (2, "DEADLINE_EXCEEDED")]

    asyncio.run(served(body))


def test_a_target_that_has_no_connection_is_refused() -> None:
    async def main() -> None:
        light = mf.Light()
        async with mf.AsyncClient(light) as client:
            with pytest.raises(TypeError, match="over a connection"):
                Shot(client.async_target(ECHO_SERVICE).at("a"), TWICE, (1,), None)

    asyncio.run(main())
