"""R1. Decodes flexible values (docs/protocol.md, section 5c). Every count is checked before anything is
allocated for it: against the bytes left, the depth, and a memory budget.

Each value has one encoding only; any other encoding of
it is refused, so that equal values have equal bytes.
"""

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from mf.codec import sizes
from mf.codec.codec import Buffer, bytes_of
from mf.codec.decode_error import DecodeError
from mf.codec.failure import CodecError, MalformedError
from mf.codec.fault import Fault
from mf.codec.flex import arrays
from mf.codec.flex.declared import Described, Typed, find, find_version
from mf.codec.flex.kinds import (
    I64_END,
    KEY_TAGS,
    MAX_DIMENSIONS,
    MAX_TYPE_NAME,
)
from mf.codec.limits import DEFAULT_LIMITS, MAX_DEPTH, U32_MAX, U64_MAX, Limits
from mf.codec.times import Timestamp
from mf.codec.varint import read_unsigned
from mf.core.error import Code, Error

_VALUE: Final = 40  # bytes of memory for a value and the reference to it
_ENTRY: Final = 160  # bytes of memory for an entry of a map
_FORMS: Final = "bhiq"
NO_TYPES: Final[Mapping[bytes, Described]] = MappingProxyType({})


class ValueReader:
    """Reads successive values of one buffer. Raises CodecError, to whose path each enclosing level adds its
    step."""

    __slots__ = ("_left", "_types", "data", "pos")

    def __init__(
        self, data: bytes, limits: Limits = DEFAULT_LIMITS, types: Mapping[bytes, Described] = NO_TYPES
    ) -> None:
        self.data = data
        self._types = types
        self.pos = 0
        self._left = limits.decoded

    # Primitives

    def fault(self, fault: Fault, text: str, at: int | None = None) -> CodecError:
        return CodecError(text, self.pos if at is None else at, fault, Code.DECODE_ERROR)

    def charge(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise self.fault(Fault.BUDGET_EXCEEDED, "it would take more memory than a message may")

    def unsigned(self, highest: int) -> int:
        data, pos = self.data, self.pos
        try:
            first = data[pos]
            if first < 128:
                self.pos = pos + 1
                return first
            number, self.pos = read_unsigned(data, pos, highest)
        except (MalformedError, IndexError):
            longest = 5 if highest <= U32_MAX else 10
            if len(data) - pos < longest and all(byte > 127 for byte in data[pos:]):
                raise self.fault(Fault.TRUNCATED, "the bytes end within a number") from None
            raise self.fault(Fault.MALFORMED_NUMBER, "not the shortest form of a number in range") from None
        return number

    def count(self, smallest: int, cost: int) -> int:
        """Reads a number of elements, each of at least `smallest` bytes, that cost `cost` bytes of memory."""
        at = self.pos
        count = self.unsigned(U32_MAX)
        self.need(count * smallest, at)
        self.charge(count * cost)
        return count

    def need(self, size: int, at: int) -> None:
        if size > len(self.data) - self.pos:
            left = len(self.data) - self.pos
            raise self.fault(Fault.COUNT_TOO_LARGE, f"{size:,} bytes are needed, {left:,} are left", at)

    def fixed(self, size: int) -> int:
        """Skips `size` bytes; returns where they begin."""
        at = self.pos
        if size > len(self.data) - at:
            raise self.fault(Fault.TRUNCATED, "the bytes end within a value")
        self.pos = at + size
        return at

    def blob(self, _depth: int = 0) -> bytes:
        begin = self.pos
        size = self.unsigned(U32_MAX)
        at = self.pos
        end = at + size
        if end > len(self.data):
            self.need(size, begin)
        self.charge(size)
        self.pos = end
        return self.data[at:end]

    def text(self, _depth: int = 0) -> str:
        at = self.pos
        try:
            return self.blob().decode()
        except UnicodeDecodeError:
            raise self.fault(Fault.INVALID_UTF8, "text that is no UTF-8", at) from None

    # Values

    def value(self, depth: int = 0) -> Any:
        at = self.pos
        try:
            tag = self.data[at]
        except IndexError:
            raise self.fault(Fault.TRUNCATED, "the bytes end before a value") from None
        self.pos = at + 1
        try:
            read = _READERS[tag]
        except IndexError:
            raise self.fault(Fault.UNKNOWN_ALTERNATIVE, f"no value begins with {tag}", at) from None
        self._left -= _VALUE
        if self._left < 0:
            self.charge(0)
        return read(self, depth)

    def _uuid(self, _depth: int) -> UUID:
        at = self.fixed(16)
        self.charge(200)
        return UUID(bytes=self.data[at : at + 16])

    def _deeper(self, depth: int) -> int:
        if depth >= MAX_DEPTH:
            raise self.fault(Fault.DEPTH_EXCEEDED, f"nested deeper than {MAX_DEPTH}", self.pos - 1)
        return depth + 1

    def _list(self, depth: int) -> list[Any]:
        begin = self.pos - 1
        depth = self._deeper(depth)
        count = self.count(1, 0)
        values: list[Any] = []
        try:
            for _ in range(count):
                values.append(self.value(depth))
        except CodecError as failure:
            failure.steps.append(f"[{len(values)}]")
            raise
        if _is_row(values):
            raise self.fault(Fault.WRONG_WIRE_TYPE, "a list of numbers of one kind is a row", begin)
        return values

    def _integers(self, _depth: int) -> list[int]:
        begin = self.pos
        head = self.unsigned(U32_MAX * 4 + 3)
        count, code = head >> 2, head & 3
        if not count:
            raise self.fault(Fault.MALFORMED_NUMBER, "a row without values is a list", begin)
        self.need(count << code, begin)
        self.charge(count * _VALUE)
        at = self.fixed(count << code)
        values = list(struct.unpack_from(f"<{count}{_FORMS[code]}", self.data, at))
        if code:
            end = 1 << (8 << (code - 1)) - 1
            if -end <= min(values) and max(values) < end:
                raise self.fault(Fault.MALFORMED_NUMBER, "a row that is wider than needed", begin)
        return values

    def _floats(self, _depth: int) -> list[float]:
        begin = self.pos
        count = self.count(8, _VALUE)
        if not count:
            raise self.fault(Fault.MALFORMED_NUMBER, "a row without values is a list", begin)
        return list(struct.unpack_from(f"<{count}d", self.data, self.fixed(8 * count)))

    def _map(self, depth: int) -> dict[Any, Any]:
        depth = self._deeper(depth)
        count = self.count(2, _ENTRY)
        values: dict[Any, Any] = {}
        before = b""
        step = ""
        try:
            for index in range(count):
                step, at = f"[key {index}]", self.pos
                if at < len(self.data) and self.data[at] not in KEY_TAGS:
                    raise self.fault(Fault.WRONG_WIRE_TYPE, "a key of a kind that keys are not of")
                key = self.value(depth)
                written = self.data[at : self.pos]
                if index and written <= before:
                    text = "a key that does not come behind the one before"
                    raise self.fault(Fault.KEYS_NOT_ASCENDING, text, at)
                before, step = written, ""
                values[key] = self.value(depth)
        except CodecError as failure:
            failure.steps.append(step or f"[{key!r}]")
            raise
        return values

    def _array(self, _depth: int) -> Any:
        begin = self.fixed(2)
        code, dimensions = self.data[begin], self.data[begin + 1]
        if not 1 <= code <= len(arrays.DTYPES):
            raise self.fault(Fault.UNKNOWN_ENUM_VALUE, f"no dtype has the code {code}", begin)
        if dimensions > MAX_DIMENSIONS:
            text = f"an array of {dimensions} dimensions, at most {MAX_DIMENSIONS} are allowed"
            raise self.fault(Fault.DEPTH_EXCEEDED, text, begin + 1)
        shape = tuple(self.unsigned(U64_MAX >> 1) for _ in range(dimensions))
        at = self.pos
        gap = self.data[self.fixed(1)]
        if gap != -self.pos % arrays.ALIGNMENT:
            raise self.fault(Fault.WRONG_LENGTH, "the elements do not stand at a multiple of 8", at)
        filling = self.fixed(gap)
        if any(self.data[filling : self.pos]):
            raise self.fault(Fault.WRONG_LENGTH, "filling that is not zero", at)
        if not all(shape) and max(shape) > U32_MAX:
            raise self.fault(Fault.COUNT_TOO_LARGE, "an array without elements of a length above 2^32", at)
        size = arrays.size_of(code, shape)
        self.need(size, begin)
        self.charge(_ENTRY)
        begin = self.fixed(size)
        try:
            return arrays.made(code, shape, self.data, begin)
        except ValueError:
            raise self.fault(Fault.INVALID_BOOL, "a bool that is neither 0 nor 1", begin) from None

    def _declared(self, _depth: int) -> Any:
        at = self.pos
        name = self.text()
        if not 1 <= len(name.encode()) <= MAX_TYPE_NAME:
            raise self.fault(Fault.COUNT_TOO_LARGE, f"the name of a type has 1 to {MAX_TYPE_NAME} bytes", at)
        where = self.fixed(16)
        fingerprint = self.data[where : where + 16]
        begin = self.pos
        data = self.blob()
        known = find(name, fingerprint)
        if known is None:
            return self._of_another_version(name, fingerprint, data)
        limits = Limits(decoded=self._left)
        try:
            value = known.codec.within(limits).decode(data)
        except DecodeError as failed:
            offset = self.pos - len(data) + failed.offset
            raise self.fault(failed.fault, failed.message, offset) from None
        except Error as failed:
            raise self.fault(Fault.NUMBER_OUT_OF_RANGE, failed.message, begin) from None
        self.charge(int(sizes.memory_of(known.codec.shape, 1, len(data))))
        return value

    def _of_another_version(self, name: str, fingerprint: bytes, data: bytes) -> Any:
        """As an object of the version that is known, if there is one and a rule leads there."""
        described, known = self._types.get(fingerprint), find_version(name)
        if described is not None and known is not None:
            try:
                value = described.convert(data, known)
            except Error:
                pass  # `Typed.to` raises the reason
            else:
                self.charge(int(sizes.memory_of(known.codec.shape, 1, len(data))))
                return value
        self.charge(_ENTRY)
        return Typed(name, fingerprint, data, described)

    def finish(self) -> None:
        if self.pos != len(self.data):
            left = len(self.data) - self.pos
            raise self.fault(Fault.TRAILING_BYTES, f"{left:,} bytes follow")


def _is_row(values: list[Any]) -> bool:
    kinds = set(map(type, values))
    return kinds == {float} or (kinds == {int} and max(values) < I64_END)


def explained(failure: CodecError) -> DecodeError:
    """The fault with path and offset in its message."""
    path, offset = "".join(reversed(failure.steps)), failure.offset or 0
    text = f"{path}: {failure.reason} (at byte {offset:,})".removeprefix(": ")
    return DecodeError(failure.fault, text, offset=offset, path=path)


_Read = Callable[[ValueReader, int], Any]


def _number(form: str, beyond: int) -> _Read:
    """`beyond`: smaller numbers have a shorter form."""
    layout = struct.Struct(form)
    unpack, size = layout.unpack_from, layout.size

    def read(reader: ValueReader, _depth: int) -> Any:
        at = reader.fixed(size)
        (number,) = unpack(reader.data, at)
        if beyond and -beyond <= number < beyond:
            raise reader.fault(Fault.MALFORMED_NUMBER, "an integer that is wider than needed", at)
        return number

    return read


_read_i64: Final = _number("<q", 0)
_READERS: Final[tuple[_Read, ...]] = (
    lambda _, __: None,
    lambda _, __: False,
    lambda _, __: True,
    _number("<b", 0),
    _number("<h", 1 << 7),
    _number("<i", 1 << 15),
    _number("<q", 1 << 31),
    _number("<Q", I64_END),
    _number("<d", 0),
    ValueReader.text,
    ValueReader.blob,
    lambda reader, depth: Timestamp(_read_i64(reader, depth)),
    ValueReader._uuid,
    ValueReader._list,
    ValueReader._integers,
    ValueReader._floats,
    ValueReader._map,
    ValueReader._array,
    ValueReader._declared,
)


def decode(data: Buffer, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Decodes the single value in `data`."""
    reader = ValueReader(bytes_of(data), limits)
    try:
        value = reader.value()
        reader.finish()
    except CodecError as failure:
        raise explained(failure) from None
    return value
