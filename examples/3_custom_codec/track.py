"""A walker's track and its codec; track.hpp says what the bytes are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

LEAST, MOST = -(1 << 31), (1 << 31) - 1


@dataclass
class Track:
    """Latitudes and longitudes in millionths of a degree."""

    points: list[tuple[int, int]] = field(default_factory=list)


class TrackCodec:
    """What mfidlc asks of a codec: the type of its values, encode, and a decode that raises."""

    Value: TypeAlias = Track

    @staticmethod
    def encode(track: Track) -> bytes:
        out = bytearray()
        last = (0, 0)
        for point in track.points:
            for now, before in zip(point, last, strict=True):
                if not LEAST <= now <= MOST:
                    raise ValueError(f"{now} is no number of 32 bits")
                number = 2 * (now - before) if now >= before else 2 * (before - now) - 1
                while number >= 0x80:
                    out.append(number & 0x7F | 0x80)
                    number >>= 7
                out.append(number)
            last = point
        return bytes(out)

    @staticmethod
    def decode(data: bytes) -> Track:
        numbers = list(_numbers(data))
        if len(numbers) % 2:
            raise ValueError("the last point has no longitude")
        latitudes, longitudes = (list(accumulate(numbers[first::2])) for first in (0, 1))
        if not all(LEAST <= each <= MOST for each in (*latitudes, *longitudes)):
            raise ValueError("a coordinate does not fit in 32 bits")
        return Track(list(zip(latitudes, longitudes, strict=True)))


def _numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if shift > 35 or (byte == 0 and shift > 7):
            raise ValueError("a difference is not in its shortest form")
        if byte < 0x80:
            yield -(number >> 1) - 1 if number & 1 else number >> 1
            number = shift = 0
    if shift:
        raise ValueError("the bytes end inside a difference")
