"""R1. Points in time and spans of it, as the wire has them: whole nanoseconds in 64 bits.

`datetime` keeps microseconds only, so these are integers with converters; arithmetic gives plain integers.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

_NS_PER_US: Final = 1_000
_NS_PER_S: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Duration(int):
    """Nanoseconds."""

    __slots__ = ()

    @classmethod
    def from_seconds(cls, seconds: float) -> "Duration":
        return cls(round(seconds * _NS_PER_S))

    @classmethod
    def from_timedelta(cls, delta: timedelta) -> "Duration":
        return cls(delta // _MICROSECOND * _NS_PER_US)

    def to_seconds(self) -> float:
        return self / _NS_PER_S

    def to_timedelta(self) -> timedelta:
        """Cut to microseconds."""
        return timedelta(microseconds=self // _NS_PER_US)

    def __repr__(self) -> str:
        return f"Duration({int(self)})"


class Timestamp(int):
    """Nanoseconds since 1970-01-01 UTC."""

    __slots__ = ()

    @classmethod
    def from_datetime(cls, moment: datetime) -> "Timestamp":
        """`moment` must know its time zone."""
        if moment.tzinfo is None:
            raise ValueError(
                f"{moment!r} has no time zone; say which is meant, for instance tzinfo=datetime.UTC"
            )
        return cls((moment - _EPOCH) // _MICROSECOND * _NS_PER_US)

    def to_datetime(self) -> datetime:
        """In UTC, cut to microseconds."""
        return _EPOCH + timedelta(microseconds=self // _NS_PER_US)

    def __repr__(self) -> str:
        return f"Timestamp({int(self)})"
