"""R1. What can be wrong with bytes, or with JSON text: a closed set, the same numbers and words in every
runtime (docs/protocol.md, section 8). The reason in an error is for people, the fault for programs.
"""

from enum import IntEnum


class Fault(IntEnum):
    """What is wrong with bytes, or with a JSON text (docs/protocol.md, section 8)."""

    NONE = 0
    TRUNCATED = 1  # the value ends early
    TRAILING_BYTES = 2  # bytes follow its end
    COUNT_TOO_LARGE = 3  # more elements, or a longer text, than the bytes left can hold
    BUDGET_EXCEEDED = 4  # it would take more memory than a message may
    DEPTH_EXCEEDED = 5  # nested deeper than 64
    MALFORMED_NUMBER = 6  # a varint longer than its shortest form, or without end
    NUMBER_OUT_OF_RANGE = 7  # a number that its type cannot hold
    INVALID_BOOL = 8  # neither 0 nor 1
    UNKNOWN_ENUM_VALUE = 9  # of a closed enum
    INVALID_UTF8 = 10
    KEYS_NOT_ASCENDING = 11  # of a set or map
    UNKNOWN_ALTERNATIVE = 12  # of a union
    MISSING_FIELD = 13  # archive, JSON: neither there, nor optional, nor defaulted
    MALFORMED_TAG = 14  # archive: a field number or wire type that protobuf does not have
    WRONG_WIRE_TYPE = 15  # archive: a known field of another form
    WRONG_LENGTH = 16  # an array, uuid or memcpy value of another size than its type's
    INVALID_REFERENCE = 17  # archive: an index behind the end of its table, or a graph without root
    CUSTOM_CODEC_FAILED = 18  # the user's codec refused the bytes
    MISALIGNED = 19  # a view over bytes that do not stand at the type's alignment
    JSON_SYNTAX = 32
    JSON_WRONG_TYPE = 33
    JSON_UNKNOWN_FIELD = 34
    JSON_DUPLICATE_KEY = 35

    @property
    def word(self) -> str:
        """As the documentation writes it: `count_too_large`."""
        return self.name.lower()
