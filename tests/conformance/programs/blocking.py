"""The steps of a client that blocks: a method a verb."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from conformance import ShapesClient, ShapesPutRequest, ShapesTwiceRequest
from words import Json, ManualClock, Words, expanded, failed, outcome, outcomes, scattered, shortened

import mf

T = TypeVar("T")
MANY = 10_000_000
PATIENCE = 5.0


class LeftError(Exception):
    """Of a caller that gives up in the middle of the values that it writes."""


def ended(call: Callable[[], T]) -> mf.Outcome[T]:
    try:
        return mf.Outcome(call())
    except (mf.Error, mf.DeclaredError) as failure:
        return mf.Outcome(error=failure)


def taken(stream: Iterable[T], values: list[T]) -> Json:
    """Takes all values, and returns how it ended: also after a failure, values that came before it are
    kept."""
    try:
        values.extend(iter(stream))
    except mf.MfError as failure:
        return failed(failure)
    return {"value": None}


class Blocking:
    def __init__(self, open_client: Callable[[], mf.Client], clock: ManualClock) -> None:
        self._open = open_client
        self._clock = clock
        self._stub = ShapesClient(open_client())

    def _at(self, words: Words) -> ShapesClient:
        return self._stub.at(words.agent)

    def twice(self, words: Words) -> Json:
        return outcome(ended(lambda: self._at(words).twice(words.numbers[0], options=words.options)))

    def kept(self, words: Words) -> Json:
        return outcome(ended(lambda: self._at(words).kept(words.numbers[0], options=words.plain_options)))

    def forget(self, words: Words) -> Json:
        self._at(words).kept_forget(words.numbers[0])
        return {"value": None}

    def forget_agent(self, words: Words) -> Json:
        self._at(words).kept_cache().forget_agent()
        return {"value": None}

    def forget_all(self, words: Words) -> Json:
        self._at(words).kept_cache().forget_all()
        return {"value": None}

    def later(self, words: Words) -> Json:
        self._clock.now += words.numbers[0]
        return {"value": None}

    def cache(self, words: Words) -> Json:
        stats = self._at(words).kept_cache().stats()
        return {"entries": stats.entries, "bytes": stats.bytes}

    def batch(self, words: Words) -> Json:
        requests = [ShapesTwiceRequest(x) for x in words.numbers]
        return self._all(
            lambda: self._at(words).twice_batch(requests, options=mf.BatchOptions(size=2)).results()
        )

    def bulk(self, words: Words) -> Json:
        requests = [ShapesTwiceRequest(x) for x in words.numbers]
        return self._all(lambda: self._at(words).twice_bulk(requests, options=words.options))

    def put(self, words: Words) -> Json:
        requests = [ShapesPutRequest(x) for x in words.numbers]
        return self._all(lambda: self._at(words).put_batch(requests).results())

    def put_bulk(self, words: Words) -> Json:
        requests = [ShapesPutRequest(x) for x in words.numbers]
        return self._all(lambda: self._at(words).put_bulk(requests, options=words.options))

    def _all(self, call: Callable[[], list[mf.Outcome[int]]]) -> Json:
        got = ended(call)
        return outcomes(got.value()) if got.error is None else failed(got.error)

    def oneway(self, words: Words) -> Json:
        def send() -> None:
            for number in words.numbers:
                self._at(words).note(number, options=words.options)

        return outcome(ended(send))

    def scatter(self, words: Words) -> Json:
        rooms = words.agent.split(",")
        return scattered(self._stub.on(rooms).twice(words.numbers[0], options=words.options))

    def linger(self, words: Words) -> Json:
        return outcome(ended(lambda: self._at(words).linger(options=words.options)))

    def unreachable(self, words: Words) -> Json:
        nobody = ShapesClient(mf.Client("tcp://127.0.0.1:1")).at("red")
        return outcome(ended(lambda: nobody.twice(1, options=words.options)))

    def bad_key(self, words: Words) -> Json:
        words.metadata["Tenant"] = "x"
        return outcome(ended(lambda: self._at(words).twice(1, options=words.options)))

    def seen(self, words: Words) -> Json:
        seen = outcome(ended(lambda: self._at(words).seen(options=words.options)))
        return {"seen": seen, "reply": words.reply.get("entries")}

    def relay(self, words: Words) -> Json:
        seen = outcome(ended(lambda: self._at(words).relay(options=words.options)))
        return {"seen": seen, "reply": words.reply.get("entries")}

    def seen_stream(self, words: Words) -> Json:
        values: list[str] = []
        end = taken(self._at(words).seen_stream(options=words.options), values)
        return {"seen": {"values": values, "end": end}, "reply": words.reply.get("entries")}

    def count(self, words: Words) -> Json:
        values: list[int] = []
        end = taken(self._at(words).count(*words.numbers, options=words.options), values)
        return {"count": len(values), "sum": sum(values), "end": end}

    def texts(self, words: Words) -> Json:
        values: list[str] = []
        end = taken(self._at(words).texts(*words.numbers, options=words.options), values)
        return {"values": [shortened(each) for each in values], "end": end}

    def endless(self, words: Words) -> Json:
        return taken(self._at(words).endless(options=words.options), [])

    def leave_stream(self, words: Words) -> Json:
        with self._at(words).endless(options=words.options) as stream:
            values = [next(stream) for _ in range(words.numbers[0])]
        return {"values": values, "end": {"value": None}}

    def sum(self, words: Words) -> Json:
        start, *values = words.numbers
        return outcome(ended(lambda: self._at(words).sum(start, values, options=words.options)))

    def sum_below(self, words: Words) -> Json:
        values = range(words.numbers[0])
        return outcome(ended(lambda: self._at(words).sum(0, values, options=words.options)))

    def first(self, words: Words) -> Json:
        given = 0

        def sevens() -> Iterator[int]:
            nonlocal given
            while given < MANY:
                given += 1
                yield 7

        end = outcome(ended(lambda: self._at(words).first(words.numbers[0], sevens(), options=words.options)))
        return {"end": end, "held back": given < MANY}

    def leave_write(self, words: Words) -> Json:
        def values() -> Iterator[int]:
            yield from range(words.numbers[0])
            # On a thread of its own: in light this one may run the loop of the handler.
            with ThreadPoolExecutor(1) as pool:
                pool.submit(self._wait_for_log, words.agent, 1).result()
            raise LeftError

        try:
            return outcome(ended(lambda: self._at(words).sum(0, values(), options=words.options)))
        except LeftError:
            return {"value": None}

    def echo(self, words: Words) -> Json:
        values: list[str] = []
        try:
            with self._at(words).echo(options=words.options) as stream:
                for word in words.arguments:
                    stream.write(expanded(word))
                    values.append(shortened(next(stream)))
                stream.done_writing()
                values.extend(map(shortened, stream))
        except mf.MfError as failure:
            return {"values": values, "end": failed(failure)}
        return {"values": values, "end": {"value": None}}

    def write_after_end(self, words: Words) -> Json:
        with self._at(words).echo(options=words.options) as stream:
            for word in words.arguments:
                stream.write(word)
            stream.done_writing()
            write = outcome(ended(lambda: stream.write("late")))
            values: list[str] = []
            end = taken(stream, values)
        return {"values": values, "write": write, "end": end}

    def stall(self, words: Words) -> Json:
        to = self._at(words)
        stream = to.count(words.numbers[0], words.numbers[0], options=words.options)
        first = next(stream)
        meanwhile = outcome(ended(lambda: to.twice(21)))
        values: list[int] = []
        end = taken(stream, values)
        return {"first": first, "meanwhile": meanwhile, "count": len(values), "sum": sum(values), "end": end}

    def cancel_reading(self, words: Words) -> Json:
        stream = self._at(words).echo(options=words.options)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(stream.cancel)
            return outcome(ended(lambda: next(stream)))

    def idle(self, words: Words) -> Json:
        return outcome(ended(lambda: next(self._at(words).echo(options=words.options))))

    def log(self, words: Words) -> Json:
        return outcome(ended(lambda: self._log(words)))

    def _log(self, words: Words) -> list[str]:
        self._wait_for_log(words.agent, words.numbers[0])
        to = self._at(words)
        log = to.log()
        to.clear()
        return log

    def _wait_for_log(self, agent: str, events: int) -> None:
        until = time.monotonic() + PATIENCE
        while len(self._stub.at(agent).log()) < events and time.monotonic() < until:
            time.sleep(0.001)

    def clear(self, words: Words) -> Json:
        return outcome(ended(self._at(words).clear))

    def close_client(self, words: Words) -> Json:
        other = self._open()
        stream = ShapesClient(other).at(words.agent).endless()
        first = next(stream)
        other.close()
        ignored: list[Any] = []
        return {"first": first, "end": taken(stream, ignored)}
