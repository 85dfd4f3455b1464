"""R1. Values of tier memcpy: all parts of one are unpacked and packed by one `struct.Struct`, with explicit
padding and `<`, never `@`; a list of them by one call too.

    row = row_of(shape)         kept with a struct
    row.read(r)                 one value, of which all bytes are there; `row.read_many(r, count)`
    row.write(w, value)         one value; `row.write_many(w, values)`

Where a part is not what it may be, `read_laid` and `write_laid` go through the value part by part: they find
the place, or the bytes and values come out after all.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.contents import bare
from mf.codec.failure import CodecError, digits, shown
from mf.codec.fault import Fault
from mf.codec.limits import limits_of
from mf.codec.reader import Reader
from mf.codec.times import Duration, Timestamp
from mf.codec.writer import Writer, check, exactly, expected, in_range, integer, truth

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
    match bare(shape):
        case s.Scalar(name="uuid"):
            return "16s"
        case s.Scalar(name=name):
            return sizes.MEMCPY_CODES[name]
        case s.Enum(base=base):
            return format_of(base)
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
            return _held_to(shape, converted(shape.shape))
        case _:
            return None


def _held_to(shape: s.Checked, convert: Convert) -> Convert:
    rules = shape.rules

    def held(part: Any) -> Any:
        value = part if convert is None else convert(part)
        for rule in rules:
            if rule.violation(value) is not None:
                raise KeyError
        return value

    return held


def _maker(shape: s.Shape) -> Callable[[Iterator[Any]], Any]:
    """Takes the parts of a value, and makes it."""
    match shape:
        case s.Checked() if isinstance(bare(shape), s.Array | s.Struct):
            return _maker_held(shape)
        case s.Array(length=length):
            convert = None if _is_composed(shape.element) else converted(shape.element)
            if _is_composed(shape.element):
                one = _maker(shape.element)
                return lambda parts: [one(parts) for _ in range(length)]
            if convert is None:
                return lambda parts: list(islice(parts, length))
            return lambda parts: list(map(convert, islice(parts, length)))
        case s.Struct(make=make):
            makers = [_maker(each.shape) for each in shape.fields]
            return lambda parts: make(*[each(parts) for each in makers])
        case _:
            own = converted(shape)
            return next if own is None else lambda parts: own(next(parts))


def _maker_held(shape: s.Checked) -> Callable[[Iterator[Any]], Any]:
    one, rules = _maker(bare(shape)), rules_of(shape)

    def made(parts: Iterator[Any]) -> Any:
        value = one(parts)
        for rule in rules:
            if rule.violation(value) is not None:
                raise KeyError
        return value

    return made


def _is_composed(shape: s.Shape) -> bool:
    return isinstance(bare(shape), s.Array | s.Struct)


def _taker(shape: s.Shape) -> Callable[[Any], Any] | None:
    """From a value to what is packed of it; None: they are the same, or `struct` refuses it."""
    match shape:
        case s.Scalar(name="bool"):
            return truth
        case s.Scalar(name="uuid"):
            return _uuid_bytes
        case s.Enum(open=False, numbers=numbers):
            return lambda value: numbers[value] and value
        case s.Checked(rules=rules):
            inner = _taker(shape.shape)

            def held(value: Any) -> Any:
                check(rules, value)
                return value if inner is None else inner(value)

            return held
        case _:
            return None


def _uuid_bytes(value: Any) -> bytes:
    from uuid import UUID

    if not isinstance(value, UUID):
        raise expected("uuid.UUID", value)
    return value.bytes


def _flattener(shape: s.Shape) -> Callable[[Any, list[Any]], None]:
    """Appends what is packed of a value."""
    match shape:
        case s.Checked() if _is_composed(shape):
            inner, rules = _flattener(bare(shape)), rules_of(shape)

            def held(value: Any, parts: list[Any]) -> None:
                check(rules, value)
                inner(value, parts)

            return held
        case s.Array(length=length):
            if _is_composed(shape.element):
                one = _flattener(shape.element)

                def many(value: Any, parts: list[Any]) -> None:
                    for each in exactly(value, length):
                        one(each, parts)

                return many
            own = _taker(shape.element)
            if own is None:
                return lambda value, parts: parts.extend(exactly(value, length))
            each_taken = own  # which is not None
            return lambda value, parts: parts.extend(map(each_taken, exactly(value, length)))
        case s.Struct():
            own = parts_of(shape)
            inners = [_flattener(each.shape) for each in shape.fields]

            def fields(value: Any, parts: list[Any]) -> None:
                for each, part in zip(inners, own(value), strict=True):
                    each(part, parts)

            return fields
        case _:
            take = _taker(shape)
            return (
                (lambda value, parts: parts.append(value))
                if take is None
                else lambda value, parts: parts.append(take(value))
            )


def own_parts(shape: s.Struct) -> Callable[[Any], Sequence[Any]] | None:
    """Takes the fields out of a value of the type's class; AttributeError: one is not set."""
    attributes = [each.attribute for each in shape.fields]
    if shape.parts is not None or not attributes:
        return None
    get = attrgetter(*attributes)
    return get if len(attributes) > 1 else lambda value: (get(value),)


