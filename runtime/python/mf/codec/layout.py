"""R1. Values of tier memcpy: all parts of one are unpacked and packed by one `struct.Struct`, with explicit
padding and `<`, never `@`; a list of them by one call too.

    row = row_of(shape)         kept with a struct
    row.read(r)                 one value; `row.read_many(r, count)`: many, of which all bytes are there
    row.write_parts(w, parts)   one value, from those of its fields; `row.write_many(w, values)`

Where a part is not what it may be, `read_laid` and `write_laid` go through the value part by part: they find
the place, or the bytes and values come out after all.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, starmap
from operator import attrgetter, itemgetter
from typing import Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.contents import bare, scalar_of
from mf.codec.failure import CodecError, digits, shown
from mf.codec.fault import Fault
from mf.codec.limits import limits_of
from mf.codec.reader import Reader
from mf.codec.rules import Rule, held_by
from mf.codec.times import Duration, Timestamp
from mf.codec.writer import Writer, check, check_set, exactly, expected, in_range, integer, truth

Convert = Callable[[Any], Any] | None
BULK_ERRORS: Final = (
    CodecError,
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    struct.error,
)
"""What writing many parts at once raises where one of them is wrong, or only rare: which, is found then."""

BOOLS: Final[dict[int, bool]] = {0: False, 1: True}


def rules_of(shape: s.Shape) -> list[Any]:
    rules: list[Any] = []
    while isinstance(shape, s.Checked):
        rules += shape.rules
        shape = shape.shape
    return rules


def format_of(shape: s.Shape) -> str:
    """What `struct` calls the layout, padding included."""
    scalar = scalar_of(shape)
    if scalar is not None:
        return "16s" if scalar.name == "uuid" else sizes.MEMCPY_CODES[scalar.name]
    match bare(shape):
        case s.Array(element=element, length=length):
            while isinstance(inner := bare(element), s.Array):
                element, length = inner.element, length * inner.length
            one = format_of(element)
            return f"{length}{one}" if len(one) == 1 else one * length
        case s.Struct() as plain:
            return _struct_format(plain)
        case other:
            raise TypeError(f"{type(other).__name__} has no memory layout")


def places(plain: s.Struct) -> Iterator[tuple[s.Field, int]]:
    """The fields of a memcpy struct, each with its offset."""
    end = 0
    for each in plain.fields:
        size, align = sizes.layout(each.shape)
        end += -end % align
        yield each, end
        end += size


def _struct_format(plain: s.Struct) -> str:
    text, end = "", 0
    for each, at in places(plain):
        text += f"{at - end}x" * (at > end) + format_of(each.shape)
        end = at + sizes.layout(each.shape)[0]
    rest = sizes.layout(plain)[0] - end
    return text + f"{rest}x" * (rest > 0)


# --- What the parts stand for


def converted(shape: s.Shape) -> Convert:
    """From an unpacked part to its value; None: they are the same. KeyError: it is not what it may be."""
    match shape:
        case s.Scalar(name="bool"):
            return BOOLS.__getitem__
        case s.Scalar(name="uuid"):
            from uuid import UUID

            return lambda part: UUID(bytes=part)
        case s.Scalar(name="timestamp"):
            return Timestamp
        case s.Scalar(name="duration"):
            return Duration
        case s.Enum(values=values):
            return values.__getitem__
        case s.Checked():
            return _held_to(shape.rules, converted(shape.shape))
        case _:
            return None


def _held_to(rules: Sequence[Rule], convert: Convert) -> Callable[[Any], Any]:
    holds = held_by(rules)

    def held(part: Any) -> Any:
        value = part if convert is None else convert(part)
        if not holds(value):
            raise KeyError
        return value

    return held


def is_composed(shape: s.Shape) -> bool:
    return isinstance(bare(shape), s.Array | s.Struct)


def _count(shape: s.Shape) -> int:
    """The parts of a value."""
    match bare(shape):
        case s.Array(element=element, length=length):
            return length * _count(element)
        case s.Struct() as plain:
            return sum(_count(each.shape) for each in plain.fields)
        case _:
            return 1


def _maker(shape: s.Shape) -> Callable[[Sequence[Any]], Any]:
    """Makes an array or struct of all its parts."""
    match shape:
        case s.Checked():
            return _held_to(shape.rules, _maker(shape.shape))
        case s.Array(element=element, length=length):
            if is_composed(element):
                one, size = _maker(element), _count(element)
                return lambda row: [one(row[at * size : (at + 1) * size]) for at in range(length)]
            convert = converted(element)
            return list if convert is None else lambda row: list(map(convert, row))
        case s.Struct(make=make):
            if _is_plain(shape):
                return lambda row: make(*row)
            if len(shape.fields) == 1 and is_composed(only := shape.fields[0].shape):
                inner = _maker(only)
                return lambda row: make(inner(row))
            gets: list[Callable[[Sequence[Any]], Any]] = []
            begin = 0
            for each in shape.fields:
                end = begin + _count(each.shape)
                gets.append(_part(each.shape, begin, end))
                begin = end
            return lambda row: make(*[get(row) for get in gets])
        case _:
            raise TypeError(f"{type(shape).__name__} is of one part")


def _part(shape: s.Shape, begin: int, end: int) -> Callable[[Sequence[Any]], Any]:
    """Makes the value of a field, which has these parts of a struct."""
    if is_composed(shape):
        made = _maker(shape)
        return lambda row: made(row[begin:end])
    convert = converted(shape)
    return itemgetter(begin) if convert is None else lambda row: convert(row[begin])


def _is_plain(shape: s.Struct) -> bool:
    """Whether its fields are the parts as they are."""
    return not any(is_composed(each.shape) or converted(each.shape) for each in shape.fields)


def _makes(shape: s.Struct) -> Callable[[Iterable[Sequence[Any]]], list[Any]]:
    """Makes many structs of the parts of each, if it can be without a loop of Python."""
    make, only = shape.make, _only(shape)
    if only is not None and make in (s.bare_made, s.parts_made):
        inner = _makes(only)
        return inner if make is s.bare_made else lambda rows: list(zip(inner(rows)))
    if not _is_plain(shape):
        one = _maker(shape)
        return lambda rows: list(map(one, rows))
    if make is s.parts_made:
        return list
    if make is s.bare_made:
        return lambda rows: list(chain.from_iterable(rows))
    return lambda rows: list(starmap(make, rows))


def _only(shape: s.Struct) -> s.Struct | None:
    """The only field, if it is a struct."""
    only = shape.fields[0].shape if len(shape.fields) == 1 else None
    return only if isinstance(only, s.Struct) else None


# --- What is packed of values


def _taken(shape: s.Shape) -> Callable[[Any], Any] | None:
    """From a value to its part, or of an array or struct to its parts; None: they are the same, or `struct`
    refuses it."""
    match shape:
        case s.Scalar(name="bool"):
            return truth
        case s.Scalar(name="uuid"):
            return _uuid_bytes
        case s.Enum(open=False, numbers=numbers):
            return lambda value: numbers[value] and value
        case s.Checked(rules=rules):
            inner = _taken(shape.shape)

            def held(value: Any) -> Any:
                check(rules, value)
                return value if inner is None else inner(value)

            return held
        case s.Array(element=element, length=length):
            take = _taken(element)
            if take is None:
                return lambda value: exactly(value, length)
            if is_composed(element):
                return lambda value: chain.from_iterable(map(take, exactly(value, length)))
            return lambda value: map(take, exactly(value, length))
        case s.Struct():
            own, flatten = parts_of(shape), _flattened(shape)
            return own if flatten is None else lambda value: flatten(own(value))
        case _:
            return None


def _uuid_bytes(value: Any) -> bytes:
    from uuid import UUID

    if not isinstance(value, UUID):
        raise expected("uuid.UUID", value)
    return value.bytes


def _flattened(shape: s.Struct) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """From the fields of a value to its parts; None: they are the same."""
    steps = [(is_composed(each.shape), _taken(each.shape)) for each in shape.fields]
    if not any(take for _, take in steps):
        return None
    if len(steps) == 1 and (only := steps[0][1]) and steps[0][0]:
        return lambda parts: only(parts[0])

    def flatten(parts: Sequence[Any]) -> list[Any]:
        packed: list[Any] = []
        for (is_many, take), part in zip(steps, parts, strict=True):
            if take is None:
                packed.append(part)
            elif is_many:
                packed.extend(take(part))
            else:
                packed.append(take(part))
        return packed

    return flatten


def attributes_of(fields: Sequence[s.Field]) -> Callable[[Any], Sequence[Any]]:
    """Takes fields out of a value of the type's class; AttributeError: one is not set."""
    get = attrgetter(*(each.attribute for each in fields)) if fields else lambda _: ()
    return get if len(fields) != 1 else lambda value: (get(value),)


