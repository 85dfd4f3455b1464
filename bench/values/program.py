"""bench-values in Python: program.py FOLDER MEGABYTES (see main.cpp)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import later
import mf
import recorded


def sample(number: int) -> Any:
    return recorded.Sample(sensor=number, value=number / 3, state="running")


def page(number: int) -> Any:
    return recorded.Page(
        [
            recorded.Hit(
                doc=number * 100 + i,
                score=1 / (i + 1),
                title=f"a title of some length, number {i}",
                positions=[i, 3 * i, 300 * i],
                features=[0.5] * 20,
            )
            for i in range(100)
        ]
    )


def measure(folder: Path, name: str, make: Callable[[int], Any], size: int) -> dict[str, Any]:
    path, one, was = folder / f"{name}.mfv", make(7), f"recorded.{name}"
    kind, newer = getattr(recorded, name), getattr(later, name)
    begun, count = time.perf_counter(), 0
    with mf.ValueWriter(path, kind) as out:
        while count % 1_000 or path.stat().st_size < size:
            out.write(one)
            count += 1
    times = [time.perf_counter() - begun]

    def timed(work: Callable[[], int]) -> None:
        begun = time.perf_counter()
        if work() != count:
            raise SystemExit("values are missing")
        times.append(time.perf_counter() - begun)

    def read(kind: Any, was: str = "") -> int:
        with mf.ValueReader(path, kind, was=was) as values:
            return sum(1 for _ in values)

    def rewrite() -> int:
        with (
            mf.ValueReader(path, newer, was=was) as values,
            mf.ValueWriter(folder / f"{name}.later.mfv", newer) as out,
        ):
            written = 0
            for value in values:
                out.write(value)
                written += 1
            return written

    timed(lambda: read(kind))
    timed(lambda: read(newer, was))
    timed(rewrite)
    megabytes = path.stat().st_size / 1e6
    how = ("write", "read", "read by the later schema", "rewrite")
    return {"work": name} | {each: megabytes / spent for each, spent in zip(how, times, strict=True)}


def main(folder: str, megabytes: str) -> None:
    for name, make in (("Sample", sample), ("Page", page)):
        print(json.dumps(measure(Path(folder), name, make, int(megabytes) * 1_000_000)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
