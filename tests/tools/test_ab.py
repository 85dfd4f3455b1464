"""How two revisions of the benches are compared."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from ab import Rows, compare, rows_of, table

UNARY = ("unary_i32", "same-core", "mf", "median_us")
RATE = ("pipelined_128", "same-core", "mf", "requests_per_s")


def rounds(ours: tuple[Rows, ...], theirs: tuple[Rows, ...]) -> list[tuple[Rows, Rows]]:
    return list(zip(ours, theirs, strict=True))


def test_more_time_and_a_lower_rate_are_worse() -> None:
    slow: Rows = {UNARY: ("us", 11.0), RATE: ("1/s", 0.9e6)}
    fast: Rows = {UNARY: ("us", 10.0), RATE: ("1/s", 1.0e6)}

    assert [each.is_worse for each in compare(rounds((slow,) * 3, (fast,) * 3))] == [True, True]
    assert [each.is_worse for each in compare(rounds((fast,) * 3, (slow,) * 3))] == [False, False]


def test_one_slow_round_of_three_is_noise() -> None:
    usual: Rows = {UNARY: ("us", 10.0)}
    slow: Rows = {UNARY: ("us", 20.0)}

    [noisy] = compare(rounds((usual, slow, usual), (usual,) * 3))
    [worse] = compare(rounds((slow, slow, usual), (usual,) * 3))

    assert (noisy.ratio, noisy.is_worse) == (1.0, False)
    assert (worse.ratio, worse.is_worse) == (2.0, True)
    assert table([noisy, worse]).splitlines()[2].endswith("2.000  worse")


def test_rows_of_peers_and_of_one_revision_alone_are_left_out() -> None:
    row = {"work": "unary_i32", "placement": "same-core", "metric": "median_us", "unit": "us", "value": 9.0}
    rows = rows_of(json.dumps([row | {"system": "mf"}, row | {"system": "raw"}, row | {"system": "ice"}]))

    assert rows == {UNARY: ("us", 9.0)}
    assert compare([(rows, {})]) == []