def parts_of(shape: s.Struct) -> Callable[[Any], Sequence[Any]]:
    """Takes a value apart into its fields; raises a CodecError for what is none of the type."""
    if shape.parts is not None:
        return shape.parts
    kind, name = shape.type, shape.name
    get = attributes_of(shape.fields)
    names = [(each.name, each.attribute) for each in shape.fields]
    if kind is not object and shape.implicit:  # several results: the schema has no name for their class
        name = kind.__qualname__

    def parts(value: Any) -> Sequence[Any]:
        if isinstance(value, kind):
            found: Sequence[Any]
            try:
                found = get(value)
            except AttributeError:
                if kind is not object:
                    check_set(names, value)
                raise expected(name, value) from None
            return found
        raise expected(name, value)

    return parts


class Row:
    """Reads and writes values of one struct of tier memcpy."""

    def __init__(self, shape: s.Struct) -> None:
        self._shape = shape
        self._struct = struct.Struct(f"<{format_of(shape)}")
        self.size: Final = self._struct.size
        self._unpack = self._struct.unpack_from
        self._pack = self._struct.pack
        self._make, self._make_many = _maker(shape), _makes(shape)
        self._parts = parts_of(shape)
        self._own = attributes_of(shape.fields) if shape.fields and shape.parts is None else None
        self._flatten = _flattened(shape)

    def read(self, r: Reader) -> Any:
        pos = r.pos
        if pos + self.size > r.end:
            r.need(self.size)
        r.pos = pos + self.size
        try:
            return self._make(self._unpack(r.data, pos))
        except KeyError:
            return read_laid(r, self._shape, pos)

    def read_many(self, r: Reader, count: int) -> list[Any]:
        """Of which all bytes are there."""
        pos, size = r.pos, self.size
        r.pos = end = pos + count * size
        # A copy: CPython may free a memoryview before the iterator over it, and crash.
        rows = self._struct.iter_unpack(r.data[pos:end]) if size else [()] * count
        try:
            return self._make_many(rows)
        except KeyError:
            return [read_item(r, self._shape, index, pos + index * size) for index in range(count)]

    def write_many(self, w: Writer, values: Sequence[Any]) -> None:
        """Raises a CodecError without saying of which."""
        pack, own, flatten = self._pack, self._parts, self._flatten
        try:
            rows = self._rows_of(values)
            if rows is not None:
                w.out += b"".join(starmap(pack, rows))
            elif flatten is None:
                w.out += b"".join([pack(*own(value)) for value in values])
            else:
                w.out += b"".join([pack(*flatten(own(value))) for value in values])
        except BULK_ERRORS:
            raise CodecError("one of them cannot be written") from None

    def _rows_of(self, values: Sequence[Any]) -> Iterable[Sequence[Any]] | None:
        """The parts of each, without a loop of Python; None: they are to be taken apart one by one."""
        kind, own, only = self._shape.type, self._own, _only(self._shape)
        is_bare = self._shape.parts is s.bare_parts
        if own is not None and kind is not object and set(map(type, values)) != {kind}:
            return None
        if self._flatten is None:
            return map(own, values) if own is not None else zip(values) if is_bare else None
        if only is None or (own is None and not is_bare):
            return None
        if own is not None:
            values = list(map(attrgetter(self._shape.fields[0].attribute), values))
        return row_of(only)._rows_of(values)

    def write_parts(self, w: Writer, parts: Sequence[Any]) -> None:
        """Of one value."""
        try:
            w.out += self._pack(*(parts if self._flatten is None else self._flatten(parts)))
        except BULK_ERRORS:
            write_fields(w, self._shape, parts)


