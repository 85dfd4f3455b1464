"""What clients do in a run: each step of their plans, written down as it begins and as it ends."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from log import Asked
from plan import PLACES, Step
from simulation import Refused, WorkAgainRequest, WorkPlainRequest
from world import World

import mf

DEFAULT_DEADLINE = 30.0
PROBE_DEADLINE = 5.0


class Client:
    """One client of a run."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._log = world.log
        self._name = name
        self._number = int(name[1:])
        self._stub = world.stubs[name]
        self._orders: dict[str, int] = {}

    async def work(self, steps: list[Step]) -> None:
        """Begins each step when it is its turn, whether or not those before it have ended."""
        tasks = []
        for step in steps:
            await asyncio.sleep(step.pause)
            task = asyncio.create_task(self._take(step))
            tasks.append(task)
            if step.gives_up_after is not None:
                self._world.loop.call_later(step.gives_up_after, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def probe(self) -> None:
        """When all is well again, a call succeeds."""
        for place in PLACES:
            step = Step("plain", 0.0, place, PROBE_DEADLINE)
            asked = self._ask(step, "plain")
            await self._single(step, asked)
            for _, end in asked.ends:
                if isinstance(end, Exception):
                    self._log.troubles.append(f"all is well, and {self._name} fails at {place}: {end!r}")

    def _ask(self, step: Step, method: str) -> Asked:
        now = self._world.now()
        limit = now + (DEFAULT_DEADLINE if step.deadline is None else step.deadline)
        if step.gives_up_after is not None:
            limit = min(limit, now + step.gives_up_after)
        asked = Asked(
            next(self._world.calls),
            method,
            self._name,
            now,
            limit,
            refuse=step.refuse,
            size=step.size,
            gives_up=step.gives_up_after is not None,
        )
        asked.asked_at = len(self._log.lines)
        self._log.asked[asked.call] = asked
        self._log.write(now, f"{self._name} asks {method} {asked.call} of {step.place}, until {limit:.3f}")
        return asked

    async def _take(self, step: Step) -> None:
        await getattr(self, f"_{step.kind}")(step)

    async def _ended(self, asked: Asked, call: Coroutine[Any, Any, Any]) -> None:
        """Awaits it, and writes down how it ended."""
        end: object = None
        try:
            end = await call
        except mf.MfError as failure:
            end = failure
        except asyncio.CancelledError:
            if not asked.gives_up:
                self._log.troubles.append(f"{asked.method} {asked.call} was cancelled without a request")
            raise
        finally:
            self._log.end(asked, self._world.now(), end)

    # Calls

    async def _plain(self, step: Step) -> None:
        await self._single(step, self._ask(step, "plain"))

    async def _again(self, step: Step) -> None:
        await self._single(step, self._ask(step, "again"))

    async def _single(self, step: Step, asked: Asked) -> None:
        to = self._stub.at(step.place)
        function = to.again if asked.method == "again" else to.plain
        arguments = (asked.call, step.nap, step.refuse, bytes(step.filler))
        await self._ended(asked, function(*arguments, options=_options(step)))

    async def _tell(self, step: Step) -> None:
        asked = self._ask(step, "tell")
        order = self._orders[step.place] = self._orders.get(step.place, -1) + 1
        to = self._stub.at(step.place)
        await self._ended(asked, to.tell(asked.call, self._number, order, options=_options(step)))

    async def _batch(self, step: Step) -> None:
        options = mf.BatchOptions(deadline=step.deadline, size=max(step.size // 4, 1))
        asked = [self._ask(step, "again" if step.refuse else "plain") for _ in range(step.size)]
        to = self._stub.at(step.place)
        if step.refuse:
            again = [WorkAgainRequest(each.call, step.nap, True, b"") for each in asked]
            await self._all(asked, to.again_batch(again, options=options))
        else:
            plain = [
                WorkPlainRequest(each.call, step.nap, False, bytes(step.filler % 5000)) for each in asked
            ]
            await self._all(asked, to.plain_batch(plain, options=options))

    async def _bulk(self, step: Step) -> None:
        asked = [self._ask(step, "plain") for _ in range(step.size)]
        requests = [WorkPlainRequest(each.call, step.nap, step.refuse, b"") for each in asked]
        await self._all(asked, self._stub.at(step.place).plain_bulk(requests, options=_options(step)))

    async def _all(self, asked: list[Asked], call: Coroutine[Any, Any, list[mf.Outcome[int]]]) -> None:
        ends: Sequence[object] = [None] * len(asked)
        try:
            outcomes = await call
            ends = [_end(each) for each in outcomes]
            if len(ends) != len(asked):
                self._log.troubles.append(f"{len(asked)} items ended as {len(ends)}")
        except mf.MfError as failure:
            ends = [failure] * len(asked)
        finally:
            for each, end in zip(asked, ends, strict=False):
                self._log.end(each, self._world.now(), end)

    async def _scatter(self, step: Step) -> None:
        """One number for all: by what the agents gave, the rules see that each has a call of its own."""
        asked = self._ask(step, "scatter")
        places = tuple(PLACES)
        call = self._stub.on(places).again(asked.call, step.nap, step.refuse, b"", options=_options(step))
        parts: Mapping[str, mf.Outcome[int]] = {}
        try:
            parts = await call
        finally:
            now = self._world.now()
            self._log.end(asked, now, None)
        if tuple(parts) != places:
            self._log.troubles.append(f"scatter {asked.call} gave {tuple(parts)}")
        for place, outcome in parts.items():
            end = _end(outcome)
            self._log.write(now, f"{self._name} scatter {asked.call} at {place} ended: {type(end).__name__}")
            if isinstance(end, int) and (end != asked.call * 3 + 1 or step.refuse):
                self._log.troubles.append(f"scatter {asked.call} gave {end} at {place}")
            if isinstance(end, Refused) and (end.call != asked.call or not step.refuse):
                self._log.troubles.append(f"scatter {asked.call} was refused as {end.call} at {place}")

    # Streams

    async def _down(self, step: Step) -> None:
        asked = self._ask(step, "down")
        await self._ended(asked, self._read(step, asked, asked.size))

    async def _leave(self, step: Step) -> None:
        asked = self._ask(step, "down")
        asked.gives_up = True
        await self._ended(asked, self._read(step, asked, asked.size // 2))

    async def _read(self, step: Step, asked: Asked, most: int) -> int | None:
        to = self._stub.at(step.place)
        stream = to.down(asked.call, step.nap, step.size, step.refuse, options=_options(step))
        async with stream:
            while len(asked.values) < most or most == asked.size:
                try:
                    asked.values.append(await anext(stream))
                except StopAsyncIteration:
                    await self._look_behind(asked, stream)
                    return len(asked.values)
                except mf.MfError:
                    await self._look_behind(asked, stream)
                    raise
        return None

    async def _look_behind(self, asked: Asked, stream: AsyncIterator[int]) -> None:
        """No value may come any more."""
        with suppress(StopAsyncIteration, mf.MfError):
            asked.after_end.append(await anext(stream))

    async def _up(self, step: Step) -> None:
        asked = self._ask(step, "up")

        async def values() -> AsyncIterator[int]:
            for index in range(step.size):
                yield asked.call * 1000 + index

        to = self._stub.at(step.place)
        await self._ended(asked, to.up(asked.call, step.nap, values(), options=_options(step)))

    async def _both(self, step: Step) -> None:
        asked = self._ask(step, "both")
        await self._ended(asked, self._exchange(step, asked))

    async def _exchange(self, step: Step, asked: Asked) -> int:
        async with self._stub.at(step.place).both(asked.call, step.nap, options=_options(step)) as stream:
            for index in range(step.size):
                await stream.write(asked.call * 1000 + index)
                if index % 3 == 0:
                    await stream.flush()
                    asked.values.append(await anext(stream))
            await stream.done_writing()
            async for value in stream:
                asked.values.append(value)
            await self._look_behind(asked, stream)
        return len(asked.values)


def _options(step: Step) -> mf.CallOptions:
    return mf.CallOptions(deadline=step.deadline)


def _end(outcome: mf.Outcome[int]) -> object:
    return outcome.error if outcome.error is not None else outcome.value()
