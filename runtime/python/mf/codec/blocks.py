"""R1. Reads and writes integers in blocks of one width (docs/protocol.md, section 8, "Rows" and "Maps of
integers").

    row_reader(shape, name, entry)          -> read(r): of a list, or with `ascending` a set, behind its head
    row_writer(shape, name, counted=...)    -> write(w, values): of a list or set, or of an array
    array_reader(shape, name)               -> read(r, count): of an array
    head_reader(shape, name)                -> read(r): the count of a list, its runs of values in one width
    entries_reader(shape, names)            -> read(r, count): of a map, behind its count
    entries_writer(shape, names)            -> write(w, mapping)

`name` is the integer type on the wire, `shape` what the numbers mean, `entry` the memory of a place in the
container. No loop of Python sees a single number, unless one of them is wrong, or is given as an object of a
class of its own.
"""

import struct
import sys
from collections.abc import Callable
from operator import ge, lt
from typing import Any, Final

from mf.codec import rows, sizes
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.failure import CodecError, bytes_said
from mf.codec.fault import Fault
from mf.codec.layout import BULK_ERRORS, converted, fits_of, number_of, rules_of, value_of
from mf.codec.limits import MAX_DEPTH, U32_MAX, U64_MAX, limits_of
from mf.codec.reader import Reader
from mf.codec.rows import BLOCK, KINDS, Run, runs_of
from mf.codec.writer import Writer, check, elements, in_order, in_range

Read = Callable[[Reader], list[Any]]

_NATIVE = sys.byteorder == "little"


def numbers(data: bytes, pos: int, end: int, letter: Any) -> list[Any]:
    """All that are between two positions; `letter` is that of `struct`."""
    if letter == "B":
        return list(data[pos:end])
    if _NATIVE and letter != "16s":
        return memoryview(data)[pos:end].cast(letter).tolist()
    return [each for (each,) in struct.iter_unpack(f"<{letter}", data[pos:end])]


def row_reader(
    shape: s.Shape,
    name: str,
    entry: int,
    in_array: Callable[[Reader], Any] | None = None,
    *,
    ascending: bool = False,
) -> Read:
    row, memory = _Row(shape, name), entry + sizes.memory(shape)
    letters = KINDS[name].letters
    is_plain = _NATIVE and isinstance(shape, s.Scalar) and shape.name == name and not ascending

    def read(r: Reader) -> Any:
        if r.arrays and in_array is not None and (array := in_array(r)) is not None:
            return array
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        count, code = row.head(r)
        r.budget -= count * memory
        if r.budget < 0:
            raise r.over_budget()
        pos = r.pos
        end = pos + (count << code)
        if is_plain and count <= BLOCK and end <= r.end:
            r.pos = end
            elements: list[Any] = memoryview(r.data)[pos:end].cast(letters[code]).tolist()  # type: ignore[call-overload]
        else:
            elements = row.elements(r, row.runs(r, count, bytes((code,))), ascending=ascending)
        r.depth -= 1
        return elements

    return read


def head_reader(shape: s.Shape, name: str) -> Callable[[Reader], tuple[int, list[Run]]]:
    """Leaves the reader before the values, all of which are there."""
    row = _Row(shape, name)

    def read(r: Reader) -> tuple[int, list[Run]]:
        count, code = row.head(r)
        return count, row.runs(r, count, bytes((code,)))

    return read


def array_reader(shape: s.Shape, name: str) -> Callable[[Reader, int], list[Any]]:
    row = _Row(shape, name)
    return lambda r, count: row.elements(r, row.runs(r, count, b""))


def entries_reader(shape: s.Map, names: tuple[str, str]) -> Callable[[Reader, int], dict[Any, Any]]:
    """Block by block: its codes, all of its keys, and then all of its values."""
    keys_of, values_of = _Row(shape.key, names[0]), _Row(shape.value, names[1])

    def read(r: Reader, count: int) -> dict[Any, Any]:
        keys: list[Any] = []
        values: list[Any] = []
        while len(keys) < count:
            size = min(BLOCK, count - len(keys))
            at = r.pos
            (code,) = r.take(1)
            if code > 15:
                raise r.fail(Fault.MALFORMED_NUMBER, "bits that are no code", at)
            keys_of.check_code(r, code & 3, at)
            values_of.check_code(r, code >> 2, at)
            keys += keys_of.block(r, size, code & 3, len(keys), keys[-1:], ascending=True)
            values += values_of.block(r, size, code >> 2, len(values), [])
        return dict(zip(keys, values, strict=True))

    return read


