"""What bench/rpc/commands.hpp is for C++: how a client program is controlled, and how works are timed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from time import perf_counter

Metrics = dict[str, float]
Run = Callable[[], Metrics]
Work = Callable[[int], Run]


def check(holds: bool, what: str = "a wrong answer") -> None:
    """Ends the bench after a wrong answer, which makes every figure worthless."""
    if not holds:
        sys.exit(f"bench: {what}")


def name_of(i: int) -> str:
    """The text of request i, always 16 characters."""
    return f"item-{i:011d}"


def one_by_one(count: int, call: Callable[[int], object]) -> Metrics:
    times: list[float] = []
    before = perf_counter()
    for i in range(count):
        call(i)
        after = perf_counter()
        times.append(after - before)
        before = after
    return quantiles(times)


def quantiles(times: list[float]) -> Metrics:
    count = len(times)
    times.sort()
    return {"median_us": times[count // 2] * 1e6, "p99_us": times[count - 1 - count // 100] * 1e6}


def all_at_once(count: int, calls: Callable[[], object]) -> Metrics:
    start = perf_counter()
    calls()
    seconds = perf_counter() - start
    return {"ms": seconds * 1e3, "requests_per_s": count / seconds}


def echoes(count: int, size: int, echo: Callable[[], object]) -> Metrics:
    metrics = one_by_one(count, lambda _: echo())
    return {**metrics, "mb_per_s": size / metrics["median_us"]}


VALUE_SIZE = 100  # of a stream's values


def streamed(count: int, values: Callable[[], object]) -> Metrics:
    start = perf_counter()
    values()
    return {"values_per_s": count / (perf_counter() - start)}


def obey(works: Mapping[str, Work]) -> None:
    """Executes the commands of bench/run.py until stdin ends."""
    for line in sys.stdin:
        name, count = line.split()
        work = works.get(name)
        if work is None:
            print("none", flush=True)
            continue
        work(max(int(count) // 10, 1))()
        run = work(int(count))
        print("ready", flush=True)
        if not sys.stdin.readline():
            return
        print(json.dumps(run()), flush=True)


def serve_until_stdin_ends(port: int) -> None:
    print(port, flush=True)
    sys.stdin.read()
