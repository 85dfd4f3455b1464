"""R1. Maps of integers to integers: blocks (docs/protocol.md, section 8, "Maps of integers").

    write = writer_of("i32", "u64")     write(out, keys, values)      keys ascend

There is at least one entry. The count in front of the blocks is the caller's. A block is one call of
`struct`: no loop of Python sees a single entry.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from struct import Struct

from mf.codec.rows import BLOCK, KINDS

Write = Callable[[bytearray, Sequence[int], Sequence[int]], None]


@lru_cache(maxsize=500)  # of 2,304; `struct` itself keeps but 100
def _packer(key: str, value: str, count: int) -> Callable[..., bytes]:
    """Packs a block; its letters are those of `struct`."""
    return Struct(f"<B{count}{key}{count}{value}").pack


@cache
def writer_of(key: str, value: str) -> Write:
    kinds = KINDS[key], KINDS[value]
    key_codes, value_codes = kinds[0].codes, kinds[1].codes
    signed_keys, signed_values = (each.signed for each in kinds)  # flags, whose `~` is another, are not
    key_letters, value_letters = (each.letters for each in kinds)

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
        value_code = value_codes[widest.bit_length()]
        pack = _packer(key_letters[code], value_letters[value_code], count)
        out += pack(code | value_code << 2, *keys, *values)

    return write