class _Row:
    """What reads the blocks of one type."""

    def __init__(self, shape: s.Shape, name: str) -> None:
        self._name = name
        self._top: Final = KINDS[name].top
        self._letters: Final = KINDS[name].letters
        self._shape = shape
        self._convert = converted(bare(shape))
        self._rules = rules_of(shape)

    def head(self, r: Reader) -> tuple[int, int]:
        """The count of a list, and the code of its first block."""
        at = r.pos
        if at < r.end and (head := r.data[at]) < 128:
            r.pos = at + 1
        else:
            head = r.unsigned(U64_MAX)
        count, code = head >> 2, head & 3
        if count > U32_MAX:
            raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"{count} elements are more than {U32_MAX}", at)
        if code and not count:
            raise r.fail(Fault.MALFORMED_NUMBER, "a code without values", at)
        self.check_code(r, code, at)
        if count > r.end - r.pos:
            r.check_items(count, 1, at)
        return count, code

    def check_code(self, r: Reader, code: int, at: int) -> None:
        if code > self._top:
            reason = f"values of {bytes_said(1 << code)} in a row of {self._name}"
            raise r.fail(Fault.NUMBER_OUT_OF_RANGE, reason, at)

    def runs(self, r: Reader, count: int, first: bytes) -> list[Run]:
        """Behind which all values follow; `first`: the code of block 0, if it is known."""
        runs = runs_of(self._codes(r, count, first), count) if count else []
        r.need(sum([end - begin << code for code, begin, end in runs]))
        return runs

    def _codes(self, r: Reader, values: int, first: bytes) -> bytes:
        """Of all blocks of so many values."""
        count = -(-values // BLOCK) - len(first)
        at = r.pos
        packed = r.take(-(-count // 4))
        if not any(packed):
            return first + bytes(count)
        codes = bytes([byte >> place & 3 for byte in packed for place in (0, 2, 4, 6)])
        if any(codes[count:]) or max(codes, default=0) > self._top:
            for index, code in enumerate(codes):
                if index < count:
                    self.check_code(r, code, at + index // 4)
                elif code:
                    raise r.fail(Fault.MALFORMED_NUMBER, "a code of no block", at + index // 4)
        return first + codes[:count]

    def elements(self, r: Reader, runs: list[Run], *, ascending: bool = False) -> list[Any]:
        elements: list[Any] = []
        for code, begin, end in runs:
            found = self.block(r, end - begin, code, begin, elements[-1:], ascending=ascending)
            if begin:
                elements += found
            else:
                elements = found
        return elements

    def block(
        self, r: Reader, count: int, code: int, index: int, before: list[Any], *, ascending: bool = False
    ) -> list[Any]:
        """Integers of one width, the first of which has this index. `before`: the last one before it."""
        pos = r.pos
        end = pos + (count << code)
        if end > r.end:
            r.need(count << code)
        found = numbers(r.data, pos, end, self._letters[code])
        if self._convert is None and not self._rules and not ascending:
            r.pos = end
            return found
        try:
            elements = found if self._convert is None else list(map(self._convert, found))
            fits = not self._rules or all(rule.holds_all(elements) for rule in self._rules)
        except KeyError:
            fits = False
        if fits and ascending:
            fits = not any(map(ge, before, elements)) and all(map(lt, elements, elements[1:]))
        if not fits:
            elements = self._one_by_one(r, found, 1 << code, index, before, ascending=ascending)
        r.pos = end
        return elements

    def _one_by_one(
        self, r: Reader, found: list[int], size: int, index: int, before: list[Any], *, ascending: bool
    ) -> list[Any]:
        """Finds the first that is wrong, or the leftmost that violates a constraint."""
        elements: list[Any] = []
        for at, number in enumerate(found):
            where = r.pos + at * size
            try:
                elements.append(value_of(r, self._shape, number, where))
                if ascending and any(map(ge, before, elements[-1:])):
                    raise r.not_ascending(where)
            except CodecError as failure:
                failure.in_item(index + at)
                raise
            before = elements[-1:]
        return elements


# --- Writing


def row_writer(shape: s.Shape, name: str, *, counted: bool) -> Callable[[Writer, Any], None]:
    bulk, numbers_of = rows.WRITERS[name], _Numbers(shape, name)
    fits = fits_of(shape)

    def write(w: Writer, values: Any) -> None:
        begin = len(w.out)
        try:
            if fits is None or fits(values):
                bulk(w.out, values, counted)
                return
        except BULK_ERRORS:
            del w.out[begin:]
        bulk(w.out, numbers_of.one_by_one(values), counted)

    return write


def entries_writer(shape: s.Map, names: tuple[str, str]) -> Callable[[Writer, Any], None]:
    bulk = rows.entries_writer(*names)
    keys_of, values_of = _Numbers(shape.key, names[0]), _Numbers(shape.value, names[1])
    keys_fit, values_fit = fits_of(shape.key), fits_of(shape.value)

    def write(w: Writer, given: Any) -> None:
        keys = in_order(given)
        if not keys:
            return
        begin = len(w.out)
        try:
            values = [given[key] for key in keys]
            if (not keys_fit or keys_fit(keys)) and (not values_fit or values_fit(values)):
                bulk(w.out, keys, values)
                return
        except BULK_ERRORS:
            del w.out[begin:]
        numbers: tuple[list[int], list[int]] = ([], [])
        key: Any = None
        try:
            for key in keys:
                numbers[0].append(keys_of.number(key))
                numbers[1].append(values_of.number(given[key]))
        except CodecError as failure:
            failure.in_item(key)
            raise
        bulk(w.out, *numbers)

    return write


class _Numbers:
    """What numbers of one type may be."""

    def __init__(self, shape: s.Shape, name: str) -> None:
        self._plain = bare(shape)
        self._name = self._plain.name if isinstance(self._plain, s.Scalar) else name
        self._limits = limits_of(name)
        self._rules = rules_of(shape)

    def one_by_one(self, values: Any) -> list[int]:
        numbers: list[int] = []
        try:
            for value in elements(values):
                numbers.append(self.number(value))
        except CodecError as failure:
            failure.in_item(len(numbers))
            raise
        return numbers

    def number(self, value: Any) -> int:
        number = number_of(self._plain, value) if isinstance(self._plain, s.Enum) else value
        number = in_range(self._name, *self._limits, number)
        check(self._rules, value)
        return number
