"""The rows of the benches."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from harness.rows import Samples, unit_of


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("median_us", "us"),
        ("quiet_p99_us", "us"),
        ("cpu_us_per_message", "us"),
        ("seconds_per_million", "s"),
        ("longest_gap_ms", "ms"),
        ("requests_per_s", "1/s"),
        ("mb_per_s", "MB/s"),
        ("goodput_percent", "%"),
        ("instance_bytes", "bytes"),
        ("reply", "bytes"),
        ("failed_calls", ""),
    ],
)
def test_the_name_of_a_metric_says_its_unit(metric: str, unit: str) -> None:
    assert unit_of(metric) == unit


def test_a_row_has_the_median_and_the_unit() -> None:
    samples = Samples()
    for value in (30.0, 10.0, 20.0):
        samples.add("attacked_syn", "unpinned", "mf", {"quiet_p99_us": value})

    (row,) = samples.rows()

    assert (row.value, row.min, row.max, row.unit) == (20.0, 10.0, 30.0, "us")
