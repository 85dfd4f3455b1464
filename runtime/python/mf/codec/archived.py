"""R1. What generated classes of tier archive derive from.

A struct keeps the fields that its reader did not know, as they came, and writes them again. A value that
refers to others (`ref<T>`) is an object of a graph: it is compared, shown, copied and pickled without
following its references by recursion, however long their chain is.

Both are kept in slots whose names begin and end with two underscores, which no field can have.
"""

from reprlib import recursive_repr
from typing import Any, Final

from mf.core.archive_struct import ArchiveStruct as ArchiveStruct  # what generated modules import from here
from mf.core.plain_struct import PlainStruct

UNSET: Final[Any] = None
"""What a `ref<T>` that is not optional starts with; it must be set before the value is written."""


def unknown_fields(value: ArchiveStruct) -> bytes:
    """The fields that the reader of `value` did not know, as protobuf bytes; empty in a new value.

    They are of this struct alone, not of those that it holds.
    """
    return bytes(value.__mf_unknown__)


def drop_unknown_fields(value: ArchiveStruct) -> None:
    """`value` is written without them from now on."""
    value.__mf_unknown__ = b""


class _OfGraph(PlainStruct):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        from mf.codec.graph_values import equal

        return equal(self, other)

    @recursive_repr()
    def __repr__(self) -> str:
        from mf.codec.graph_values import shown

        return shown(self)

    def __copy__(self) -> Any:
        from mf.codec.graph_copies import shallow_copy

        return shallow_copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from mf.codec.graph_copies import deep_copy

        return deep_copy(self, memo, (GraphStruct, GraphAlternative))

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        from mf.codec.graph_copies import reduced

        return reduced(self, (GraphStruct, GraphAlternative))


class GraphStruct(_OfGraph, ArchiveStruct):
    """A struct that refers to others, itself or in what it holds."""

    __slots__ = ("__mf_loose__", "__mf_reading__")


class GraphAlternative(_OfGraph):
    """An alternative of a union that refers to others."""

    __slots__ = ("__mf_loose__", "__mf_reading__")
