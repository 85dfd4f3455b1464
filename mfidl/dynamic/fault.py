"""F6. What can be wrong with bytes, or with JSON text: the closed set of docs/protocol.md, section 8."""

from enum import IntEnum


class Fault(IntEnum):
    NONE = 0
    TRUNCATED = 1
    TRAILING_BYTES = 2
    COUNT_TOO_LARGE = 3
    BUDGET_EXCEEDED = 4
    DEPTH_EXCEEDED = 5
    MALFORMED_NUMBER = 6
    NUMBER_OUT_OF_RANGE = 7
    INVALID_BOOL = 8
    UNKNOWN_ENUM_VALUE = 9
    INVALID_UTF8 = 10
    KEYS_NOT_ASCENDING = 11
    UNKNOWN_ALTERNATIVE = 12
    MISSING_FIELD = 13
    MALFORMED_TAG = 14
    WRONG_WIRE_TYPE = 15
    WRONG_LENGTH = 16
    INVALID_REFERENCE = 17
    CUSTOM_CODEC_FAILED = 18
    MISALIGNED = 19
    JSON_SYNTAX = 32
    JSON_WRONG_TYPE = 33
    JSON_UNKNOWN_FIELD = 34
    JSON_DUPLICATE_KEY = 35

    @property
    def word(self) -> str:
        """As the documentation writes it: `count_too_large`."""
        return self.name.lower()
