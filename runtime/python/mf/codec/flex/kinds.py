"""R1. The first byte of a flexible value, and the bounds of messages (docs/protocol.md, section 5c)."""

from enum import IntEnum
from typing import Final


class Tag(IntEnum):
    NONE = 0
    FALSE = 1
    TRUE = 2
    I8 = 3
    I16 = 4
    I32 = 5
    I64 = 6
    U64 = 7
    F64 = 8
    TEXT = 9
    BYTES = 10
    TIMESTAMP = 11
    UUID = 12
    LIST = 13
    INTEGERS = 14
    FLOATS = 15
    MAP = 16
    ARRAY = 17
    DECLARED = 18


MAX_ATTRIBUTES: Final = 256
MAX_NAME: Final = 255
"""The most bytes of an attribute's name."""
MAX_DIMENSIONS: Final = 16
MAX_TYPE_NAME: Final = 1024
RESERVED: Final = ("dest", "src")

I64_MIN: Final = -(1 << 63)
I64_END: Final = 1 << 63
U64_END: Final = 1 << 64

KEY_TAGS: Final = frozenset((Tag.I8, Tag.I16, Tag.I32, Tag.I64, Tag.U64, Tag.TEXT, Tag.BYTES, Tag.UUID))
"""The allowed kinds of map keys. None of them compares equal to a key of another kind in any language."""
