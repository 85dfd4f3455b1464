"""R1. The reader that explains: bytes to values by the description of their type, one check at a time.

It runs where the fast codec gave up, and where a message could outgrow the budget of memory. It decides:
either the bytes are wrong (a `CarefulError` with offset and path), or the value comes out after all. Counts
are checked against the bytes left, and memory against the budget, before anything is allocated.
"""

import struct
import uuid
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Final

from mf.codec import sequences
from mf.codec import shape as s
from mf.codec.careful_error import CarefulError, Path
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U32_MAX, Limits
from mf.codec.malformed import MalformedError
from mf.codec.rules import Rule
from mf.codec.times import Duration, Timestamp
from mf.codec.varint import read_unsigned, unzigzag
from mf.core.error import Code

_ENTRY = 8  # a list's pointer to its element
_NODE = 100  # an entry of a dict or set

# Long runs of plain numbers need no walk: no element has a rule or a nested value of its own.
_RUNS: Final[dict[str, Callable[[bytes, int, int], tuple[list[Any], int]]]] = {
    "i16": sequences.read_i16s,
    "i32": sequences.read_i32s,
    "i64": sequences.read_i64s,
    "u8": sequences.read_u8s,
    "i8": sequences.read_i8s,
    "u16": sequences.read_u16s,
    "u32": sequences.read_u32s,
    "u64": sequences.read_u64s,
    "f32": sequences.read_f32s,
    "f64": sequences.read_f64s,
}


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


