"""R1. What generated classes of tier archive derive from.

A struct keeps the fields that its reader did not know, as they came, and writes them again. A value that
refers to others (`ref<T>`) is an object of a graph: it is compared, shown and copied without following its
references by recursion, however long their chain is.

Both are kept in slots whose names begin and end with two underscores, which no field can have.
"""

from typing import Any, ClassVar, Final

UNSET: Final[Any] = None
"""What a `ref<T>` that is not optional starts with; it must be set before the value is written."""


class ArchiveStruct:
    __slots__ = ("__mf_unknown__",)

    __mf_unknown__: bytes
    __mf_shape__: ClassVar[Any]


def unknown_fields(value: ArchiveStruct) -> bytes:
    """The fields that the reader of `value` did not know, as protobuf bytes; empty in a new value.

    They are of this struct alone, not of those that it holds.
    """
    return value.__mf_unknown__


def drop_unknown_fields(value: ArchiveStruct) -> None:
    """`value` is written without them from now on."""
    value.__mf_unknown__ = b""


class GraphStruct(ArchiveStruct):
    """A struct that refers to others, itself or in what it holds."""

    __slots__ = ("__mf_loose__",)


class GraphAlternative:
    """An alternative of a union that refers to others."""

    __slots__ = ("__mf_loose__",)

    __mf_shape__: ClassVar[Any]
