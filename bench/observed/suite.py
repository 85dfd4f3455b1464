"""What `make bench-observed` runs: what metrics, an interceptor and a log of 10,000 lines a second cost calls
(main.cpp describes the works)."""

from __future__ import annotations

from pathlib import Path

from harness.child import BenchError, output_of
from harness.rows import Samples

NAME = "observed"
CHART = {"light_call": "ns", "calls_that_log": "logged_p99_us"}

_LIMIT_SECONDS = 120.0
_WORKS = (  # the work of the program, its count and that of a short run, and what its numbers are
    ("light", "light_call", 5_000_000, 500_000, ("ns", "with_an_interceptor_ns", "with_client_metrics_ns")),
    ("metrics", "client_metrics", 5_000_000, 500_000, ("ns",)),
    ("write", "log_write", 50_000, 10_000, ("p50_us", "p99_us", "longest_us")),
    (
        "logged",
        "calls_that_log",
        50_000,
        10_000,
        ("quiet_p50_us", "quiet_p99_us", "logged_p50_us", "logged_p99_us", "above_quiet_p99_percent"),
    ),
    (
        "tapped",
        "calls_with_a_tap",
        100_000,
        20_000,
        tuple(f"{when}_ns" for when in ("untapped", "at_1_percent", "taken_off", "of_all")),
    ),
)


def run(build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    program = build / "bench/bench-observed"
    if not program.exists():
        raise BenchError(f"{program} is not there; `make bench-observed` builds it")
    for _ in range(1 if quick else 5):
        for work, name, count, few, metrics in _WORKS:
            answer = output_of([str(program), work, str(few if quick else count)], _LIMIT_SECONDS)
            numbers: list[float | None] = [float(word) for word in answer.split()]
            samples.add(name, "one process", "mf", dict(zip(metrics, numbers, strict=True)))