@s.kept
def row_of(shape: s.Struct) -> Row:
    return Row(shape)


# --- One part at a time


def read_laid(r: Reader, shape: s.Shape, at: int) -> Any:
    """A value in its layout; padding is skipped whatever it holds."""
    match shape:
        case s.Checked():
            return r.check(shape.rules, read_laid(r, shape.shape, at), at)
        case s.Array(length=length):
            size = sizes.layout(shape.element)[0]
            return [read_item(r, shape.element, index, at + index * size) for index in range(length)]
        case s.Struct():
            parts = []
            for each, offset in places(shape):
                try:
                    parts.append(read_laid(r, each.shape, at + offset))
                except CodecError as failure:
                    failure.in_field(each.name)
                    raise
            return shape.make(*parts)
        case _:
            (part,) = struct.unpack_from(f"<{format_of(shape)}", r.data, at)
            return value_of(r, shape, part, at)


def value_of(r: Reader, shape: s.Shape, part: Any, at: int) -> Any:
    """The value of a part; a violated constraint is kept in mind."""
    plain = bare(shape)
    convert = converted(plain)
    try:
        value = part if convert is None else convert(part)
    except KeyError:
        raise wrong_part(r, plain, part, at) from None
    return r.check(rules_of(shape), value, at)


def read_item(r: Reader, shape: s.Shape, index: int, at: int) -> Any:
    try:
        return read_laid(r, shape, at)
    except CodecError as failure:
        failure.in_item(index)
        raise


