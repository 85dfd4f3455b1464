"""R1. Functions that read lists, sets and arrays of archive messages: packed numbers, runs of unpacked ones,
and values one by one.

Numbers are charged for ahead: millions of them, read one by one, would take minutes to refuse.
"""

from collections.abc import Callable
from typing import Any, Final

from mf.codec import packed, sizes
from mf.codec import shape as s
from mf.codec.archive_form import integer_of, is_zigzag, wire_of
from mf.codec.archive_runs import Runs, packed_in, runs_of
from mf.codec.archive_value import Of, value_read
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.layout import converted, rules_of
from mf.codec.limits import MAX_DEPTH, U64_MAX, limits_of
from mf.codec.malformed import MalformedError
from mf.codec.reader import Reader
from mf.codec.row_read import numbers

_FEW: Final = 64  # bytes of numbers that are read before they are charged for
Into = Callable[[Reader, dict[int, Any]], None]
"""Reads what one tag of a place has behind it, into what has been found by number."""


def uncharged(shape: s.Shape) -> int:
    """The memory of what is not charged for when it is read itself."""
    match bare(shape):
        case s.Struct() | s.Union() | s.Custom() | s.Scalar(name="string" | "bytes"):
            return 0
        case plain:
            return sizes.memory(plain)


def item_into(number: int, element: s.Shape, read: Callable[[Reader], Any]) -> Into:
    """An element that has bytes of its own."""
    memory = 8 + uncharged(element)

    def into(r: Reader, found: dict[int, Any]) -> None:
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        values = found.get(number)
        if values is None:
            values = found[number] = []
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        try:
            values.append(read(r))
        except CodecError as failure:
            failure.in_item(len(values))
            raise
        r.depth -= 1

    return into


def packed_into(number: int, element: s.Shape, of: Of) -> Into:
    """Numbers, packed."""
    take_packed = _packed_taker(element, 8 + uncharged(element), _one_taker(value_read(element, of).read))

    def into(r: Reader, found: dict[int, Any]) -> None:
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        values = found.get(number)
        if values is None:
            values = found[number] = []
        size = r.padded_length()
        outer, r.end = r.end, r.pos + size
        take_packed(r, values)
        r.end = outer
        r.depth -= 1

    return into


def unpacked(number: int, element: s.Shape, of: Of) -> Callable[[Reader, Any, int], None]:
    """A number that is not packed, in an open message (mf.codec.archive_message); the last argument: where
    its tag begins."""
    runs, memory = runs_of(number, wire_of(element)), 8 + uncharged(element)
    take_one = _one_taker(value_read(element, of).read)

    def take(r: Reader, opened: Any, tag: int) -> None:
        r.enter()
        values = opened.values.setdefault(number, [])
        if tag >= opened.charged:
            opened.charged = _charge_run(r, runs, memory, tag)
        take_one(r, values)
        r.depth -= 1

    return take


def _packed_taker(element: s.Shape, memory: int, take_one: Callable[[Reader, list[Any]], None]) -> Any:
    """Reads all numbers up to `r.end`."""
    wire, unpack, rules = wire_of(element), _unpacker(element), rules_of(element)

    def take_packed(r: Reader, values: list[Any]) -> None:
        data = r.data[r.pos : r.end]
        found: list[Any] | None
        if len(data) > _FEW:
            r.charge(packed_in(data, wire) * memory)
        try:
            found = unpack(r, data)
        except (KeyError, IndexError, MalformedError):
            found = None  # which one is wrong?
        if len(data) <= _FEW:
            r.charge((packed_in(data, wire) if found is None else len(found)) * memory)
        if found is None or (rules and not all(rule.holds_all(found) for rule in rules)):
            while r.pos < r.end:
                take_one(r, values)
            return
        r.pos = r.end
        values += found

    return take_packed


def _one_taker(read: Callable[[Reader], Any]) -> Callable[[Reader, list[Any]], None]:
    def take_one(r: Reader, values: list[Any]) -> None:
        try:
            values.append(read(r))
        except CodecError as failure:
            failure.in_item(len(values))
            raise

    return take_one


def _charge_run(r: Reader, runs: Runs, memory: int, tag: int) -> int:
    """For the numbers that follow each other from `tag` on. Returns where the run ends."""
    pos, stop = tag, runs.stop(r.data, tag, r.end)
    if stop == tag:  # the tag is longer than needed, or the number wrong
        r.charge(memory)
    while stop > pos:
        r.charge(runs.count(r.data, pos, stop) * memory)
        pos, stop = stop, runs.stop(r.data, stop, r.end)
    return stop


def _unpacker(element: s.Shape) -> Callable[[Reader, bytes], list[Any]]:
    """All numbers of some bytes; gives up where one of them is wrong."""
    plain = bare(element)
    if isinstance(plain, s.Ref):
        target: Any = plain.element

        def references(r: Reader, data: bytes) -> list[Any]:
            objects = r.tables.get(target, [])
            return [objects[index] for index in packed.unpack_unsigned(data, U64_MAX)]

        return references
    convert = converted(plain)
    unpack = _numbers(plain)
    if plain is s.BOOL:
        return lambda _, data: packed.unpack_bools(data)
    if convert is None:
        return lambda _, data: unpack(data)
    return lambda _, data: list(map(convert, unpack(data)))


def _numbers(plain: s.Shape) -> Callable[[bytes], list[Any]]:
    integer = integer_of(plain)
    if integer is None:
        assert isinstance(plain, s.Scalar)
        letter = sizes.MEMCPY_CODES[plain.name]
        width = sizes.layout(plain)[0]

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
    return lambda data: packed.unpack_members(data, low, high)