def parts_of(shape: s.Struct) -> Callable[[Any], Sequence[Any]]:
    """Takes a value apart into its fields; raises a CodecError for what is none of the type."""
    if shape.parts is not None:
        return shape.parts
    kind, name = shape.type, shape.name
    get = own_parts(shape) or (lambda _: ())

    def parts(value: Any) -> Sequence[Any]:
        if isinstance(value, kind):
            try:
                found: Sequence[Any] = get(value)
            except AttributeError:
                pass
            else:
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
        self._make = shape.make
        fields = [each.shape for each in shape.fields]
        flat = not any(map(_is_composed, fields))
        converts = [converted(each) for each in fields] if flat else []
        self._is_bare = flat and not any(converts)
        self._only = self._only_struct()
        self._made = self._make_of(flat, converts)
        self._make_many = self._many_of()
        self._own = parts_of(shape)
        self._get = own_parts(shape)
        self._flatten = self._flatten_of(flat, [_taker(each) for each in fields] if flat else [])

    def _only_struct(self) -> s.Struct | None:
        """The only field, if it is a struct of what `struct` makes."""
        fields = self._shape.fields
        only = fields[0].shape if len(fields) == 1 else None
        return only if isinstance(only, s.Struct) and row_of(only)._is_bare else None

    def _many_of(self) -> Callable[[Iterator[Any]], list[Any]]:
        """Makes all values of their parts."""
        make, made = self._shape.make, self._made
        if self._only is not None and make is s.bare_made:
            make = self._only.make
        elif self._is_bare and make is s.parts_made:
            return list
        elif self._is_bare and make is s.bare_made:
            return lambda rows: list(chain.from_iterable(rows))
        elif not self._is_bare:
            return lambda rows: [made(row) for row in rows]
        return lambda rows: list(starmap(make, rows))

    def _make_of(self, flat: bool, converts: list[Convert]) -> Callable[[Sequence[Any]], Any]:
        make = self._shape.make
        if self._is_bare:
            return lambda row: make(*row)
        if flat:
            return lambda row: make(
                *[
                    part if convert is None else convert(part)
                    for convert, part in zip(converts, row, strict=True)
                ]
            )
        if self._only is not None:
            inner = self._only.make
            if make is s.parts_made:
                return lambda row: (inner(*row),)
            return lambda row: make(inner(*row))
        one = _maker(self._shape)
        return lambda row: one(iter(row))

    def _flatten_of(
        self, flat: bool, takes: list[Callable[[Any], Any] | None]
    ) -> Callable[[Sequence[Any]], list[Any]] | None:
        """From the fields of a value to what is packed; None: they are the same."""
        if flat and not any(takes):
            return None
        if flat:
            return lambda parts: [
                part if take is None else take(part) for take, part in zip(takes, parts, strict=True)
            ]
        if self._only is not None:
            take = parts_of(self._only)
            return lambda parts: take(parts[0])  # type: ignore[return-value] # any sequence
        inners = [_flattener(each.shape) for each in self._shape.fields]

        def flatten(parts: Sequence[Any]) -> list[Any]:
            packed: list[Any] = []
            for each, part in zip(inners, parts, strict=True):
                each(part, packed)
            return packed

        return flatten

    def read(self, r: Reader) -> Any:
        pos = r.pos
        row = self._unpack(r.data, pos)
        r.pos = pos + self.size
        if self._is_bare:
            return self._make(*row)
        try:
            return self._made(row)
        except KeyError:
            return read_laid(r, self._shape, pos)

    def read_many(self, r: Reader, count: int) -> list[Any]:
        """Of which all bytes are there."""
        pos, size = r.pos, self.size
        end = pos + count * size
        if not size:
            return [self._made(()) for _ in range(count)]
        # A copy: CPython may free a memoryview before the iterator over it, and crash.
        rows = self._struct.iter_unpack(r.data[pos:end])
        try:
            values = self._make_many(rows)
        except KeyError:
            values = []
            for index in range(count):
                try:
                    values.append(read_laid(r, self._shape, pos + index * size))
                except CodecError as failure:
                    failure.in_item(index)
                    raise
        r.pos = end
        return values

    def write_many(self, w: Writer, values: Sequence[Any]) -> None:
        """Raises a CodecError without saying of which."""
        pack, flatten = self._pack, self._flatten
        try:
            rows = self._rows_of(values)
            if rows is not None:
                w.out += b"".join(starmap(pack, rows))
            elif flatten is None:
                w.out += b"".join([pack(*self._own(value)) for value in values])
            else:
                w.out += b"".join([pack(*flatten(self._own(value))) for value in values])
        except BULK_ERRORS:
            raise CodecError("one of them cannot be written") from None

    def _rows_of(self, values: Sequence[Any]) -> Iterable[Sequence[Any]] | None:
        """What is packed of each, without a loop of Python; None: they are to be taken apart one by one."""
        kind, only = self._shape.type, self._only
        if self._get is not None and kind is not object and set(map(type, values)) != {kind}:
            return None
        if only is None:
            if self._shape.parts is s.bare_parts and self._flatten is None:
                return zip(values)
            return map(self._get, values) if self._get is not None and self._flatten is None else None
        if self._get is not None:
            values = list(map(attrgetter(self._shape.fields[0].attribute), values))
        elif self._shape.parts is not s.bare_parts:
            return None
        get = own_parts(only)
        return map(get, values) if get is not None and set(map(type, values)) == {only.type} else None

    def write_parts(self, w: Writer, parts: Sequence[Any]) -> None:
        """Of one value."""
        try:
            w.out += self._pack(*(parts if self._flatten is None else self._flatten(parts)))
        except BULK_ERRORS:
            write_fields(w, self._shape, parts)


def row_of(shape: s.Struct) -> Row:
    found: Row | None = shape.row
    if found is None:
        found = shape.row = Row(shape)
    return found


# --- One part at a time


def read_laid(r: Reader, shape: s.Shape, at: int) -> Any:
    """A value in its layout; padding is skipped whatever it holds."""
    match shape:
        case s.Checked():
            return r.check(shape.rules, read_laid(r, shape.shape, at), at)
        case s.Array(length=length):
            size = sizes.layout(shape.element)[0]
            values: list[Any] = []
            try:
                for index in range(length):
                    values.append(read_laid(r, shape.element, at + index * size))
            except CodecError as failure:
                failure.in_item(len(values))
                raise
            return values
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
            convert = converted(shape)
            try:
                return part if convert is None else convert(part)
            except KeyError:
                raise wrong_part(r, shape, part, at) from None


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


def number_of(shape: s.Enum, value: Any) -> int:
    number = integer(shape.name, value)
    if shape.members is not None and number not in shape.members:
        raise CodecError(f"{digits(number)} is not a member of {shape.name}")
    return number
