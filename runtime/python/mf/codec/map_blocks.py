"""R1. Maps of integers to integers: blocks (docs/protocol.md, section 8, "Maps of integers").

    write = writer_of("i32", "u64")     write(out, keys, values)      keys ascend

There is at least one entry. The count in front of the blocks is the caller's. A block is one call of
`struct`: no loop of Python sees a single entry.
"""

from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct
from typing import Any

from mf.codec.rows import BLOCK, KINDS, Kind

_MOST_KEPT = 500
Write = Callable[[bytearray, Sequence[int], Sequence[int]], None]


class _Layouts(dict[int, Callable[..., Any]]):
    """What packs or unpacks a block, by `count << 4 | code`: of 2,304, `struct` itself keeps but 100."""

    def __init__(self, function: str, first: str, key: Kind, value: Kind) -> None:
        self._function = function
        self._first = first  # what becomes of the byte in front
        self._letters = key.letters, value.letters

    def __missing__(self, at: int) -> Callable[..., Any]:
        count, code = at >> 4, at & 15
        keys, values = self._letters
        layout = Struct(f"<{self._first}{count}{keys[code & 3]}{count}{values[code >> 2]}")
        made: Callable[..., Any] = getattr(layout, self._function)
        if len(self) == _MOST_KEPT:
            self.clear()  # a peer that sends all of them is to fill no memory
        self[at] = made
        return made


@cache
def writer_of(key: str, value: str) -> Write:
    kinds = KINDS[key], KINDS[value]
    key_codes, value_codes = kinds[0].codes, kinds[1].codes
    signed_keys, signed_values = (each.signed for each in kinds)  # flags, whose `~` is another, are not
    layouts = _Layouts("pack", "B", *kinds)

    def write(out: bytearray, keys: Sequence[int], values: Sequence[int]) -> None:
        count = len(keys)
        if count > BLOCK:
            for at in range(0, count, BLOCK):
                write(out, keys[at : at + BLOCK], values[at : at + BLOCK])
            return
        # What is too wide is no index, and what is negative but must not be is refused when it is packed.
        widest = keys[-1]
        if signed_keys and widest < ~keys[0]:
            widest = ~keys[0]
        code = key_codes[widest.bit_length()]
        widest = max(values)
        if signed_values and widest < (low := ~min(values)):
            widest = low
        code |= value_codes[widest.bit_length()] << 2
        out += layouts[count << 4 | code](code, *keys, *values)

    return write
