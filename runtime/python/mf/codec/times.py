"""R1. Points in time and spans of it, as the wire has them: whole nanoseconds in 64 bits.

`datetime` keeps microseconds only, so these are integers with converters, which alone import it; arithmetic
gives plain integers.
"""

from time import time_ns
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime, timedelta

_NS_PER_US: Final = 1_000
_NS_PER_S: Final = 1_000_000_000


def _microseconds(delta: "timedelta") -> int:
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def _shown(time: int) -> str:
    try:
        return f"{type(time).__name__}({int(time)})"
    except ValueError:  # of thousands of digits
        return f"{type(time).__name__}({hex(time)})"


class Duration(int):
    """Nanoseconds."""

    __slots__ = ()

    @classmethod
    def from_seconds(cls, seconds: float) -> "Duration":
        """As long as `seconds`, to the nearest nanosecond."""
        return cls(round(seconds * _NS_PER_S))

    @classmethod
    def from_timedelta(cls, delta: "timedelta") -> "Duration":
        """As long as `delta`, which has whole microseconds."""
        return cls(_microseconds(delta) * _NS_PER_US)

    def to_seconds(self) -> float:
        """Rounded to the next float."""
        return self / _NS_PER_S

    def to_timedelta(self) -> "timedelta":
        """Cut to microseconds."""
        from datetime import timedelta

        return timedelta(microseconds=self // _NS_PER_US)

    def __repr__(self) -> str:
        return _shown(self)


class Timestamp(int):
    """Nanoseconds since 1970-01-01 UTC."""

    __slots__ = ()

    @classmethod
    def now(cls) -> "Timestamp":
        """What the system's clock says."""
        return cls(time_ns())

    @classmethod
    def from_datetime(cls, moment: "datetime") -> "Timestamp":
        """`moment` must know its time zone."""
        if moment.tzinfo is None:
            raise ValueError(
                f"{moment!r} has no time zone; say which is meant, for instance tzinfo=datetime.UTC"
            )
        from datetime import UTC, datetime

        return cls(_microseconds(moment - datetime(1970, 1, 1, tzinfo=UTC)) * _NS_PER_US)

    def to_datetime(self) -> "datetime":
        """In UTC, cut to microseconds."""
        from datetime import UTC, datetime, timedelta

        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self // _NS_PER_US)

    def __repr__(self) -> str:
        return _shown(self)
