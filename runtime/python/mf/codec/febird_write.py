"""R1. Functions that write values of tier febird, one for each shape: each takes a `Writer` and the value.

    write_of(shape, of)         -> write(w, value)
    struct_write(shape, of)     -> of a struct of tier febird or memcpy
    fields_write(shape, of)     -> write(w, parts): of the same, from the values of its fields
    union_write(shape, of)

`of` gives the coding of a struct or union inside (mf.codec.coding), which may still be in the making. Runs of
numbers are converted at once; where that cannot be, they are written one by one, which finds the place of
what is wrong, or takes what is only rare.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from mf.codec import sequences, sizes
from mf.codec import shape as s
from mf.codec.arrays import array_bytes
from mf.codec.contents import scalar_of
from mf.codec.failure import CodecError
from mf.codec.layout import BULK_ERRORS, fits_of, format_of, number_of, parts_of, row_of, write_fixed
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U32_MAX, U64_MAX, limits_of
from mf.codec.row_write import entries_writer, row_writer
from mf.codec.rules import held_by
from mf.codec.varint import write_unsigned
from mf.codec.writer import (
    Writer,
    blob,
    check,
    elements,
    exactly,
    expected,
    in_order,
    in_range,
    listed,
    mapping,
    members,
    utf8,
)

Write = Callable[[Writer, Any], None]
Of = Callable[[s.Composite], Any]


def write_of(shape: s.Shape, of: Of) -> Write:
    match shape:
        case s.Scalar():
            return _scalar(shape)
        case s.Enum():
            base = _scalar(shape.base)
            return lambda w, value: base(w, number_of(shape, value))
        case s.Checked():
            return _checked(shape, of)
        case s.Optional():
            return _optional(shape, of)
        case s.List():
            return _sequence(shape.element, listed, of)
        case s.Set():
            return _sequence(shape.element, members, of)
        case s.Array(length=length):
            return _sequence(shape.element, lambda value: exactly(value, length), of, counted=False)
        case s.Map():
            return _map(shape, of)
        case s.Struct() | s.Union() | s.Custom():
            return _composite(shape, of)
        case _:
            raise TypeError(f"{type(shape).__name__} is not of tier febird")


def _composite(shape: s.Composite, of: Of) -> Write:
    coding = of(shape)
    if coding.write is None:
        return lambda w, value: coding.write(w, value)  # which holds itself
    made: Write = coding.write
    return made


# --- Scalars


def _scalar(shape: s.Scalar) -> Write:
    match shape.name:
        case "string":
            return _string
        case "bytes":
            return _bytes
        case "bool" | "uuid":
            return lambda w, value: write_fixed(w, shape, value)
        case name if name in sequences.WRITERS:
            return _fixed(shape)
        case name:
            return _varint(name)


def _string(w: Writer, value: Any) -> None:
    try:
        text = value.encode() if type(value) is str else utf8(value)
    except UnicodeEncodeError:
        text = utf8(value)
    size = len(text)
    if size < 128:
        w.out.append(size)
    else:
        w.count(size)
    w.out += text


def _bytes(w: Writer, value: Any) -> None:
    data = blob(value)
    w.count(len(data))
    w.out += data


def _fixed(shape: s.Scalar) -> Write:
    pack = struct.Struct(f"<{format_of(shape)}").pack

    def write(w: Writer, value: Any) -> None:
        try:
            w.out += pack(value)
        except (struct.error, OverflowError, TypeError):
            write_fixed(w, shape, value)

    return write


def _varint(name: str) -> Write:
    low, high = limits_of(name)

    def write(w: Writer, value: Any) -> None:
        number = value if type(value) is int and low <= value <= high else in_range(name, low, high, value)
        if low:
            number = (number << 1) ^ (number >> 63)
        if number < 128:
            w.out.append(number)
        elif number < 1 << 14:
            w.out += bytes((number & 127 | 128, number >> 7))
        else:
            write_unsigned(w.out, number, U64_MAX)

    return write


def _checked(shape: s.Checked, of: Of) -> Write:
    inner, rules, holds = write_of(shape.shape, of), shape.rules, held_by(shape.rules)

    def write(w: Writer, value: Any) -> None:
        inner(w, value)
        if value is not None and not holds(value):
            check(rules, value)

    return write


def _optional(shape: s.Optional, of: Of) -> Write:
    inner = write_of(shape.element, of)

    def write(w: Writer, value: Any) -> None:
        if value is None:
            w.out.append(0)
        else:
            w.out.append(1)
            inner(w, value)

    return write


# --- Structs and unions


def struct_write(shape: s.Struct, of: Of) -> Write:
    parts, fields, is_level = parts_of(shape), fields_write(shape, of), int(not shape.implicit)

    def write(w: Writer, value: Any) -> None:
        w.depth += is_level
        if w.depth > MAX_DEPTH:
            raise w.too_deep()
        fields(w, parts(value))
        w.depth -= is_level

    return write


def fields_write(shape: s.Struct, of: Of) -> Callable[[Writer, Sequence[Any]], None]:
    if shape.memcpy:
        return row_of(shape).write_parts
    names = [each.name for each in shape.fields]
    steps = [write_of(each.shape, of) for each in shape.fields]

    def write(w: Writer, parts: Sequence[Any]) -> None:
        name = ""
        try:
            for name, step, part in zip(names, steps, parts):  # noqa: B007, B905 - the path wants it; faster
                step(w, part)
        except CodecError as failure:
            failure.in_field(name)
            raise

    return write


def union_write(shape: s.Union, of: Of) -> Write:
    chosen: dict[Any, tuple[bytes, str, Write]] = {}
    for each in shape.alternatives:
        number = bytearray()
        write_unsigned(number, each.number, U32_MAX)
        chosen.setdefault(each.type, (bytes(number), each.name, write_of(each.shape, of)))

    def write(w: Writer, value: Any) -> None:
        found = chosen.get(type(value))
        if found is None:
            raise expected(f"an alternative of {shape.name}", value)
        w.enter()
        number, name, inner = found
        w.out += number
        try:
            inner(w, value.value)
        except CodecError as failure:
            failure.in_field(name)
            raise
        w.depth -= 1

    return write


# --- Containers


def _sequence(element: s.Shape, taken: Callable[[Any], Any], of: Of, *, counted: bool = True) -> Write:
    """A list or set, or an array, which has no count. A row has its count in its head."""
    name, is_empty = sizes.row_of(element), sizes.smallest(element) == 0
    is_row = name is not None
    items = items_write(element, of) if name is None else row_writer(element, name, counted=counted)

    def write(w: Writer, value: Any) -> None:
        values = taken(value)
        if counted and not is_row:
            if is_empty and len(values) > MAX_EMPTY_ITEMS:
                raise CodecError(f"{len(values)} elements without bytes, more than {MAX_EMPTY_ITEMS}")
            w.count(len(values))
        w.depth += 1
        if w.depth > MAX_DEPTH:
            raise w.too_deep()
        items(w, values)
        w.depth -= 1

    return write


def _map(shape: s.Map, of: Of) -> Write:
    names = sizes.blocks_of(shape)
    entries = _entries(shape, of) if names is None else entries_writer(shape, names)

    def write(w: Writer, value: Any) -> None:
        w.count(len(mapping(value)))
        w.enter()
        entries(w, value)
        w.depth -= 1

    return write


def _entries(shape: s.Map, of: Of) -> Write:
    write_key, write_value = write_of(shape.key, of), write_of(shape.value, of)

    def write(w: Writer, value: Any) -> None:
        key: Any = None
        keys = in_order(value)
        try:
            for key in keys:
                write_key(w, key)
                write_value(w, value[key])
        except CodecError as failure:
            failure.in_item(key)
            raise

    return write


# --- Elements


def items_write(shape: s.Shape, of: Of) -> Write:
    base, each = scalar_of(shape), _each(write_of(shape, of))
    if base is not None and base.name in sequences.WRITERS:
        return _numbers(shape, sequences.WRITERS[base.name], each)
    if isinstance(shape, s.Struct) and shape.memcpy and sizes.layout(shape)[0]:
        return _rows(shape, each)
    return _strings if shape is s.STRING else each


def _each(write_one: Write) -> Write:
    def write(w: Writer, values: Any) -> None:
        index = 0
        values = elements(values)
        try:
            for index, value in enumerate(values):  # noqa: B007 - the path wants it
                write_one(w, value)
        except CodecError as failure:
            failure.in_item(index)
            raise

    return write


_each_string: Final = _each(_string)
_BYTE: Final = [bytes((each,)) for each in range(128)]


def _strings(w: Writer, values: Any) -> None:
    """Short ones without a call for each: a third of the time."""
    try:
        texts = list(map(str.encode, values))
        w.out += b"".join([_BYTE[len(text)] + text for text in texts])
    except (IndexError, TypeError, UnicodeEncodeError):
        _each_string(w, values)


def _rows(shape: s.Struct, each: Write) -> Write:
    row = row_of(shape)

    def write(w: Writer, values: Any) -> None:
        if w.depth == MAX_DEPTH:
            each(w, values)
            return
        laid_out = None if type(values) is list else array_bytes(shape, values)
        if laid_out is not None:
            w.out += laid_out
            return
        try:
            row.write_many(w, values)
        except CodecError:
            each(w, values)  # of which one?

    return write


def _numbers(shape: s.Shape, bulk: Callable[[Any], bytes | memoryview], each: Write) -> Write:
    fits = fits_of(shape)

    def write(w: Writer, values: Any) -> None:
        try:
            if fits is None or fits(values):
                w.out += bulk(values)
                return
        except BULK_ERRORS:
            pass  # which one is wrong?
        each(w, values)

    return write
