"""The small types and hashes of mf.codec, and numbers handed over as buffers."""

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from mf.codec import shape as s
from mf.codec.enums import OpenEnum
from mf.codec.hashing import hash37
from mf.codec.lookup import codec_of
from mf.codec.times import Duration, Timestamp


class Lang(OpenEnum):
    en = 0
    ko = 1


def test_an_unknown_number_of_an_open_enum_is_a_value() -> None:
    unknown = Lang(7)
    assert (unknown == 7, unknown.name, unknown.is_known) == (True, "unknown_7", False)
    assert Lang(1) is Lang.ko
    assert Lang.ko.is_known
    assert list(Lang) == [Lang.en, Lang.ko]
    not_a_number: Any = "ko"
    assert {unknown: "x"}[Lang(7)] == "x"
    with pytest.raises(ValueError, match="valid Lang"):
        Lang(not_a_number)


def test_now_is_what_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mf.codec.times.time_ns", lambda: 1_700_000_000_123_456_789)
    assert Timestamp.now() == Timestamp(1_700_000_000_123_456_789)
    assert type(Timestamp.now()) is Timestamp


def test_times_convert_both_ways() -> None:
    moment = datetime(2026, 11, 20, 19, 5, 0, 250, tzinfo=UTC)
    assert Timestamp.from_datetime(moment).to_datetime() == moment
    assert Timestamp.from_datetime(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1_000_000_000
    assert Duration.from_seconds(1.5) == 1_500_000_000
    assert Duration.from_timedelta(timedelta(days=-1, microseconds=3)).to_timedelta() == timedelta(
        days=-1, microseconds=3
    )
    assert Duration(2_500_000_000).to_seconds() == 2.5
    with pytest.raises(ValueError, match="time zone"):
        Timestamp.from_datetime(datetime(2026, 1, 1))


def test_hash37_is_the_report_s() -> None:
    assert hash37(b"") == 0
    assert hash37(b"\x01\x02") == 37 + 2
    assert hash37(b"\xff" * 8) == sum(255 * 37**power for power in range(8)) % 2**32


@pytest.mark.parametrize(
    "numbers",
    [
        [1.5, -2.0, 0.25],
        (1.5, -2.0, 0.25),
        array("d", [1.5, -2.0, 0.25]),
        np.array([1.5, -2.0, 0.25]),
        np.array([1.5, -2.0, 0.25], dtype="f4"),
        np.array([1.5, 9.0, -2.0, 9.0, 0.25])[::2],
        np.array([1.5, -2.0, 0.25], dtype=">f8"),
    ],
)
def test_floats_may_come_in_any_sequence_or_buffer(numbers: Any) -> None:
    for scalar in (s.F64, s.F32):
        codec = codec_of(s.List(scalar))
        assert codec.decode(codec.encode(numbers)) == [1.5, -2.0, 0.25]
