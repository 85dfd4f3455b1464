"""R1. What generated classes of tier archive derive from.

A struct keeps the fields that its reader did not know, as they came, and writes them again. A value that
refers to others (`ref<T>`) is an object of a graph: it is compared, shown, copied and pickled without
following its references by recursion, however long their chain is.

Both are kept in slots whose names begin and end with two underscores, which no field can have.
mf.core.dataclass reads `__mf_kept__` (what a new value has in such a slot) and `__mf_members__` (what a class
has instead of the functions of a dataclass).
"""

from reprlib import recursive_repr
from typing import Any, Final

UNSET: Final[Any] = None
"""What a `ref<T>` that is not optional starts with; it must be set before the value is written."""


class ArchiveStruct:
    __slots__ = ("__mf_unknown__",)

    __mf_unknown__: bytes
    __mf_kept__ = {"__mf_unknown__": b""}  # noqa: RUF012 - it is never changed


def unknown_fields(value: ArchiveStruct) -> bytes:
    """The fields that the reader of `value` did not know, as protobuf bytes; empty in a new value.

    They are of this struct alone, not of those that it holds.
    """
    return bytes(value.__mf_unknown__)


def drop_unknown_fields(value: ArchiveStruct) -> None:
    """`value` is written without them from now on."""
    value.__mf_unknown__ = b""


def _equal(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    from mf.codec.graph_values import equal

    return equal(self, other)


@recursive_repr()
def _shown(self: Any) -> str:
    from mf.codec.graph_values import shown

    return shown(self)


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    from mf.codec.graph_values import copied

    return copied(self, memo)


def _shallowly_copied(self: Any) -> Any:
    from mf.codec.graph_pickle import shallow_copy

    return shallow_copy(self)


def _reduced(self: Any, _protocol: object) -> tuple[Any, ...]:
    from mf.codec.graph_pickle import reduced

    return reduced(self, (GraphStruct, GraphAlternative))


_OF_GRAPHS = {
    "__eq__": _equal,
    "__repr__": _shown,
    "__copy__": _shallowly_copied,
    "__deepcopy__": _copied,
    "__reduce_ex__": _reduced,
}


class GraphStruct(ArchiveStruct):
    """A struct that refers to others, itself or in what it holds."""

    __slots__ = ("__mf_loose__", "__mf_reading__")

    __mf_members__ = _OF_GRAPHS


class GraphAlternative:
    """An alternative of a union that refers to others."""

    __slots__ = ("__mf_loose__", "__mf_reading__")

    __mf_members__ = _OF_GRAPHS
