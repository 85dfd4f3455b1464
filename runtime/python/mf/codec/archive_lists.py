"""R1. Functions that read what one tag of a list, set or array has behind it in an archive message: an
element that has bytes of its own, packed numbers, or a run of numbers that are not packed.

Each takes the reader, behind the tag, and the elements so far, None at first; it returns them with those that
it reads. Fields of the same tag that follow are read too, so that a long list costs little more than its
elements. Numbers are charged for ahead: millions of them, read one by one, would take minutes to refuse.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mf.codec import packed, sizes
from mf.codec import shape as s
from mf.codec.archive_form import integer_of, is_zigzag, wire_of
from mf.codec.archive_value import Of, Read, value_read
from mf.codec.archive_wire import BYTES, FIXED_SIZES, VARINT, tag_of
from mf.codec.blocks import numbers
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.layout import converted, rules_of
from mf.codec.limits import U64_MAX, limits_of
from mf.codec.malformed import MalformedError
from mf.codec.reader import Reader

More = Callable[..., Any]


def uncharged(shape: s.Shape) -> int:
    """The memory of what is not charged for when it is read itself."""
    match bare(shape):
        case s.Struct() | s.Union() | s.Custom() | s.Scalar(name="string" | "bytes"):
            return 0
        case plain:
            return sizes.memory(plain)


def short_tag(number: int) -> int:
    """The tag of a field with a length, if it has one byte, else -1, which is none."""
    return number << 3 | BYTES if number < 16 else -1


def items_read(number: int, element: s.Shape, read: Read) -> More:
    """Elements that have bytes of their own."""
    memory, tag = 8 + uncharged(element), short_tag(number)

    def more(r: Reader, values: list[Any] | None = None) -> list[Any]:
        r.enter()
        if values is None:
            values = []
        while True:
            r.budget -= memory
            if r.budget < 0:
                raise r.over_budget()
            try:
                values.append(read(r))
            except CodecError as failure:
                failure.in_item(len(values))
                raise
            pos = r.pos
            if pos >= r.end or r.data[pos] != tag:
                break
            r.pos = pos + 1
        r.depth -= 1
        return values

    return more


def packed_read(element: s.Shape, of: Of) -> More:
    """Numbers, packed."""
    wire, memory = wire_of(element), 8 + uncharged(element)
    unpack, rules, take_one = _unpacker(element), rules_of(element), _one_taker(element, of)

    def more(r: Reader, values: list[Any] | None = None) -> list[Any]:
        r.enter()
        if values is None:
            values = []
        size = r.padded_length()
        outer, r.end = r.end, r.pos + size
        data = r.data[r.pos : r.end]
        r.charge(memory * (packed.numbers_in(data) if wire == VARINT else size // FIXED_SIZES[wire]))
        try:
            unpacked = unpack(r, data)
            if not rules or all(rule.holds_all(unpacked) for rule in rules):
                values += unpacked
                r.pos = r.end
        except (KeyError, IndexError, MalformedError):
            pass  # which one is wrong?
        while r.pos < r.end:
            take_one(r, values)
        r.end = outer
        r.depth -= 1
        return values

    return more


def unpacked_read(number: int, element: s.Shape, of: Of) -> More:
    """Numbers that are not packed: all that follow each other with the shortest form of their tag."""
    wire, memory, take_one = wire_of(element), 8 + uncharged(element), _one_taker(element, of)
    tag = tag_of(number, wire)

    def more(r: Reader, values: list[Any] | None, start: int) -> list[Any]:
        r.enter()
        if values is None:
            values = []
        run = _run(tag, wire).match(r.data, start, r.end)
        stop = start if run is None else run.end()
        if run is None:  # the tag is longer than needed, or the number wrong
            r.charge(memory)
        elif wire == VARINT:
            r.charge(packed.numbers_in(run[0]) // 2 * memory)  # a tag ends as a varint does
        else:
            r.charge((stop - start) // (len(tag) + FIXED_SIZES[wire]) * memory)
        take_one(r, values)
        while r.pos < stop:
            r.pos += len(tag)
            take_one(r, values)
        r.depth -= 1
        return values

    return more


@lru_cache(maxsize=256)
def _run(tag: bytes, wire: int) -> re.Pattern[bytes]:
    """Whole fields of a tag that follow each other. `++` never goes back, so that it takes no memory."""
    value = b"[\\x80-\\xff]{0,9}[\\0-\\x7f]" if wire == VARINT else b".{%d}" % FIXED_SIZES[wire]
    return re.compile(b"(?:%b%b)++" % (re.escape(tag), value), re.DOTALL)


def _one_taker(element: s.Shape, of: Of) -> Callable[[Reader, list[Any]], None]:
    read = value_read(element, of)

    def take_one(r: Reader, values: list[Any]) -> None:
        try:
            values.append(read(r))
        except CodecError as failure:
            failure.in_item(len(values))
            raise

    return take_one


def _unpacker(element: s.Shape) -> Callable[[Reader, bytes], list[Any]]:
    """All numbers of some bytes; gives up where one of them is wrong."""
    plain = bare(element)
    if isinstance(plain, s.Ref):
        target: Any = plain.element

        def references(r: Reader, data: bytes) -> list[Any]:
            objects = r.tables.get(target, [])
            return [objects[index] for index in packed.unpack_unsigned(data, U64_MAX)]

        return references
    convert, unpack = converted(plain), _numbers(plain)
    if convert is None:
        return lambda _, data: unpack(data)
    return lambda _, data: list(map(convert, unpack(data)))


def _numbers(plain: s.Shape) -> Callable[[bytes], list[Any]]:
    if plain is s.BOOL:
        return list
    integer = integer_of(plain)
    if integer is None:
        assert isinstance(plain, s.Scalar)
        letter, width = sizes.MEMCPY_CODES[plain.name], sizes.layout(plain)[0]

        def fixed(data: bytes) -> list[Any]:
            if len(data) % width:
                raise MalformedError
            return numbers(data, 0, len(data), letter)

        return fixed
    low, high = limits_of(integer)
    if is_zigzag(plain):
        return lambda data: packed.unpack_signed(data, high - low)
    if low == 0:
        return lambda data: packed.unpack_unsigned(data, high)
    return lambda data: packed.unpack_complements(data, low, high)