class CarefulReader:
    """Reads values from `data`; `pos` is where the next one starts."""

    def __init__(self, data: bytes, limits: Limits, root: str = "", pos: int = 0) -> None:
        self.pos = pos
        self._data = data
        self._budget = limits.decoded
        self._path = Path(root)
        self._depth = 0

    def finish(self) -> None:
        left = len(self._data) - self.pos
        if left:
            raise self.fail(f"{_bytes(left)} after the end of the value")

    def check_items(self, count: int, size: int) -> None:
        """`count` items of at least `size` bytes can still follow."""
        left = len(self._data) - self.pos
        if count * size > left:
            raise self.fail(f"{count} elements need at least {_bytes(count * size)}, {left} left")
        if size == 0 and count > MAX_EMPTY_ITEMS:
            raise self.fail(f"{count} elements without bytes, more than {MAX_EMPTY_ITEMS}")

    def read(self, shape: s.Shape) -> Any:
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
                count, at = self._count(shape.element, _NODE), self.pos
                elements = self._items(shape.element, count)
                self._ascending(elements, at)
                return set(elements)
            case s.List():
                return self._items(shape.element, self._count(shape.element, _ENTRY))
            case s.Array():
                return self._items(shape.element, shape.length)

    def memcpy(self, shape: s.Shape, start: int) -> Any:
        """A value in its layout, aligned from `start`; padding is skipped whatever it holds."""
        _, align = s.layout(shape)
        self.pos += -(self.pos - start) % align
        at = self.pos
        match shape:
            case s.Scalar():
                return self._fixed(shape)
            case s.Enum():
                return self._member(shape, self._fixed(shape.base), at)
            case s.Checked():
                return self._checked(shape.rules, self.memcpy(shape.shape, start), at)
            case s.Array():
                elements = []
                for index in range(shape.length):
                    self._path.item(index)
                    elements.append(self.memcpy(shape.element, start))
                    self._path.back()
                return elements
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

    def fail(self, reason: str, at: int | None = None, code: Code = Code.DECODE_ERROR) -> CarefulError:
        return CarefulError(code, str(self._path), reason, self.pos if at is None else at)

    def charge(self, size: int) -> None:
        self._budget -= size
        if self._budget < 0:
            raise self.fail("the value takes more memory than one message may")

    def _checked(self, rules: Iterable[Rule], value: Any, at: int) -> Any:
        for rule in rules:
            reason = None if value is None else rule.violation(value)
            if reason is not None:
                raise self.fail(reason, at, Code.INVALID_ARGUMENT)
        return value

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH}")

    def _struct(self, shape: s.Struct) -> Any:
        if not shape.implicit:
            self._enter()
        self.charge(s.memory(shape))
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
        self.charge(s.memory(shape))
        at = self.pos
        number = self._unsigned(U32_MAX)
        found = next((each for each in shape.alternatives if each.number == number), None)
        if found is None:
            raise self.fail(f"{number} is not an alternative of {shape.name}", at)
        self._path.field(found.name)
        value = found.type(self.read(found.shape))
        self._path.back()
        self._depth -= 1
        return value

    def _need(self, size: int) -> None:
        left = len(self._data) - self.pos
        if size > left:
            raise self.fail(f"{_bytes(size)} expected, {left} left")

    def _unsigned(self, highest: int) -> int:
        at = self.pos
        try:
            number, self.pos = read_unsigned(self._data, at, highest)
        except IndexError:
            raise self.fail("the bytes end inside a number", at) from None
        except MalformedError:
            raise self.fail("a number does not fit in its type, or is not in its shortest form", at) from None
        return number

    def _count(self, element: s.Shape, entry: int) -> int:
        at = self.pos
        count = self._unsigned(U32_MAX)
        try:
            self.check_items(count, s.smallest(element))
        except CarefulError as failure:
            raise self.fail(failure.reason, at) from None
        self.charge(count * entry)
        return count

    def _items(self, shape: s.Shape, count: int) -> list[Any]:
        self._enter()
        run = _RUNS.get(shape.name) if isinstance(shape, s.Scalar) and count > 64 else None
        if run is not None:
            self.charge(count * s.memory(shape))
            try:
                elements, self.pos = run(self._data, self.pos, count)
            except (MalformedError, IndexError):
                run = None
        if run is None:
            elements = []
            for index in range(count):
                self._path.item(index)
                elements.append(self.read(shape))
                self._path.back()
        self._depth -= 1
        return elements

    def _map(self, shape: s.Map) -> dict[Any, Any]:
        at = self.pos
        count = self._unsigned(U32_MAX)
        try:
            self.check_items(count, s.smallest(shape.key) + s.smallest(shape.value))
        except CarefulError as failure:
            raise self.fail(failure.reason, at) from None
        self.charge(count * _NODE)
        self._enter()
        entries = []
        for index in range(count):
            self._path.item(index)
            key = self.read(shape.key)
            entries.append((key, self.read(shape.value)))
            self._path.back()
        self._ascending([key for key, _ in entries], at)
        self._depth -= 1
        return dict(entries)

    def _ascending(self, keys: list[Any], at: int) -> None:
        if any(not low < high for low, high in pairwise(keys)):
            raise self.fail("keys are not strictly ascending", at)

    def _member(self, shape: s.Enum, number: int, at: int) -> Any:
        if shape.members is None:
            return shape.values[number]
        if number not in shape.members:
            raise self.fail(f"{number} is not a member of {shape.name}", at)
        return shape.members[number]

    def _bit(self, what: str) -> bool:
        self._need(1)
        byte = self._data[self.pos]
        if byte > 1:
            raise self.fail(f"{what} byte {byte} is neither 0 nor 1")
        self.pos += 1
        return byte == 1

    def _fixed(self, shape: s.Scalar) -> Any:
        if shape.name == "bool":
            return self._bit("bool")
        if shape.name == "uuid":
            return uuid.UUID(bytes=self._take(16))
        code = s.MEMCPY_CODES[shape.name]
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
                at = self.pos
                try:
                    return self._blob().decode()
                except UnicodeDecodeError as error:
                    raise self.fail(f"text is not UTF-8, {_bytes(error.start)} into it", at) from None
            case "bytes":
                return self._blob()
            case "bool" | "i8" | "u8" | "f32" | "f64" | "uuid":
                return self._fixed(shape)
            case "u16" | "u32" | "u64":
                return self._unsigned((1 << shape.bits) - 1)
            case "i16" | "i32" | "i64":
                return unzigzag(self._unsigned((1 << shape.bits) - 1))
            case name:
                return self._timed(name, unzigzag(self._unsigned((1 << 64) - 1)))

    def _blob(self) -> bytes:
        at = self.pos
        size = self._unsigned(U32_MAX)
        left = len(self._data) - self.pos
        if size > left:
            raise self.fail(f"length {size}, but {_bytes(left)} left", at)
        self.charge(64 + size)
        return self._take(size)
