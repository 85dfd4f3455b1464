"""The script of calls that every client makes; cpp/script.cpp is the same in C++.

Each shape is called with all its requests, in every mode, and what comes back is compared with the rules.
Methods without a result are compared by the notes that they leave: sorted, since calls may run side by side,
but in order for one-way methods, which promise it. `failures` holds what must go wrong, and how.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import chain, islice, repeat
from typing import Any

from checks import Checks, differ, differ_all, outcome_of
from interop import ShapesAsyncClient, ShapesBoundedRequest, ShapesClient, ShapesSlowRequest
from servant import Room

import mf
from values import Shape, shapes

ROOMS = ("red", "blue")
BATCH = 10


def expect(room: Room, shape: Shape, request: Any) -> mf.Outcome[Any]:
    """What the rules say, with failures as a caller sees them."""
    try:
        return mf.Outcome(getattr(room, shape.name)(*arguments(request)))
    except mf.DeclaredError as declared:
        return mf.Outcome(error=declared)
    except RuntimeError as raised:
        return mf.Outcome(error=mf.Error(mf.Code.HANDLER_FAILED, str(raised), mf.Execution.UNKNOWN))


def arguments(request: Any) -> list[Any]:
    return [getattr(request, name) for name in request.__match_args__]


def repeated(requests: list[Any], count: int) -> list[Any]:
    return list(islice(chain.from_iterable(repeat(requests)), count))


class Script:
    """`where`: what the client was made with. `way`: direct (one server, no controller), mf (through a
    controller) or light."""

    def __init__(self, client: mf.Client, where: str | mf.Light, way: str) -> None:
        self._where = where
        self._stub = ShapesClient(client)
        self._way = way
        self._rooms = {name: Room(name) for name in ROOMS}
        self._checks = Checks()

    def run(self) -> None:
        for name in ROOMS:
            self._check(f"who {name}", "single", partial(self._is_at, name))
        for shape in shapes():
            for name in ROOMS:
                self._shape(shape, name)
            self._scatter(shape, "on", lambda: self._stub.on(ROOMS))
            if self._way != "direct":
                self._scatter(shape, "everywhere", self._stub.everywhere)
        self._failures()

    def _check(self, name: str, mode: str, check: Callable[..., str | None]) -> None:
        self._checks.guarded(name, mode, check)

    def _is_at(self, name: str) -> str | None:
        return differ(mf.Outcome(name), outcome_of(self._stub.at(name).who))

    def _shape(self, shape: Shape, agent: str) -> None:
        room, to, name = self._rooms[agent], self._stub.at(agent), f"{shape.name} {agent}"

        def compare(requests: list[Any], call: Callable[[], list[mf.Outcome[Any]]]) -> str | None:
            expected = [expect(room, shape, request) for request in requests]
            return differ_all(expected, call()) or self._notes(shape, agent)

        def single() -> list[mf.Outcome[Any]]:
            function = getattr(to, shape.name)
            return [outcome_of(partial(function, *arguments(each))) for each in shape.requests]

        def together() -> list[mf.Outcome[Any]]:
            return asyncio.run(self._together(shape, agent, many))

        def batch() -> list[mf.Outcome[Any]]:
            options = mf.BatchOptions(size=3, window=2)
            call: mf.BatchCall[Any] = getattr(to, f"{shape.name}_batch")(many, options=options)
            return call.results()

        def batch_plain() -> list[mf.Outcome[Any]]:
            call: mf.BatchCall[Any] = getattr(to, f"{shape.name}_batch")(many)
            return call.results()

        def bulk() -> list[mf.Outcome[Any]]:
            outcomes: list[mf.Outcome[Any]] = getattr(to, f"{shape.name}_bulk")(many)
            return outcomes

        many = repeated(shape.requests, BATCH)
        self._check(name, "single", lambda: compare(shape.requests, single))
        self._check(name, "async", lambda: compare(many, together))
        self._check(name, "batch", lambda: compare(many, batch))
        self._check(f"{name}, default size", "batch", lambda: compare(many, batch_plain))
        self._check(name, "bulk", lambda: compare(many, bulk))

    async def _together(self, shape: Shape, agent: str, requests: list[Any]) -> list[mf.Outcome[Any]]:
        async with mf.AsyncClient(self._where) as client:
            function = getattr(ShapesAsyncClient(client).at(agent), shape.name)
            calls = (function(*arguments(each)) for each in requests)
            ended = await asyncio.gather(*calls, return_exceptions=True)
            # The notes are taken over another connection; this one starts after what came before it here.
            await ShapesAsyncClient(client).at(agent).who()
        outcomes: list[mf.Outcome[Any]] = []
        for end in ended:
            if isinstance(end, (mf.Error, mf.DeclaredError)):
                outcomes.append(mf.Outcome(error=end))
            elif isinstance(end, BaseException):
                raise end
            else:
                outcomes.append(mf.Outcome(end))
        return outcomes

    def _scatter(self, shape: Shape, mode: str, target: Callable[[], Any]) -> None:
        def check() -> str | None:
            for request in shape.requests:
                got: mf.Scattered[Any, Any] = getattr(target(), shape.name)(*arguments(request))
                if sorted(got) != sorted(ROOMS):
                    return f"agents {sorted(got)}"
                for agent, outcome in got.items():
                    expected = expect(self._rooms[agent], shape, request)
                    if problem := differ(expected, outcome) or self._notes(shape, agent):
                        return f"{agent}: {problem}"
            return None

        self._check(shape.name, mode, check)

    def _notes(self, shape: Shape, agent: str) -> str | None:
        expected, got = self._rooms[agent].take_notes(), self._stub.at(agent).take_notes()
        if not shape.name.startswith("note"):
            expected, got = sorted(expected), sorted(got)
        return None if expected == got else f"expected the notes {expected}, got {got}"

    # What must go wrong

    def _failures(self) -> None:
        to = self._stub.at("red")
        self._fails("a number out of range", mf.Code.INVALID_ARGUMENT, 0, lambda: to.bounded(11, "x"))
        self._fails("a text too long", mf.Code.INVALID_ARGUMENT, 0, lambda: to.bounded(1, "123456789"))
        held = ShapesBoundedRequest(10, "12345678")
        self._check(
            "bounds that hold", "failures", lambda: differ(mf.Outcome(10), to.bounded_bulk([held])[0])
        )
        invalid = [ShapesBoundedRequest(1, "a"), ShapesBoundedRequest(0, "a")]
        self._fails("an item too small, bulk", mf.Code.INVALID_ARGUMENT, 0, lambda: to.bounded_bulk(invalid))
        unknown = mf.Code.UNAVAILABLE if self._way == "mf" else mf.Code.UNKNOWN_AGENT
        nowhere = self._stub.at("nowhere")
        self._fails("an unknown agent", unknown, 0, nowhere.who)
        self._fails("an unknown agent, bulk", unknown, 0, lambda: nowhere.slow_bulk([ShapesSlowRequest(1)]))
        three = [ShapesSlowRequest(1)] * 3
        self._fails("an unknown agent, batch", unknown, 0, lambda: nowhere.slow_batch(three).results())
        scatter = self._stub.on(["nowhere"])
        self._fails("an unknown agent, scatter", unknown, 0, lambda: list(scatter.who().values()))
        if self._way != "light":
            self._deadlines()

    def _deadlines(self) -> None:
        """Servants that take far longer than the caller waits."""
        to, late, soon = self._stub.at("red"), mf.Code.DEADLINE_EXCEEDED, mf.CallOptions(deadline=0.25)
        long = [ShapesSlowRequest(60_000)] * 2
        self._fails("the deadline of a call", late, 1, lambda: to.slow(60_000, options=soon))
        self._fails("the deadline of the method", late, 1, lambda: to.slow(60_000))
        self._fails("a deadline, async", late, 1, lambda: asyncio.run(self._slow(soon)))
        batch = mf.BatchOptions(deadline=0.25)
        self._fails("a deadline, batch", late, 1, lambda: to.slow_batch(long, options=batch).results())
        self._fails("a deadline, bulk", late, 1, lambda: to.slow_bulk(long, options=soon))
        scatter = self._stub.on(["red"])
        self._fails("a deadline, scatter", late, 1, lambda: list(scatter.slow(60_000, options=soon).values()))
        self._check("after all that", "failures", lambda: self._is_at("red"))

    async def _slow(self, options: mf.CallOptions) -> int:
        async with mf.AsyncClient(self._where) as client:
            return await ShapesAsyncClient(client).at("red").slow(60_000, options=options)

    def _fails(self, name: str, code: mf.Code, execution: int, call: Callable[[], Any]) -> None:
        """Either the call fails so, or all of its outcomes do."""

        def check() -> str | None:
            ended = outcome_of(call)
            value = ended.value() if ended.ok else None
            outcomes = value if isinstance(value, list) else [ended]
            return self._all_failed(outcomes, code, execution)

        self._check(name, "failures", check)

    def _all_failed(self, outcomes: list[Any], code: mf.Code, execution: int) -> str | None:
        for outcome in outcomes:
            error = outcome.error if isinstance(outcome, mf.Outcome) else None
            if not isinstance(error, mf.Error) or (error.code, error.execution) != (code, execution):
                return f"expected {code.name}, {mf.Execution(execution).name}; got {outcome!r}"
        return None if outcomes else "no outcome at all"
