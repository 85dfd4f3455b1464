"""Each way to call, blocking and awaited, takes metadata and the deadline to the handler of each item."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from mf.core.service import Method
from tests.python.conftest import Recorder, Served, eventually
from tests.python.echo import ECHO_SERVICE, NOTE, TWICE, Number

WAYS = ["call", "call again", "bulk", "batch", "scatter"]
SENT = {"tenant": "acme"}


class Seeing(Recorder):
    """Records the metadata and the deadline of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[dict[str, str], float]] = []

    def twice(self, x: int) -> int:
        self._see()
        return x * 2

    def note(self, x: int) -> None:  # noqa: ARG002
        self._see()

    def _see(self) -> None:
        call = mf.current_call()
        self.seen.append((dict(call.metadata), call.deadline))


@pytest.fixture
def seeing() -> Iterator[tuple[Served, Seeing]]:
    one, servant = Served(), Seeing()
    one.server.offer(servant, agent="seeing")
    yield one, servant
    one.close()


def blocking(address: str, way: str, method: Method[Any, Any], asked: dict[str, Any]) -> Any:
    with mf.Client(address) as client:
        target = client.target(ECHO_SERVICE).at("seeing")
        calls: dict[str, Callable[[], Any]] = {
            "call": lambda: target.call(method, mf.CallOptions(**asked), 1),
            "bulk": lambda: target.bulk(method, [Number(1), Number(2)], mf.CallOptions(**asked)),
            "batch": lambda: target.batch(method, [Number(1), Number(2)], mf.BatchOptions(**asked)).results(),
            "scatter": lambda: target.on(["seeing"]).call(method, mf.CallOptions(**asked), 1).ok,
        }
        if way == "call again":
            target.call(TWICE, None, 1)
            way = "call"
        return calls[way]()


def awaited(address: str, way: str, method: Method[Any, Any], asked: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with mf.AsyncClient(address) as client:
            target = client.async_target(ECHO_SERVICE).at("seeing")
            if way == "bulk":
                return await target.bulk(method, [Number(1), Number(2)], mf.CallOptions(**asked))
            if way == "batch":
                return await target.batch(method, [Number(1), Number(2)], mf.BatchOptions(**asked))
            if way == "scatter":
                return (await target.on(["seeing"]).call(method, mf.CallOptions(**asked), 1)).ok
            if way == "call again":
                await target.call(TWICE, None, 1)
            return await target.call(method, mf.CallOptions(**asked), 1)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "asked", [{"metadata": SENT}, {"deadline": 50.0}, {"metadata": SENT, "deadline": 50.0}]
)
@pytest.mark.parametrize("method", [TWICE, NOTE], ids=["with a result", "one-way"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("driver", [blocking, awaited])
def test_the_handler_has_the_metadata_and_the_deadline_of_the_call(
    seeing: tuple[Served, Seeing],
    driver: Callable[..., Any],
    way: str,
    method: Method[Any, Any],
    asked: dict[str, Any],
) -> None:
    served, servant = seeing
    items = 2 if way in ("bulk", "batch") else 1
    others = 1 if way == "call again" else 0
    begun = time.monotonic()

    result = driver(served.server.address, way, method, asked)

    assert eventually(lambda: len(servant.seen) == items + others)
    ended = time.monotonic()
    seconds = asked.get("deadline", 30.0)
    for metadata, deadline in servant.seen[others:]:
        assert metadata == asked.get("metadata", {})
        assert begun + seconds <= deadline <= ended + seconds * 1.001  # a word of 16 bits is rounded up
    value = None if method is NOTE else 2
    if way in ("bulk", "batch"):
        assert [outcome.value() for outcome in result] == [value, value and 4]
    else:
        assert result == ({"seeing": value} if way == "scatter" else value)
