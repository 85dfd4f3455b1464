"""R1. The reader that explains: bytes to values by the description of their type, one check at a time.

It runs where the fast codec gave up, and where a message could outgrow the budget of memory. It decides:
either the bytes are wrong (a `CarefulError` with offset and path), or the value comes out after all. Counts
are checked against the bytes left, and memory against the budget, before anything is allocated.
"""

import struct
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Final

from mf.codec import sequences, sizes
from mf.codec import shape as s
from mf.codec.careful_error import CarefulError, Path, bytes_said
from mf.codec.careful_rows import read_blocks, read_entries, read_row
from mf.codec.fault import Fault
from mf.codec.graph_unknown import Reading
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U32_MAX, U64_MAX, Limits
from mf.codec.malformed import MalformedError
from mf.codec.rules import Rule
from mf.codec.times import Duration, Timestamp
from mf.codec.varint import unzigzag
from mf.core.error import Code

_ENTRY = 8  # a list's pointer to its element

# Long runs of plain numbers need no walk: no element has a rule or a nested value of its own.
_RUNS: Final[dict[str, Callable[[bytes, int, int], tuple[list[Any], int]]]] = {
    "u8": sequences.read_u8s,
    "i8": sequences.read_i8s,
    "f32": sequences.read_f32s,
    "f64": sequences.read_f64s,
}


