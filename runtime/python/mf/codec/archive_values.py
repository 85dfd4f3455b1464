"""R1. Functions that read what is behind a tag in an archive message: all but messages
(mf.codec.archive_message).

    value_read(shape, of)               read(r) -> one value
    repeated_read, packed_read, unpacked_read
                                        more(r, values) -> the elements so far, and those that it reads

What reads elements takes None at first. Fields of the same tag that follow are read too, so that a long list
costs little more than its elements. Numbers are charged for ahead: millions of them, read one by one, would
take minutes to refuse.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mf.codec import packed, sizes
from mf.codec import shape as s
from mf.codec.archive_form import integer_of, is_zigzag, wire_of
from mf.codec.archive_wire import BYTES, FIXED_SIZES, VARINT, tag_of
from mf.codec.blocks import numbers
from mf.codec.composed import Of, Read, checked_read, texts_read
from mf.codec.contents import bare
from mf.codec.custom_coding import read_custom
from mf.codec.failure import CodecError, MalformedError
from mf.codec.fault import Fault
from mf.codec.febird import fixed_pair
from mf.codec.layout import converted, rules_of, wrong_part
from mf.codec.limits import U32_MAX, U64_MAX, limits_of
from mf.codec.reader import Reader

More = Callable[..., Any]


def value_read(shape: s.Shape, of: Of) -> Read:
    if isinstance(shape, s.Checked):
        return checked_read(value_read(shape.shape, of), shape.rules)
    if integer_of(shape) is not None:
        return _integer(shape)
    match shape:
        case s.Scalar(name="bool"):
            return _bool
        case s.Scalar(name="string"):
            return _string
        case s.Scalar(name="bytes"):
            return _bytes
        case s.Scalar(name="uuid"):
            return _uuid
        case s.Scalar():
            return fixed_pair(shape)[0]
        case s.Ref(element=s.Struct() | s.Union() as element):
            return lambda r: _reference(r, element)
        case s.Custom():
            return lambda r: read_custom(r, shape, r.padded_length())
        case s.Struct() | s.Union():
            return _foreign(shape, of)
        case _:
            raise TypeError(f"{type(shape).__name__} is a message")


def _integer(shape: s.Shape) -> Read:
    name = integer_of(shape)
    assert name is not None
    low, high = limits_of(name)
    convert, signed, zigzag = converted(shape), name[0] == "i", is_zigzag(shape)

    def read(r: Reader) -> Any:
        at = r.pos
        if at < r.end and (number := r.data[at]) < 128:
            r.pos = at + 1
        else:
            number = r.unsigned(U64_MAX, shortest=False)
        if zigzag:
            number = ~(number >> 1) if number & 1 else number >> 1
        elif signed and number >> 63:
            number -= 1 << 64
        if not low <= number <= high:
            raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"{number} does not fit in {name}", at)
        if convert is None:
            return number
        try:
            return convert(number)
        except KeyError:
            raise wrong_part(r, shape, number, at) from None

    return read


def _bool(r: Reader) -> bool:
    at = r.pos
    if at < r.end and (number := r.data[at]) < 2:
        r.pos = at + 1
        return number == 1
    number = r.unsigned(U64_MAX, shortest=False)
    if number > 1:
        raise r.fail(Fault.INVALID_BOOL, f"bool {number} is neither 0 nor 1", at)
    return number == 1


_string, _bytes = texts_read(Reader.padded_length)


def _uuid(r: Reader) -> Any:
    from uuid import UUID

    at = r.pos
    size = r.padded_length()
    if size != 16:
        raise r.fail(Fault.WRONG_LENGTH, f"a uuid has 16 bytes, not {size}", at)
    return UUID(bytes=r.take(16))


def _reference(r: Reader, element: s.Struct | s.Union) -> Any:
    at = r.pos
    number = r.unsigned(U64_MAX, shortest=False)
    if number > U32_MAX:
        raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"an index of {number} does not fit in u32", at)
    return object_at(r, element, number, at)


def object_at(r: Reader, element: s.Struct | s.Union, number: int, at: int) -> Any:
    """The object of the graph that is read just now."""
    objects = r.tables.get(element, [])
    if number >= len(objects):
        reason = f"{number} is behind the end of the table of {element.name}, which has {len(objects)}"
        raise r.fail(Fault.INVALID_REFERENCE, reason, at)
    return objects[number]


def _foreign(shape: s.Struct | s.Union, of: Of) -> Read:
    """A value of another tier, which fills its bytes."""
    coding = of(shape)

    def read(r: Reader) -> Any:
        at = r.pos
        size = r.padded_length()
        if isinstance(shape, s.Struct) and shape.memcpy and size != sizes.layout(shape)[0]:
            reason = f"{shape.name} has {sizes.layout(shape)[0]} bytes, not {size}"
            raise r.fail(Fault.WRONG_LENGTH, reason, at)
        tables, reading, end = r.tables, r.reading, r.end
        r.tables, r.reading, r.end = {}, None, r.pos + size
        value = coding.read(r)
        r.finish()
        r.tables, r.reading, r.end = tables, reading, end
        return value

    return read


# --- Lists, sets and arrays


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


def repeated_read(number: int, element: s.Shape, read: Read) -> More:
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
