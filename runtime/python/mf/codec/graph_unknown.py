"""R1. The unknown fields of a graph, which may hold indices of its objects (docs/protocol.md, section 8).

They mean what they meant only while every object that was read has the table and index that it had. So they
remember the reading that they are of, and who writes a graph numbers its objects first, and asks then. A copy
of the whole graph is as good as what was read. Pickles, and copies of a part, remember no reading: what they
keep can be looked at, and is not written.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from mf.codec import shape as s

Composite = s.Struct | s.Union
Numbers = dict[int, int]


class Reading:
    """What was read as one graph: its objects by table, in order, and the unknown fields of the message."""

    __slots__ = ("objects", "unknown")

    def __init__(self) -> None:
        self.objects: list[tuple[Composite, list[Any]]] = []
        """The root's table first; empty if the objects are not known any more."""
        self.unknown = b""

    def kept(self, unknown: bytes) -> "GraphUnknown":
        made = GraphUnknown(unknown)
        made.reading = self
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> "Reading":
        """Of the copies of all its objects, or of none."""
        made = Reading()
        if all(id(each) in memo for _, objects in self.objects for each in objects):
            made.objects = [(shape, [memo[id(each)] for each in objects]) for shape, objects in self.objects]
            made.unknown = self.unknown
        return made

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Reading, ()


class GraphUnknown(bytes):
    """Of one object, or of what it holds."""

    reading: Reading | None = None

    def __reduce__(self) -> tuple[type, tuple[bytes]]:
        return GraphUnknown, (bytes(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> "GraphUnknown":
        """Where a graph is copied, all its objects have their copies already, if not yet their contents."""
        made = GraphUnknown(self)
        made.reading = deepcopy(self.reading, memo)
        return made


class Kept:
    """While a graph is written: the readings that were met, and those whose unknown fields stay out."""

    __slots__ = ("_met", "_out")

    def __init__(self) -> None:
        self._met: dict[int, Reading] = {}
        self._out: dict[int, Reading] = {}

    def meet(self, reading: Reading) -> bool:
        """Whether its unknown fields are written, as far as is known."""
        self._met[id(reading)] = reading
        return id(reading) not in self._out

    def judge(self, root: Composite, numbers_of: Callable[[Composite], Numbers | None]) -> bool:
        """When every object has its number. Whether the graph can stay as it has been written."""
        wrong = {at: each for at, each in self._met.items() if not _fits(each, root, numbers_of)}
        agreed = wrong.keys() <= self._out.keys()
        self._out |= wrong
        return agreed

    def of_message(self, root: Any) -> bytes:
        """The unknown fields of the graph's message."""
        reading: Reading | None = getattr(root, "__mf_reading__", None)
        return reading.unknown if reading is not None and self.meet(reading) else b""


def _fits(reading: Reading, root: Composite, numbers_of: Callable[[Composite], Numbers | None]) -> bool:
    if not reading.objects or reading.objects[0][0] is not root:
        return False
    for shape, objects in reading.objects:
        numbers = numbers_of(shape)
        if numbers is None or any(numbers.get(id(each)) != at for at, each in enumerate(objects)):
            return False
    return True


def kept_fields(unknown: bytes, kept: Kept | None) -> bytes:
    """What is written of unknown fields; `kept` is that of the graph which is written, if any is."""
    if not isinstance(unknown, GraphUnknown):
        return unknown
    reading: Final = unknown.reading
    return unknown if kept is not None and reading is not None and kept.meet(reading) else b""
