"""F6. A label for each part of the bytes of a value: the runtime's `Reader`, with notes of what it has read.

These functions walk the shape of a type beside the bytes. What they hold the runtime's codec has checked
before, so nothing is made here and nothing refused: where the bytes make no sense, the labels end.

    value       of tier febird, among others            laid        in a memcpy layout
    alone       up to the end of the bytes              archive     labels_archive.py
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.contents import bare
from mf.codec.failure import CodecError, MalformedError
from mf.codec.json_write import NO_GRAPH, writers
from mf.codec.layout import places
from mf.codec.limits import MAX_DEPTH, U32_MAX, U64_MAX
from mf.codec.reader import Reader
from mf.codec.rows import BLOCK

Step = str | int
# (start, end, path, meaning, type, value); the last two are "" if there are none.
Note = Callable[[int, int, str, str, str, str], None]


Archive = Callable[["Labels", s.Struct | s.Union], None]


class EndOfLabelsError(Exception):
    """Behind these bytes nothing more can be labelled."""


class Labels(Reader):
    """`limit`: the offset of the fault, or the end of the bytes. `archive` labels what is of that tier."""

    __slots__ = ("_labelled", "_limit", "_note", "_root", "archive", "steps")

    def __init__(self, data: bytes, root: str, limit: int, note: Note, archive: "Archive") -> None:
        super().__init__(data, 0)
        self._root = root
        self._limit = limit
        self._note = note
        self._labelled = 0
        self.archive = archive
        self.steps: list[Step] = []

    def note(self, start: int, meaning: str, type_: str = "", value: str = "") -> None:
        """Of the bytes from `start` to here."""
        if self.pos > self._limit:
            raise EndOfLabelsError
        steps = [f"[{each}]" if isinstance(each, int) else f".{each}" for each in self.steps if each != ""]
        self._note(start, self.pos, f"{self._root}{''.join(steps)}".removeprefix("."), meaning, type_, value)
        self._labelled = self.pos

    @contextmanager
    def unchecked(self, end: int) -> Iterator[None]:
        """What is up to `end` the codec has not looked at, where the fault is behind it: what makes no sense
        gets one label."""
        steps, outer, depth = len(self.steps), self.end, self.depth
        try:
            yield
        except (CodecError, EndOfLabelsError):
            if end > self._limit:
                raise
            del self.steps[steps:]
            self.end, self.depth, self.pos = outer, depth, end
            start = self._labelled
            self.note(start, "object", value=self.data[start:end].hex(" "))

    def note_value(self, start: int, shape: s.Shape, value: Any, meaning: str = "value") -> None:
        self.note(start, meaning, _type_text(shape), _value_text(shape, value))

    @contextmanager
    def at(self, step: Step) -> Iterator[None]:
        """One step deeper in the value."""
        self.steps.append(step)
        yield
        self.steps.pop()

    @contextmanager
    def window(self, size: int) -> Iterator[None]:
        """The next `size` bytes, and all of them."""
        outer, self.end = self.end, self.pos + size
        yield
        self.finish()
        self.end = outer

    def length(self) -> int:
        start = self.pos
        size = self.unsigned(U32_MAX)
        self.note(start, "length", value=str(size))
        self.need(size)
        return size

    def padded_length(self) -> int:
        start = self.pos
        size = self.unsigned(U64_MAX, shortest=False)
        self.note(start, "length", value=str(size))
        self.need(size)
        return size

    def sized(self, shape: s.Shape, size: int) -> None:
        """A string, bytes, or a custom value, which is bytes here."""
        start, data = self.pos, self.take(size)
        if shape is not s.STRING:
            self.note_value(start, shape, data, "bytes")
            return
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self.pos = start + error.start
            self.note_value(start, shape, data[: error.start].decode(), "text")
            raise EndOfLabelsError from None
        self.note_value(start, shape, text, "text")


def alone(r: Labels, shape: s.Composite) -> None:
    """A value up to `r.end`."""
    if isinstance(shape, s.Custom):
        r.sized(shape, r.end - r.pos)
    elif shape.archive:
        r.archive(r, shape)
    else:
        _composite(r, shape)


def _composite(r: Labels, shape: s.Struct | s.Union) -> None:
    r.enter()
    if isinstance(shape, s.Union):
        _alternative(r, shape)
    elif shape.memcpy:
        laid(r, shape)
    else:
        for each in shape.fields:
            with r.at(each.name):
                value(r, each.shape)
    r.depth -= 1


def _alternative(r: Labels, shape: s.Union) -> None:
    start = r.pos
    number = r.unsigned(U32_MAX)
    chosen = next((each for each in shape.alternatives if each.number == number), None)
    if chosen is None:
        raise EndOfLabelsError
    with r.at(chosen.name):
        r.note(start, "alternative", value=str(number))
        value(r, chosen.shape)


def value(r: Labels, shape: s.Shape) -> None:
    """Of tier febird."""
    shape = bare(shape)
    match shape:
        case s.Scalar(name="string" | "bytes"):
            r.sized(shape, r.length())
        case s.Scalar() | s.Enum() if sizes.row_of(shape):
            _varint(r, shape)
        case s.Optional(element=element):
            if _presence(r):
                value(r, element)
        case s.List(element=element) | s.Set(element=element):
            _elements(r, element)
        case s.Array(element=element, length=length):
            if sizes.row_of(element):
                _row(r, element, length, _codes(r, _blocks(length)))
            else:
                _each(r, element, length)
        case s.Map():
            _map(r, shape)
        case s.Struct() | s.Union() | s.Custom() if shape.has_no_end:
            with r.window(r.length()):
                alone(r, shape)
        case s.Struct() | s.Union():
            _composite(r, shape)
        case _:
            laid(r, shape)


def _varint(r: Labels, shape: s.Shape) -> None:
    start, signed = r.pos, sizes.row_of(shape)[0] == "i"  # type: ignore[index] # it is in rows
    number = r.unsigned(U64_MAX)
    r.note_value(start, shape, number >> 1 ^ -(number & 1) if signed else number)


def _presence(r: Labels) -> bool:
    start = r.pos
    present = r.bit("presence")
    r.note(start, "present" if present else "absent")
    return present


def _count(r: Labels) -> int:
    start = r.pos
    count = r.unsigned(U32_MAX)
    r.note(start, "count", value=str(count))
    return count


def _each(r: Labels, element: s.Shape, count: int) -> None:
    if not sizes.smallest(element):
        return  # there is nothing to look at, however many they are
    for index in range(count):
        with r.at(index):
            value(r, element)


def _elements(r: Labels, element: s.Shape) -> None:
    if not sizes.row_of(element):
        _each(r, element, _count(r))
        return
    start = r.pos
    head = r.unsigned(U64_MAX)
    count, code = head >> 2, head & 3
    width = f" of {_wide(code)}" if count else ""
    r.note(start, f"head: {_counted(count, 'value')}{width}", value=str(head))
    if count:
        _row(r, element, count, [code, *_codes(r, _blocks(count) - 1)])


def _map(r: Labels, shape: s.Map) -> None:
    count = _count(r)
    if sizes.blocks_of(shape):
        for first in range(0, count, BLOCK):
            _block(r, shape, first, min(BLOCK, count - first))
        return
    for index in range(count):
        with r.at(index):
            value(r, shape.key)
            value(r, shape.value)


# Rows and blocks of integers --------------------------------------------------------------------------------


def _blocks(count: int) -> int:
    return -(-count // BLOCK)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _wide(code: int) -> str:
    return _counted(1 << code, "byte")


def _codes(r: Labels, count: int) -> list[int]:
    codes: list[int] = []
    while len(codes) < count:
        start, byte = r.pos, r.take(1)[0]
        here = [byte >> 2 * i & 3 for i in range(min(4, count - len(codes)))]
        r.note(start, "widths: " + ", ".join(map(_wide, here)), value=str(byte))
        codes += here
    return codes


def _row(r: Labels, element: s.Shape, count: int, codes: list[int]) -> None:
    for block, code in enumerate(codes):
        first = block * BLOCK
        _numbers(r, element, range(first, min(first + BLOCK, count)), code, "value")


def _block(r: Labels, shape: s.Map, first: int, count: int) -> None:
    start, byte = r.pos, r.take(1)[0]
    of_keys, of_values = byte & 3, byte >> 2 & 3
    r.note(start, f"widths: keys of {_wide(of_keys)}, values of {_wide(of_values)}", value=str(byte))
    places_ = range(first, first + count)
    # A value is far from its key, unlike in a pair: the label must distinguish them.
    _numbers(r, shape.key, places_, of_keys, "key")
    _numbers(r, shape.value, places_, of_values, "value")


def _numbers(r: Labels, shape: s.Shape, indices: range, code: int, meaning: str) -> None:
    signed = sizes.row_of(shape)[0] == "i"  # type: ignore[index] # it is in rows
    r.need(len(indices) << code)
    for index in indices:
        with r.at(index):
            start, data = r.pos, r.take(1 << code)
            r.note_value(start, bare(shape), int.from_bytes(data, "little", signed=signed), meaning)


# Layouts ----------------------------------------------------------------------------------------------------


def laid(r: Labels, shape: s.Shape) -> None:
    shape = bare(shape)
    match shape:
        case s.Struct():
            begin = r.pos
            for each, offset in places(shape):
                _padding(r, begin + offset)
                with r.at(each.name):
                    laid(r, each.shape)
            _padding(r, begin + sizes.layout(shape)[0])
        case s.Array(element=element, length=length):
            for index in range(length if sizes.layout(element)[0] else 0):
                with r.at(index):
                    laid(r, element)
        case _:
            fixed(r, shape)


def fixed(r: Labels, shape: s.Shape) -> None:
    """A scalar or enum in all of its bytes."""
    start = r.pos
    data = r.take(sizes.layout(shape)[0])
    base = shape.base if isinstance(shape, s.Enum) else shape
    assert isinstance(base, s.Scalar)
    if base.name == "uuid":
        r.note_value(start, shape, UUID(bytes=data))
        return
    (part,) = struct.unpack(f"<{sizes.MEMCPY_CODES[base.name]}", data)
    r.note_value(start, shape, part == 1 if base.name == "bool" and part < 2 else part)


def _padding(r: Labels, to: int) -> None:
    if to > r.pos:
        start = r.pos
        r.take(to - start)
        r.note(start, "padding")


# Texts ------------------------------------------------------------------------------------------------------


def _type_text(shape: s.Shape) -> str:
    match shape:
        case s.Scalar(name=name, coding=coding):
            return f"{name}.{coding}" if coding else name
        case s.Ref(element=element):
            return f"ref<{_type_text(element)}>"
        case _:
            return getattr(shape, "name", "")


def _value_text(shape: s.Shape, value: Any) -> str:
    """For people: as in JSON, without the quotes of what is no string."""
    match shape:
        case s.Scalar(name="bytes") | s.Custom():
            return bytes(value).hex(" ")
        case s.Ref():
            return str(value)
    try:
        text = writers.of(shape)(value, MAX_DEPTH, NO_GRAPH)
    except MalformedError:
        raise EndOfLabelsError from None  # a number that the type does not have
    return text if shape is s.STRING else text.replace('"', "")