def wrong_part(r: Reader, shape: s.Shape, part: int, at: int) -> CodecError:
    """Of a bool or closed enum."""
    if isinstance(shape, s.Enum):
        return r.fail(Fault.UNKNOWN_ENUM_VALUE, f"{part} is not a member of {shape.name}", at)
    return r.fail(Fault.INVALID_BOOL, f"bool byte {part} is neither 0 nor 1", at)


def write_laid(w: Writer, shape: s.Shape, value: Any, start: int) -> None:
    """A value in its layout, aligned from `start`."""
    _, align = sizes.layout(shape)
    w.out += bytes(-(len(w.out) - start) % align)
    match shape:
        case s.Checked():
            write_laid(w, shape.shape, value, start)
            check(shape.rules, value)
        case s.Array():
            for index, element in enumerate(exactly(value, shape.length)):
                try:
                    write_laid(w, shape.element, element, start)
                except CodecError as failure:
                    failure.in_item(index)
                    raise
        case s.Struct():
            write_fields(w, shape, parts_of(shape)(value))
        case s.Scalar() | s.Enum():
            write_fixed(w, shape, value)
        case _:
            raise TypeError(f"{type(shape).__name__} has no memory layout")


def write_fields(w: Writer, shape: s.Struct, parts: Sequence[Any]) -> None:
    begin = len(w.out)
    for each, part in zip(shape.fields, parts, strict=True):
        try:
            write_laid(w, each.shape, part, begin)
        except CodecError as failure:
            failure.in_field(each.name)
            raise
    w.out += bytes(sizes.layout(shape)[0] - (len(w.out) - begin))


def write_fixed(w: Writer, shape: "s.Scalar | s.Enum", value: Any) -> None:
    """A scalar as a layout has it."""
    if isinstance(shape, s.Enum):
        write_fixed(w, shape.base, number_of(shape, value))
        return
    match shape.name:
        case "bool":
            w.out.append(truth(value))
        case "f32" | "f64":
            w.out += float_bytes(shape.name, value)
        case "uuid":
            w.out += _uuid_bytes(value)
        case name:
            low, high = limits_of(name)
            w.out += struct.pack(f"<{sizes.MEMCPY_CODES[name]}", in_range(name, low, high, value))


def float_bytes(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        raise expected(name, value)
    try:
        return struct.pack("<f" if name == "f32" else "<d", value)
    except OverflowError:
        raise CodecError(f"{shown(value)} does not fit in {name}") from None
    except struct.error:
        raise expected(name, value) from None


def fits_of(shape: s.Shape) -> Callable[[Sequence[Any]], bool] | None:
    """Whether numbers are members of a closed enum, and keep the constraints; None: there is neither."""
    rules, plain = rules_of(shape), bare(shape)
    numbers = plain.numbers.keys() if isinstance(plain, s.Enum) and not plain.open else None
    if numbers is None and not rules:
        return None

    def fits(values: Sequence[Any]) -> bool:
        return all(rule.holds_all(values) for rule in rules) and (numbers is None or numbers >= set(values))

    return fits


def number_of(shape: s.Enum, value: Any) -> int:
    number = integer(shape.name, value)
    if shape.members is not None and number not in shape.members:
        raise CodecError(f"{digits(number)} is not a member of {shape.name}")
    return number
