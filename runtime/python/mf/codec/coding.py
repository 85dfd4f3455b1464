"""R1. What reads and writes the values of a struct, union or type of a user's codec: functions that are made
of its shape, and of those of the types in it, when a codec first needs them.

`read` and `write` are for values among others; those that have no end of their own stand behind their length.
`read_alone` and `write_alone` are for one value that is all there is.

The functions are closures over a `Reader` or `Writer`. Nothing is written as text: a peer's description of a
type makes as many functions as it has fields.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_graph import graph_read
from mf.codec.archive_message import Message, StructMessage, UnionMessage
from mf.codec.archive_write import graph_write, message_write
from mf.codec.composed import Read, Write, sized_read, sized_write
from mf.codec.custom_coding import custom_bytes, read_custom
from mf.codec.febird import fields_write, items_of, struct_pair, union_pair
from mf.codec.layout import row_of
from mf.codec.reader import Reader
from mf.codec.writer import Writer


class Coding:
    """Of one type; shared by all codecs and threads. `message` and `write_message` are of types of tier
    archive, `write_many` of tier memcpy: it fails without saying of which value.
    """

    read: Read
    write: Write
    read_alone: Read
    write_alone: Write
    message: Message | None = None
    write_message: Write | None = None
    write_many: Callable[[Writer, Sequence[Any]], None] | None = None

    def __init__(self, shape: s.Composite, of: "Callable[[s.Composite], Coding]") -> None:
        self._shape = shape
        self._of = of
        self.read = self.write = None  # type: ignore[assignment] # while it is made

    def make(self) -> None:
        shape = self._shape
        if isinstance(shape, s.Custom):
            self._make_custom(shape)
        elif shape.archive:
            self._make_archive(shape)
        elif isinstance(shape, s.Union):
            self.read, self.write = union_pair(shape, self._of)
        else:
            self.read, self.write = struct_pair(shape, self._of)
            if shape.memcpy:
                self.write_many = row_of(shape).write_many
        if not shape.has_no_end:
            self.read_alone, self.write_alone = self.read, self.write

    def _make_custom(self, shape: s.Custom) -> None:
        self.read = lambda r: read_custom(r, shape, r.length())
        self.read_alone = lambda r: read_custom(r, shape, r.end - r.pos)
        self.write_alone = lambda w, value: w.out.extend(custom_bytes(shape, value))
        self.write = sized_write(self.write_alone)

    def _make_archive(self, shape: s.Struct | s.Union) -> None:
        of = self._of
        made = UnionMessage(shape, of) if isinstance(shape, s.Union) else StructMessage(shape, of)
        self.message = made
        self.write_message = message_write(shape, of)
        if shape.tables:
            self.read_alone, self.write_alone = graph_read(shape, of), graph_write(shape, of)
        else:
            self.read_alone, self.write_alone = made.read, self.write_message
        self.write = sized_write(self.write_alone)
        self.read = sized_read(self.read_alone, Reader.length)

    @cached_property
    def read_items(self) -> Callable[[Reader, int], list[Any]]:
        """So many values, one behind the other."""
        return items_of(self._shape, self._of)[0]


def coding_of(shape: s.Composite) -> Coding:
    """Made at the first call. Two threads may make it twice; the results are alike."""
    found: Coding | None = shape.coding
    return _made(shape) if found is None else found


def _made(root: s.Composite) -> Coding:
    """With those of all types in it, inner ones first, so that no chain of types recurses deep."""
    making: dict[s.Composite, Coding] = {}

    def of(shape: s.Composite) -> Coding:
        found: Coding | None = shape.coding
        return making[shape] if found is None else found

    met: set[s.Composite] = set()
    waiting = [root]
    while waiting:
        at = waiting[-1]
        met.add(at)
        more = [each for each in at.inner if each.coding is None and each not in met]
        if more:
            waiting += more
            continue
        waiting.pop()
        if at not in making:
            assert sizes.smallest(at) + sizes.memory(at) >= 0  # asked in this order, for the same reason
            making[at] = Coding(at, of)
    for made in making.values():
        made.make()
    for shape, made in making.items():  # only now: what other threads see is whole
        shape.coding = made
    return making[root]


def parts_write(shape: s.Struct) -> Callable[[Writer, Sequence[Any]], None]:
    """Writes the fields of a struct as they are given, without a value of it."""
    coding_of(shape)
    return fields_write(shape, coding_of)
