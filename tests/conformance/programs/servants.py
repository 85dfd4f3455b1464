"""The rules of conformance.mfidl in Python, as a plain servant and as one of coroutines. cpp/servants.cpp is
the same in C++.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator

from conformance import (
    Missing,
    Refused,
    ShapesAsyncClient,
    ShapesAsyncServant,
    ShapesClient,
    ShapesServant,
)

import mf

LARGEST = 1_000_000_000
MOMENT = 0.002


def doubled(x: int) -> int:
    if x < 0:
        raise Refused("it is negative", x)
    if x == 1000:
        raise Missing(1 << 40)
    if x == 1001:
        raise RuntimeError("out of luck")
    return 2 * x


def seen_by_handler() -> list[str]:
    call = mf.current_call()
    call.set_reply_metadata("entries", str(len(call.metadata)))
    brief = "short" if call.deadline_left < 20 else "long"
    return [brief, *sorted(f"{key}={value}" for key, value in call.metadata.items())]


def numbers(to: int, breaks_at: int) -> Iterator[int]:
    for number in range(to):
        if number == breaks_at:
            raise Refused("it breaks", number)
        yield number


def checked(value: int) -> int:
    if value > LARGEST:
        raise Refused("it is too large", value)
    return value


class PlainRoom(ShapesServant):
    """`nested`: by which it calls itself."""

    def __init__(self, name: str, nested: Callable[[], mf.Client]) -> None:
        self._name = name
        self._nested = nested
        self._log: list[str] = []

    def twice(self, x: int) -> int:
        return doubled(x)

    def kept(self, x: int) -> int:
        self._log.append(f"kept {x}")
        return doubled(x)

    def put(self, x: int) -> int:
        self._log.append(f"put {x}")
        time.sleep(MOMENT)
        self._log.append(f"done {x}")
        return doubled(x)

    def note(self, x: int) -> None:
        self._log.append(f"note {x}")

    def log(self) -> list[str]:
        return list(self._log)

    def clear(self) -> None:
        self._log.clear()

    def linger(self) -> int:
        self._log.append("began")
        while not mf.current_call().cancelled:
            time.sleep(0.001)
        self._log.append("asked to stop")
        return 1

    def count(self, to: int, breaks_at: int) -> Iterator[int]:
        yield from numbers(to, breaks_at)

    def texts(self, size: int, number: int) -> Iterator[str]:
        for index in range(number):
            yield "abcdefgh"[index] * size

    def sum(self, start: int, values: Iterator[int]) -> int:
        self._log.append("began")
        while True:
            try:
                value = next(values, None)
            except BaseException:
                self._log.append("cut off")
                raise
            if value is None:
                return start
            start += checked(value)

    def first(self, number: int, values: Iterator[int]) -> int:
        return sum(value for _, value in zip(range(number), values, strict=False))

    def echo(self, values: Iterator[str]) -> Iterator[str]:
        for value in values:
            if value == "bad":
                raise Refused("it is bad", 0)
            yield f"{self._name}:{value}"

    def endless(self) -> Iterator[int]:
        self._log.append("began")
        number = 0
        try:
            while not mf.current_call().cancelled:
                yield number
                number += 1
        finally:
            self._log.append("asked to stop")

    def seen(self) -> list[str]:
        return seen_by_handler()

    def seen_stream(self) -> Iterator[str]:
        yield from seen_by_handler()

    def relay(self) -> list[str]:
        return ShapesClient(self._nested()).at(self._name).seen()


class AsyncRoom(ShapesAsyncServant):
    """The same, awaited."""

    def __init__(self, name: str, nested: Callable[[], mf.AsyncClient]) -> None:
        self._name = name
        self._nested = nested
        self._log: list[str] = []

    async def twice(self, x: int) -> int:
        return doubled(x)

    async def kept(self, x: int) -> int:
        self._log.append(f"kept {x}")
        return doubled(x)

    async def put(self, x: int) -> int:
        self._log.append(f"put {x}")
        await asyncio.sleep(MOMENT)
        self._log.append(f"done {x}")
        return doubled(x)

    async def note(self, x: int) -> None:
        self._log.append(f"note {x}")

    async def log(self) -> list[str]:
        return list(self._log)

    async def clear(self) -> None:
        self._log.clear()

    async def linger(self) -> int:
        self._log.append("began")
        try:
            await asyncio.Event().wait()
        finally:
            self._log.append("asked to stop")
        return 1

    async def count(self, to: int, breaks_at: int) -> AsyncIterator[int]:
        for number in numbers(to, breaks_at):
            yield number

    async def texts(self, size: int, number: int) -> AsyncIterator[str]:
        for index in range(number):
            yield "abcdefgh"[index] * size

    async def sum(self, start: int, values: AsyncIterator[int]) -> int:
        self._log.append("began")
        while True:
            try:
                value = await anext(values, None)
            except BaseException:
                self._log.append("cut off")
                raise
            if value is None:
                return start
            start += checked(value)

    async def first(self, number: int, values: AsyncIterator[int]) -> int:
        return sum([await anext(values) for _ in range(number)])

    async def echo(self, values: AsyncIterator[str]) -> AsyncIterator[str]:
        async for value in values:
            if value == "bad":
                raise Refused("it is bad", 0)
            yield f"{self._name}:{value}"

    async def endless(self) -> AsyncIterator[int]:
        self._log.append("began")
        number = 0
        try:
            while True:
                yield number
                number += 1
        finally:
            self._log.append("asked to stop")

    async def seen(self) -> list[str]:
        return seen_by_handler()

    async def seen_stream(self) -> AsyncIterator[str]:
        for each in seen_by_handler():
            yield each

    async def relay(self) -> list[str]:
        return await ShapesAsyncClient(self._nested()).at(self._name).seen()


ROOMS = ("red", "blue")
