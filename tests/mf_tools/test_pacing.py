"""Calls in an open loop: their order, how many are open at once, and what becomes of failures."""

import asyncio
from collections.abc import Iterator
from time import perf_counter

import pytest

from mf_tools.pacing import paced


class Ones:
    """What is paced: each waits until it is let go, if it is held."""

    def __init__(self, *, held: bool = False) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.dues: list[float] = []
        self.most = 0
        self._gate = asyncio.Event()
        self._held = held

    async def one(self, due: float, number: int) -> None:
        self.begun.append(number)
        self.dues.append(due)
        self.most = max(self.most, len(self.begun) - len(self.ended))
        try:
            if self._held:
                await self._gate.wait()
            else:
                await asyncio.sleep(0)
        finally:
            self.ended.append(number)


def test_all_begin_in_order_and_have_ended() -> None:
    ones = Ones()
    asyncio.run(paced(((None, number) for number in range(100)), ones.one, perf_counter(), 4, 100))
    assert ones.begun == list(range(100))
    assert sorted(ones.ended) == ones.begun
    assert ones.most == 4


def test_what_is_due_counts_from_then() -> None:
    ones = Ones()
    begun = perf_counter()
    moments = [0.0, 0.001, 0.002]
    late = asyncio.run(paced(((each, number) for number, each in enumerate(moments)), ones.one, begun, 9, 3))
    assert ones.dues == [begun + each for each in moments]
    assert late >= 0.0


def test_a_failure_of_what_is_called_ends_it() -> None:
    async def one(_: float, number: int) -> None:
        if number == 3:
            raise RuntimeError("number 3")
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="number 3"):
        asyncio.run(paced(((None, number) for number in range(10_000)), one, perf_counter(), 2, 10_000))


def test_a_failure_of_the_source_ends_those_that_run() -> None:
    ones = Ones(held=True)

    def source() -> Iterator[tuple[float | None, int]]:
        yield None, 0
        yield 0.01, 1  # the first has begun by then
        raise ValueError("line 3")

    with pytest.raises(ValueError, match="line 3"):
        asyncio.run(paced(source(), ones.one, perf_counter(), 9, 3))
    assert 0 in ones.begun
    assert ones.ended == ones.begun
