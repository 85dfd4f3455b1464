"""R1. Numbers of archive lists before they are read: packed ones, and runs of unpacked ones.

A run is all fields of one tag that follow each other, as other writers may send a list. It is taken in pieces
of at most `_MOST` fields, so that what a reader needs besides the values is small whatever the message says,
and memory is charged for one piece before the next is taken.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from mf.codec.archive_wire import FIXED32, VARINT, tag_of
from mf.codec.packed import numbers_in

_MOST: Final = 1024


class Runs:
    """Of one tag in its shortest form; `wire` is that of its numbers."""

    __slots__ = ("_match", "_width", "parts")

    parts: Callable[[bytes, int, int], list[bytes]]
    """The bytes of each number of a piece, from a position to another."""

    def __init__(self, tag: bytes, wire: int) -> None:
        one = b"[\\x80-\\xff]{0,9}[\\0-\\x7f]" if wire == VARINT else b".{4}" if wire == FIXED32 else b".{8}"
        head = re.escape(tag)
        self._match = re.compile(b"(?:%b%b){1,%d}" % (head, one, _MOST), re.DOTALL).match
        self._width = 0 if wire == VARINT else len(tag) + (4 if wire == FIXED32 else 8)
        self.parts = re.compile(b"%b(%b)" % (head, one), re.DOTALL).findall

    def stop(self, data: bytes, pos: int, end: int) -> int:
        """Where the piece from `pos` on ends; it is empty if no whole field is there."""
        found = self._match(data, pos, end)
        return pos if found is None else found.end()

    def count(self, data: bytes, pos: int, stop: int) -> int:
        """The fields of a piece."""
        if self._width:
            return (stop - pos) // self._width
        return numbers_in(data[pos:stop]) // 2  # a tag ends as a varint does


@cache
def runs_of(number: int, wire: int) -> Runs:
    return Runs(tag_of(number, wire), wire)


def packed_in(data: bytes, wire: int) -> int:
    """How many numbers are packed in `data`."""
    return numbers_in(data) if wire == VARINT else len(data) // (4 if wire == FIXED32 else 8)
