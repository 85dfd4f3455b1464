"""R1. Many uuids, one behind the other; apart from other sequences, because few need the `uuid` module."""

from collections.abc import Iterable
from uuid import UUID

from mf.codec.sequences import span


def write_uuids(out: bytearray, values: Iterable[UUID]) -> None:
    out += b"".join([value.bytes for value in values])


def read_uuids(data: bytes, pos: int, count: int) -> tuple[list[UUID], int]:
    found = span(data, pos, 16 * count)
    return [UUID(bytes=found[at : at + 16]) for at in range(0, 16 * count, 16)], pos + 16 * count
