"""F6. The reading layer of all tiers: a position in bytes, with limits, a path, and an optional listener.

Each function that consumes bytes reports their meaning by `note`; `annotate` listens, `decode` does not, so
that both always agree. A part of the bytes (a value of another tier, a message) is a window with a nearer
`end`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.number import Number
from mfidl.dynamic.path import Path
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Value
from mfidl.dynamic.wording import counted
from mfidl.model import Tier

MAX_DEPTH = 64
MAX_EMPTY = 65_536  # elements that take no bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """`decoded`: bytes of memory that one value may take, by a rough count."""

    decoded: int = 128 << 20


# (start, end, path, what the bytes are, the type's text, the value or NOTHING, the number of the value)
NOTHING = object()
Listener = Callable[[int, int, str, str, model.Type | None, Any], None]
TierReader = Callable[["Decoding", model.Named], Value]


class Decoding:
    __slots__ = ("_budget", "_depth", "data", "end", "listener", "path", "pos", "schema", "tables", "tiers")

    def __init__(
        self,
        schema: Schema,
        tiers: Mapping[Tier, TierReader],
        data: bytes,
        root: str,
        limits: Limits,
        listener: Listener | None,
    ) -> None:
        self.schema = schema
        self.tiers = tiers
        self.data = data
        self.pos = 0
        self.end = len(data)
        self.path = Path(root)
        self.listener = listener
        self.tables: dict[str, int] = {}  # of the graph that is being read: objects of each type
        self._depth = 0
        self._budget = limits.decoded

    # What was read ------------------------------------------------------------------------------------------

    def note(
        self, start: int, meaning: str, type_: model.Type | None = None, value: object = NOTHING
    ) -> None:
        """Reports the meaning of the bytes from `start` to here."""
        if self.listener is not None:
            self.listener(start, self.pos, str(self.path), meaning, type_, value)

    def note_bytes(self, start: int, meaning: str, data: bytes) -> None:
        self.note(start, meaning, None, data)

    def fail(self, fault: Fault, reason: str, at: int | None = None) -> DecodeError:
        return DecodeError(fault, self.pos if at is None else at, str(self.path), reason)

    # Limits -------------------------------------------------------------------------------------------------

    def enter(self) -> None:
        """A struct, union or container opens; it closes by `leave`."""
        if self._depth == MAX_DEPTH:
            raise self.fail(Fault.DEPTH_EXCEEDED, f"nested deeper than {MAX_DEPTH}")
        self._depth += 1

    def leave(self) -> None:
        self._depth -= 1

    def charge(self, size: int, start: int | None = None) -> None:
        """To be called before memory is taken. `start`: where the reason for it begins, if not here."""
        self._budget -= size
        if self._budget < 0:
            reason = "the value takes more memory than a message may"
            raise self.fail(Fault.BUDGET_EXCEEDED, reason, start)

    def check_count(self, count: int, smallest: int, at: int) -> None:
        """Checks that this number of elements can follow; called before anything is made for them."""
        left = self.end - self.pos
        if count * smallest > left:
            reason = f"{counted(count, 'element')} of at least {counted(smallest, 'byte')}, but {left} left"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, at)
        if smallest == 0 and count > MAX_EMPTY:
            reason = f"{count} elements without bytes, more than {MAX_EMPTY}"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, at)

    # Bytes --------------------------------------------------------------------------------------------------

    def need(self, size: int) -> None:
        left = self.end - self.pos
        if size > left:
            raise self.fail(Fault.TRUNCATED, f"{counted(size, 'byte')} expected, {left} left")

    def take(self, size: int) -> bytes:
        self.need(size)
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def varint(self, bits: int, *, shortest: bool) -> int:
        """An unsigned LEB128 number of at most so many bits."""
        start = self.pos
        number = shift = 0
        while True:
            if self.pos >= self.end:
                self.pos = start
                raise self.fail(Fault.TRUNCATED, "the bytes end inside of a number")
            byte = self.data[self.pos]
            self.pos += 1
            number |= (byte & 0x7F) << shift
            if shift == 63 and byte > 0x7F:
                raise self.fail(Fault.MALFORMED_NUMBER, "a number is longer than ten bytes", start)
            if byte < 0x80:
                break
            shift += 7
        if shortest and byte == 0 and shift:
            raise self.fail(Fault.MALFORMED_NUMBER, "a number is not in its shortest form", start)
        if number >> bits:
            raise self.fail(Fault.NUMBER_OUT_OF_RANGE, f"{number} does not fit in {bits} bits", start)
        return number

    def length(self, *, shortest: bool) -> int:
        """A number of bytes that follow, and are there."""
        start = self.pos
        size = self.varint(32 if shortest else 64, shortest=shortest)
        self.note(start, "length", None, size)
        if size > self.end - self.pos:
            reason = f"a length of {size}, but {counted(self.end - self.pos, 'byte')} left"
            raise self.fail(Fault.COUNT_TOO_LARGE, reason, start)
        return size

    def text(self, size: int, type_: model.Type) -> str:
        """UTF-8 of so many bytes, which are there."""
        start = self.pos
        self.charge(64 + size)
        data = self.take(size)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.pos = start + error.start
            self.note(start, "text", type_, data[: error.start].decode("utf-8"))
            raise self.fail(Fault.INVALID_UTF8, "a string is not valid UTF-8", start + error.start) from None
        self.note(start, "text", type_, text)
        return text

    def blob(self, size: int, type_: model.Type) -> bytes:
        start = self.pos
        self.charge(64 + size)
        data = self.take(size)
        self.note(start, "bytes", type_, data)
        return data

    def finish(self) -> None:
        """Nothing may follow, up to the end of the window."""
        left = self.end - self.pos
        if left:
            follow = "follows" if left == 1 else "follow"
            raise self.fail(
                Fault.TRAILING_BYTES, f"{counted(left, 'byte')} {follow} behind the end of the value"
            )

    @contextmanager
    def window(self, size: int) -> Iterator[None]:
        """Only the next `size` bytes, which are there, and all of them."""
        outer, self.end = self.end, self.pos + size
        yield
        self.finish()
        self.end = outer

    # Numbers ------------------------------------------------------------------------------------------------

    def checked(self, number: Number, value: int, at: int) -> int | bool:
        """A bool or member of a closed enum is one of the few numbers that it can be."""
        if number.members is None or value in number.members:
            return bool(value) if number.is_bool else value
        if number.is_bool:
            raise self.fail(Fault.INVALID_BOOL, f"{value} is neither 0 nor 1", at)
        assert isinstance(number.type, model.Named)
        raise self.fail(Fault.UNKNOWN_ENUM_VALUE, f"{value} is no member of {number.type.full_name}", at)

    # Other tiers --------------------------------------------------------------------------------------------

    def in_tier(self, type_: model.Named) -> Value:
        """A struct or union in its own tier, to the end of the window."""
        return self.tiers[self.schema.tier(type_)](self, type_)