class CarefulReader:
    """Reads values from `data`; `pos` is where the next one starts."""

    def __init__(self, data: bytes, limits: Limits, root: str = "", pos: int = 0) -> None:
        self.pos = pos
        self._data = data
        self._whole = data
        self._base = 0  # where `_data` begins in the whole; parts of it are read in tier archive
        self._tables: dict[s.Struct | s.Union, list[Any]] = {}  # of the graph that is being read
        self._reading: Reading | None = None  # that of this graph
        self._budget = limits.decoded
        self._path = Path(root)
        self._depth = 0
        self._violation: CarefulError | None = None  # of a constraint, the leftmost one

    def settle(self) -> None:
        """Constraints come behind all bytes, which may be wrong, or supersede values."""
        if self._violation:
            raise self._violation

    def finish(self) -> None:
        left = len(self._data) - self.pos
        if left:
            raise self.fail(Fault.TRAILING_BYTES, f"{bytes_said(left)} after the end of the value")

    def check_items(self, count: int, size: int, at: int | None = None) -> None:
        """`count` items of at least `size` bytes can still follow; `at`: where the count stands."""
        left = len(self._data) - self.pos
        if count * size > left:
            reason = f"{count} elements need at least {bytes_said(count * size)}, {left} left"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, at)
        if size == 0 and count > MAX_EMPTY_ITEMS:
            reason = f"{count} elements without bytes, more than {MAX_EMPTY_ITEMS}"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, at)

    def read(self, shape: s.Shape) -> Any:
        if isinstance(shape, s.Struct | s.Union | s.Custom) and shape.has_no_end:
            return self._embedded(shape)
        match shape:
            case s.Scalar():
                return self._scalar(shape)
            case s.Enum():
                at = self.pos
                return self._member(shape, self._scalar(shape.base), at)
            case s.Checked():
                at = self.pos
                return self._checked(shape.rules, self.read(shape.shape), at)
            case s.Optional():
                return self.read(shape.element) if self._bit("presence") else None
            case s.Struct():
                return self._struct(shape)
            case s.Union():
                return self._union(shape)
            case s.Map():
                return self._map(shape)
            case s.Set():
                return set(self._counted(shape.element, sizes.ENTRY, ascending=True))
            case s.List():
                return self._counted(shape.element, _ENTRY)
            case s.Array():
                return self._array(shape)

    def memcpy(self, shape: s.Shape, start: int) -> Any:
        """A value in its layout, aligned from `start`; padding is skipped whatever it holds."""
        _, align = sizes.layout(shape)
        self.pos += -(self.pos - start) % align
        at = self.pos
        match shape:
            case s.Scalar():
                return self._fixed(shape)
            case s.Enum():
                return self._member(shape, self._fixed(shape.base), at)
            case s.Checked():
                return self._checked(shape.rules, self.memcpy(shape.shape, start), at)
            case s.Array() if sizes.is_nothing(shape.element):
                return self._nothings(shape.element, shape.length)
            case s.Array():
                elements = []
                for index in range(shape.length):
                    self._path.item(index)
                    elements.append(self.memcpy(shape.element, start))
                    self._path.back()
                return elements
            case s.Struct() if sizes.is_nothing(shape):
                from mf.codec.careful_archive_finish import zero

                return zero(shape)
            case s.Struct():
                values = []
                for each in shape.fields:
                    self._path.field(each.name)
                    values.append(self.memcpy(each.shape, at))
                    self._path.back()
                self.pos = at + shape.layout[0]
                return shape.make(*values)
            case _:
                raise TypeError(f"{type(shape).__name__} has no memory layout")

    def memcpy_item(self, shape: s.Shape, index: int) -> Any:
        """One of many values, each in its layout."""
        self._path.item(index)
        value = self.memcpy(shape, self.pos)
        self._path.back()
        return value

    def fail(self, fault: Fault, reason: str, at: int | None = None) -> CarefulError:
        offset = self._base + (self.pos if at is None else at)
        return CarefulError(Code.DECODE_ERROR, str(self._path), reason, offset, fault)

    def charge(self, size: int, at: int | None = None) -> None:
        self._budget -= size
        if self._budget < 0:
            raise self._over_budget(at)

    def afford(self, memory: float) -> None:
        """Fails if so much, which is charged when it is read, is not left."""
        if memory > self._budget:
            raise self._over_budget()

    def _over_budget(self, at: int | None = None) -> CarefulError:
        return self.fail(Fault.BUDGET_EXCEEDED, "the value takes more memory than one message may", at)

    def _checked(self, rules: Iterable[Rule], value: Any, at: int) -> Any:
        for rule in rules:
            reason = None if value is None else rule.violation(value)
            if reason:
                self.violate(CarefulError(Code.INVALID_ARGUMENT, str(self._path), reason, self._base + at))
        return value

    def violate(self, found: CarefulError | None) -> None:
        """Records a violation, if `found` is one, of a value that may still be superseded or no longer can:
        the first one in the message counts."""
        known = self._violation
        if found is not None and (known is None or (found.offset or 0) < (known.offset or 0)):
            self._violation = found

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fail(Fault.DEPTH_EXCEEDED, f"nested deeper than {MAX_DEPTH}")

    def _struct(self, shape: s.Struct) -> Any:
        if not shape.implicit:
            self._enter()
        self.charge(sizes.memory(shape))
        if shape.memcpy:
            self._need(shape.layout[0])
            value = self.memcpy(shape, self.pos)
        else:
            values = []
            for each in shape.fields:
                self._path.field(each.name)
                values.append(self.read(each.shape))
                self._path.back()
            value = shape.make(*values)
        if not shape.implicit:
            self._depth -= 1
        return value

    def _union(self, shape: s.Union) -> Any:
        self._enter()
        self.charge(sizes.memory(shape))
        at = self.pos
        number = self._unsigned(U32_MAX)
        found = next((each for each in shape.alternatives if each.number == number), None)
        if found is None:
            reason = f"{number} is not an alternative of {shape.name}"
            raise self.fail(Fault.UNKNOWN_ALTERNATIVE, reason, at)
        self._path.field(found.name)
        value = found.type(self.read(found.shape))
        self._path.back()
        self._depth -= 1
        return value

    def _need(self, size: int) -> None:
        left = len(self._data) - self.pos
        if size > left:
            raise self.fail(Fault.TRUNCATED, f"{bytes_said(size)} expected, {left} left")

    def _embedded(self, shape: s.Composite) -> Any:
        """A value of tier archive or custom, behind its length."""
        if isinstance(shape, s.Custom):
            return self._custom(shape, self._length(shortest=True))
        from mf.codec.careful_archive_reader import read_embedded

        return read_embedded(self, shape)

    def alone(self, shape: s.Composite) -> Any:
        """A value of tier archive or custom that is all that is left."""
        if isinstance(shape, s.Custom):
            return self._custom(shape, len(self._data) - self.pos)
        from mf.codec.careful_archive_reader import read_alone

        value = read_alone(self, shape)
        self.settle()
        return value

    def _custom(self, shape: s.Custom, size: int) -> Any:
        from mf.codec.careful_custom import read_custom

        return read_custom(self, shape, size)

    def _length(self, *, shortest: bool = False) -> int:
        """Of what follows, which is there."""
        at = self.pos
        size = self._unsigned(U32_MAX if shortest else U64_MAX, shortest=shortest)
        left = len(self._data) - self.pos
        if size > left:
            raise self.fail(Fault.COUNT_TOO_LARGE, f"length {size}, but {bytes_said(left)} left", at)
        return size

    def _unsigned(self, highest: int, *, shortest: bool = True) -> int:
        at, number, shift = self.pos, 0, 0
        while True:
            if self.pos == len(self._data):
                raise self.fail(Fault.TRUNCATED, "the bytes end inside a number", at)
            byte = self._data[self.pos]
            self.pos += 1
            if byte > 127 and shift == 63:
                raise self.fail(Fault.MALFORMED_NUMBER, "a number of more than ten bytes", at)
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if byte == 0 and shift > 7 and shortest:
            raise self.fail(Fault.MALFORMED_NUMBER, "a number is not in its shortest form", at)
        if number > highest:
            raise self.fail(Fault.NUMBER_OUT_OF_RANGE, f"{number} does not fit in its type", at)
        return number

    def _count(self, smallest: int, entry: int, memory: int) -> int:
        """`entry` is charged here, `memory` when each is read: to find out only then may take long."""
        at = self.pos
        count = self._unsigned(U32_MAX)
        self.check_items(count, smallest, at)
        self.afford(count * (entry + memory))
        self.charge(count * entry)
        return count

    def _counted(self, shape: s.Shape, entry: int, *, ascending: bool = False) -> list[Any]:
        """The elements of a list or set."""
        self._enter()
        row = sizes.row_of(shape)
        if row is not None:
            elements = read_row(self, shape, row, entry, ascending=ascending)
        else:
            count = self._count(sizes.smallest(shape), entry, sizes.memory(shape))
            elements = self._items(shape, count, ascending=ascending)
        self._depth -= 1
        return elements

    def _array(self, shape: s.Array) -> list[Any]:
        self._enter()
        row = sizes.row_of(shape.element)
        if row is not None:
            elements = read_blocks(self, shape.element, row, shape.length)
        else:
            elements = self._items(shape.element, shape.length, ascending=False)
        self._depth -= 1
        return elements

    def _items(self, shape: s.Shape, count: int, *, ascending: bool) -> list[Any]:
        run = _RUNS.get(shape.name) if isinstance(shape, s.Scalar) and count > 64 else None
        if run is not None and not ascending:
            self.charge(count * sizes.memory(shape))
            try:
                elements, self.pos = run(self._data, self.pos, count)
            except MalformedError:
                pass  # the bytes end early: which element is the first?
            else:
                return elements
        if sizes.is_nothing(shape) and count:
            self._path.item(0)
            first = self.read(shape)
            self._path.back()
            self.charge((count - 1) * sizes.memory(shape))
            return [first, *self._nothings(shape, count - 1)]
        elements = []
        for index in range(count):
            self._path.item(index)
            at = self.pos
            elements.append(self.read(shape))
            if ascending:
                self._ascending(elements, at)
            self._path.back()
        return elements

    def _nothings(self, shape: s.Shape, count: int) -> list[Any]:
        return [self.memcpy(shape, self.pos) for _ in range(count)]

    def _map(self, shape: s.Map) -> dict[Any, Any]:
        self._enter()
        smallest = sizes.smallest(shape.key) + sizes.smallest(shape.value)
        memory = sizes.memory(shape.key) + sizes.memory(shape.value)
        count = self._count(smallest, sizes.ENTRY, memory)
        self.charge(sizes.FIRST_ENTRY if count else 0)
        integers = sizes.blocks_of(shape)
        if integers is None:
            keys, values = self._entries(shape, count)
        else:
            keys, values = read_entries(self, shape, integers, count)
        self._depth -= 1
        return dict(zip(keys, values, strict=True))

    def _entries(self, shape: s.Map, count: int) -> tuple[list[Any], list[Any]]:
        keys: list[Any] = []
        values: list[Any] = []
        for index in range(count):
            self._path.item(index)
            at = self.pos
            keys.append(self.read(shape.key))
            self._ascending(keys, at)
            values.append(self.read(shape.value))
            self._path.back()
        return keys, values

    def _ascending(self, keys: list[Any], at: int) -> None:
        """The last two of them."""
        if len(keys) > 1 and not keys[-2] < keys[-1]:
            raise self.fail(Fault.KEYS_NOT_ASCENDING, "keys are not strictly ascending", at)

    def _member(self, shape: s.Enum, number: int, at: int) -> Any:
        if shape.members is None:
            return shape.values[number]
        if number not in shape.members:
            raise self.fail(Fault.UNKNOWN_ENUM_VALUE, f"{number} is not a member of {shape.name}", at)
        return shape.members[number]

    def _bit(self, what: str) -> bool:
        self._need(1)
        byte = self._data[self.pos]
        if byte > 1:
            raise self.fail(Fault.INVALID_BOOL, f"{what} byte {byte} is neither 0 nor 1")
        self.pos += 1
        return byte == 1

    def _fixed(self, shape: s.Scalar) -> Any:
        if shape.name == "bool":
            return self._bit("bool")
        if shape.name == "uuid":
            return uuid.UUID(bytes=self._take(16))
        code = sizes.MEMCPY_CODES[shape.name]
        (number,) = struct.unpack(f"<{code}", self._take(struct.calcsize(f"<{code}")))
        return self._timed(shape.name, number)

    def _timed(self, name: str, number: Any) -> Any:
        if name == "timestamp":
            return Timestamp(number)
        return Duration(number) if name == "duration" else number

    def _take(self, size: int) -> bytes:
        self._need(size)
        self.pos += size
        return self._data[self.pos - size : self.pos]

    def _scalar(self, shape: s.Scalar) -> Any:
        match shape.name:
            case "string":
                blob = self._blob()
                try:
                    return blob.decode()
                except UnicodeDecodeError as error:
                    at = self.pos - len(blob) + error.start
                    raise self.fail(Fault.INVALID_UTF8, "text is not UTF-8", at) from None
            case "bytes":
                return self._blob()
            case "bool" | "i8" | "u8" | "f32" | "f64" | "timestamp" | "uuid":
                return self._fixed(shape)
            case "u16" | "u32" | "u64":
                return self._unsigned((1 << shape.bits) - 1)
            case "i16" | "i32" | "i64":
                return unzigzag(self._unsigned((1 << shape.bits) - 1))
            case name:
                return self._timed(name, unzigzag(self._unsigned((1 << 64) - 1)))

    def _blob(self) -> bytes:
        size = self._length(shortest=True)
        self.charge(64 + size)
        return self._take(size)
