"""R1. Graphs of objects: a table for each type that is referred to, and references as indices in them
(docs/protocol.md, section 8).

Writing numbers the objects breadth first, from the root on; identity is `id()`. Reading goes the same way: an
object is made when the first reference to it is read, and filled when its turn comes. So nothing recurses,
however long a chain is, and what was not reached at the end is known: the root keeps it in a slot.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from mf.codec import shape as s
from mf.codec.archive_wire import BYTES, read_varint, skip_unknown, tag_of
from mf.codec.graph_unknown import Kept, Reading
from mf.codec.malformed import MalformedError
from mf.codec.varint import read_u32, write_u32

Composite = s.Struct | s.Union
_new: Final = object.__new__


class GraphFunctions:
    """What reads and writes graphs with roots of one type; the functions of its tables are bound later."""

    def __init__(self, root: Composite, functions_of: Callable[[Composite], Any]) -> None:
        self._root = root
        self._functions_of = functions_of
        self._tables: list[Composite] = list(root.tables.values())
        self._numbers: Final = frozenset(range(1, len(self._tables) + 1))

    def write(self, out: bytearray, values: Sequence[Any], depth: int = 1) -> None:
        for value in values:
            parts = self._written(value, depth)
            write_u32(out, sum(map(len, parts)))
            for each in parts:
                out += each

    def write_alone(self, out: bytearray, values: Sequence[Any]) -> None:
        if len(values) != 1:
            raise MalformedError
        for each in self._written(values[0], 1):
            out += each

    def read(self, data: bytes, pos: int, count: int, depth: int = 1) -> tuple[list[Any], int]:
        if count > len(data) - pos:
            raise MalformedError
        values = []
        for _ in range(count):
            size, pos = read_u32(data, pos) if data[pos] > 127 else (data[pos], pos + 1)
            if size > len(data) - pos:
                raise MalformedError
            values.append(self._read(data, pos, pos + size, depth))
            pos += size
        return values, pos

    def read_alone(self, data: bytes, pos: int, count: int) -> tuple[list[Any], int]:
        if count != 1:
            raise MalformedError
        return [self._read(data, pos, len(data), 1)], len(data)

    def _written(self, root: Any, depth: int) -> "list[bytes | bytearray]":
        kept = Kept()
        while True:
            tables, unknown = self._numbered(root, depth, kept), kept.of_message(root)
            if kept.judge(self._root, tables.numbers):
                return [*(each.out for each in tables.values()), unknown]

    def _numbered(self, root: Any, depth: int, kept: Kept) -> "WriteTables":
        queue: list[tuple[WriteTable, list[Any]]] = []
        tables = WriteTables(kept)
        for number, shape in enumerate(self._tables, 1):
            functions = self._functions_of(shape)
            tables[shape] = WriteTable(shape, tag_of(number, BYTES), functions, queue)
        tables[self._root].meet(root)
        _write_all(queue, depth, tables)
        loose = [each for each in loose_of(self._tables, root) if id(each[1]) not in tables[each[0]].numbers]
        if loose:
            for shape, value in loose:
                tables[shape].meet(value)
            _write_all(queue, depth, tables)
        return tables

    def _read(self, data: bytes, pos: int, end: int, depth: int) -> Any:
        spans: list[list[tuple[int, int]]] = [[] for _ in self._tables]
        unknown = bytearray()
        charge = getattr(data, "charge", None)  # of bytes that keep an account (mf.codec.metered)
        while pos < end:
            tag, behind = (data[pos], pos + 1) if data[pos] < 128 else read_varint(data, pos)
            number = tag >> 3
            if number not in self._numbers:
                behind = skip_unknown(data, pos, end, self._numbers)
                unknown += data[pos:behind]
                pos = behind
                continue
            if tag & 7 != BYTES:
                raise MalformedError
            size, pos = (data[behind], behind + 1) if data[behind] < 128 else read_varint(data, behind)
            spans[number - 1].append((pos, pos + size))
            pos += size
        if pos != end:
            raise MalformedError
        queue: list[tuple[Callable[..., None], Any, int, int]] = []
        tables = ReadTables()
        for shape, own in zip(self._tables, spans, strict=True):
            if charge is not None:
                charge(len(own) * (64 + shape.own_memory))
            tables[shape] = ReadTable(shape, data, own, self._functions_of(shape), queue)
        root = tables[self._root].objects[0]
        _fill_all(queue, data, depth, tables)
        loose = tuple((shape.name, each) for shape, table in tables.items() for each in table.rest())
        if loose:
            _fill_all(queue, data, depth, tables)
            root.__mf_loose__ = loose
        for table in tables.values():
            if table.check is not None:
                for each in table.objects.values():
                    table.check(each)
        if unknown or tables.reading is not None:
            tables.remember(root, bytes(unknown))
        return root


def loose_of(tables: Iterable[Composite], root: Any) -> list[tuple[Composite, Any]]:
    """The objects that nothing referred to when the graph of this root was read, with their types."""
    found: tuple[tuple[str, Any], ...] = getattr(root, "__mf_loose__", ())
    if not found:
        return []
    named = {each.name: each for each in tables}
    return [(named[name], value) for name, value in found]


class WriteTables(dict[Composite, "WriteTable"]):
    __slots__ = ("kept",)

    def __init__(self, kept: Kept) -> None:
        super().__init__()
        self.kept: Final = kept

    def numbers(self, shape: Composite) -> dict[int, int] | None:
        table = self.get(shape)
        return None if table is None else table.numbers


class WriteTable:
    """Objects of one type: their numbers by id."""

    __slots__ = ("_check", "_queue", "_run", "_tag", "_types", "_write", "numbers", "out")

    def __init__(
        self, shape: Composite, tag: bytes, functions: Any, queue: "list[tuple[WriteTable, list[Any]]]"
    ) -> None:
        self.numbers: dict[int, int] = {}
        self.out = bytearray()
        self._tag = tag
        self._types = types_of(shape)
        self._check = functions.check_written
        self._write = functions.write_part
        self._queue = queue
        self._run: list[Any] = []

    def meet(self, value: Any) -> int:
        """Its number from now on; it is written when its turn comes, and kept alive until then."""
        if not isinstance(value, self._types):
            raise MalformedError
        if self._check is not None:
            self._check(value)
        number = self.numbers[id(value)] = len(self.numbers)
        if self._queue and self._queue[-1][1] is self._run:
            self._run.append(value)  # perhaps while it is gone through, which then goes on
        else:
            self._run = [value]
            self._queue.append((self, self._run))
        return number

    def write(self, values: list[Any], depth: int, tables: WriteTables) -> None:
        self._write(self.out, values, depth, self._tag, tables)


def _write_all(queue: list[tuple[WriteTable, list[Any]]], depth: int, tables: WriteTables) -> None:
    for table, values in queue:  # grows while it is gone through
        table.write(values, depth, tables)
    queue.clear()


class ReadTables(dict[Composite, "ReadTable"]):
    """`reading` is there as soon as an object has unknown fields."""

    __slots__ = ("reading",)

    def __init__(self) -> None:
        super().__init__()
        self.reading: Reading | None = None

    def kept(self, unknown: bytes) -> bytes:
        if self.reading is None:
            self.reading = Reading()
        return self.reading.kept(unknown)

    def remember(self, root: Any, unknown: bytes) -> None:
        reading = self.reading or Reading()
        for shape, table in self.items():
            objects = table.objects
            reading.objects.append((shape, [objects[number] for number in range(len(objects))]))
        if unknown:
            reading.unknown = unknown
            root.__mf_reading__ = reading


class ReadTable:
    """Objects of one type by their numbers, each made when it is first asked for."""

    __slots__ = ("check", "objects")

    def __init__(
        self,
        shape: Composite,
        data: bytes,
        spans: list[tuple[int, int]],
        functions: Any,
        queue: list[tuple[Callable[..., None], Any, int, int]],
    ) -> None:
        self.check = functions.check_written
        self.objects = _Objects(shape, data, spans, functions, queue)

    def rest(self) -> list[Any]:
        """Those that were not requested."""
        objects = self.objects
        if len(objects) == len(objects.spans):
            return []
        return [objects[number] for number in range(len(objects.spans)) if number not in objects]


class _Objects(dict[int, Any]):
    __slots__ = ("_data", "_fill", "_make_part", "_queue", "_type", "spans")

    def __init__(
        self,
        shape: Composite,
        data: bytes,
        spans: list[tuple[int, int]],
        functions: Any,
        queue: list[tuple[Callable[..., None], Any, int, int]],
    ) -> None:
        super().__init__()
        self.spans = spans
        self._data = data
        self._type: Any = shape.make if isinstance(shape, s.Struct) else None
        self._make_part = functions.make_part
        self._fill = functions.fill_part
        self._queue = queue

    def __missing__(self, number: int) -> Any:
        start, stop = self.spans[number]
        made = _new(self._type) if self._type is not None else self._make_part(self._data, start, stop)
        self[number] = made
        self._queue.append((self._fill, made, start, stop))
        return made


def _fill_all(
    queue: list[tuple[Callable[..., None], Any, int, int]],
    data: bytes,
    depth: int,
    tables: ReadTables,
) -> None:
    for fill, value, start, stop in queue:  # grows while it is gone through
        fill(value, data, start, stop, depth, tables)
    queue.clear()


def types_of(shape: Composite) -> tuple[type, ...]:
    """The classes of its values."""
    if isinstance(shape, s.Union):
        return tuple(each.type for each in shape.alternatives)  # type: ignore[misc] # generated classes
    return (shape.make,)  # type: ignore[return-value] # a generated class
