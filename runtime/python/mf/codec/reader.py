"""R1. The reader: bytes, the position in them, the budget of memory, and the faults.

The functions that read values of a type are made of its shape (mf.codec.coding) and take a `Reader`. They
leave `pos` behind the value, or raise a `CodecError` with fault and offset, to which each level above adds
its step of the path. Counts are checked against the bytes left, and memory against the budget, before
anything is allocated. After a failure the reader is of no more use.

A violated constraint is no fault: bytes that follow may be wrong, or supersede the value. Only the offset of
the leftmost one is kept. The function that settles it reads again with `hunted`, which raises it where it is
met.
"""

from collections.abc import Iterable
from typing import Any, Final

from mf.codec.failure import CodecError, bytes_said
from mf.codec.fault import Fault
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U16_MAX, U32_MAX, U64_MAX
from mf.codec.rules import Rule
from mf.core.error import Code

_LONGEST: Final = 10


class Reader:
    """`arrays`: lists of numbers are read as arrays of numpy (mf.codec.arrays). `end`: of what is read just
    now, a message in another one perhaps. `in_parts`: messages of tier archive may come in parts, which is
    looked for; else a second part raises `InPartsError`. `tables` and `reading` are of the graph that is read
    just now.
    """

    __slots__ = (
        "arrays",
        "budget",
        "data",
        "depth",
        "end",
        "hunted",
        "in_parts",
        "pos",
        "reading",
        "tables",
        "violation",
    )

    def __init__(
        self, data: bytes, budget: int, pos: int = 0, *, in_parts: bool = False, hunted: int | None = None
    ) -> None:
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.budget: float = budget
        self.depth = 0
        self.arrays = False
        self.in_parts = in_parts
        self.hunted = hunted
        self.violation: int | None = None
        self.tables: dict[Any, list[Any]] = {}
        self.reading: Any = None

    def fail(self, fault: Fault, reason: str, at: int | None = None) -> CodecError:
        return CodecError(reason, self.pos if at is None else at, fault, Code.DECODE_ERROR)

    def over_budget(self, at: int | None = None) -> CodecError:
        return self.fail(Fault.BUDGET_EXCEEDED, "the value takes more memory than one message may", at)

    def charge(self, size: float, at: int | None = None) -> None:
        self.budget -= size
        if self.budget < 0:
            raise self.over_budget(at)

    def afford(self, memory: float) -> None:
        """Fails if so much, which is charged when it is read, is not left."""
        if memory > self.budget:
            raise self.over_budget()

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.too_deep()

    def too_deep(self) -> CodecError:
        return self.fail(Fault.DEPTH_EXCEEDED, f"nested deeper than {MAX_DEPTH}")

    def need(self, size: int) -> None:
        left = self.end - self.pos
        if size > left:
            raise self.fail(Fault.TRUNCATED, f"{bytes_said(size)} expected, {left} left")

    def take(self, size: int) -> bytes:
        self.need(size)
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def finish(self) -> None:
        left = self.end - self.pos
        if left:
            raise self.fail(Fault.TRAILING_BYTES, f"{bytes_said(left)} after the end of the value")

    def unsigned(self, highest: int, *, shortest: bool = True) -> int:
        """A varint."""
        at = self.pos
        data = self.data
        if at < self.end and data[at] < 128:
            self.pos = at + 1
            return data[at]
        if at + 3 < self.end and highest > U16_MAX:  # of two bytes or three, in a hurry
            second, third = data[at + 1], data[at + 2]
            if 0 < second < 128:
                self.pos = at + 2
                return data[at] + (second << 7) - 128
            if second and 0 < third < 128:
                self.pos = at + 3
                return data[at] + (second << 7) + (third << 14) - 0x4080
        number = shift = 0
        for byte in data[at : min(at + _LONGEST, self.end)]:
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        else:
            if shift == 7 * _LONGEST:
                raise self.fail(Fault.MALFORMED_NUMBER, "a number of more than ten bytes", at)
            raise self.fail(Fault.TRUNCATED, "the bytes end inside a number", at)
        if byte == 0 and shift > 7 and shortest:
            raise self.fail(Fault.MALFORMED_NUMBER, "a number is not in its shortest form", at)
        if number > highest:
            raise self.fail(Fault.NUMBER_OUT_OF_RANGE, f"{number} does not fit in its type", at)
        self.pos = at + shift // 7
        return number

    def length(self) -> int:
        """Of what follows, which is there."""
        at = self.pos
        return self._there(self.unsigned(U32_MAX), at)

    def padded_length(self) -> int:
        """The same in a message of tier archive, where it may be longer than needed."""
        at = self.pos
        return self._there(self.unsigned(U64_MAX, shortest=False), at)

    def _there(self, size: int, at: int) -> int:
        if size > self.end - self.pos:
            raise self.too_long(size, at)
        return size

    def too_long(self, size: int, at: int) -> CodecError:
        left = bytes_said(self.end - self.pos)
        return self.fail(Fault.COUNT_TOO_LARGE, f"length {size}, but {left} left", at)

    def bit(self, what: str) -> bool:
        self.need(1)
        byte = self.data[self.pos]
        if byte > 1:
            raise self.fail(Fault.INVALID_BOOL, f"{what} byte {byte} is neither 0 nor 1")
        self.pos += 1
        return byte == 1

    def check_items(self, count: int, size: int, at: int | None = None) -> None:
        """`count` items of at least `size` bytes can still follow; `at`: where the count is."""
        left = self.end - self.pos
        if count * size > left:
            reason = f"{count} elements need at least {bytes_said(count * size)}, {left} left"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, at)
        if size == 0 and count > MAX_EMPTY_ITEMS:
            reason = f"{count} elements without bytes, more than {MAX_EMPTY_ITEMS}"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, at)

    def count(self, smallest: int, entry: int, memory: int) -> int:
        """`entry` is charged here, `memory` when each is read: to find out only then may take long."""
        at = self.pos
        count = self.unsigned(U32_MAX)
        if count * smallest > self.end - self.pos or not smallest:
            self.check_items(count, smallest, at)
        if count * (entry + memory) > self.budget:
            raise self.over_budget()
        self.budget -= count * entry
        return count

    def not_ascending(self, at: int) -> CodecError:
        return self.fail(Fault.KEYS_NOT_ASCENDING, "keys are not strictly ascending", at)

    def check(self, rules: Iterable[Rule], value: Any, at: int) -> Any:
        """The same value; a constraint that it violates is kept in mind."""
        if value is not None:
            for rule in rules:
                reason = rule.violation(value)
                if reason:
                    if self.hunted == at:
                        raise CodecError(reason, at)
                    self.violate(at)
        return value

    def violate(self, at: int | None) -> None:
        """Keeps the leftmost one; None is no violation."""
        if at is not None and (self.violation is None or at < self.violation):
            self.violation = at
