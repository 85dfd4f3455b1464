"""R1. Functions that write values of tier febird, one for each shape: each takes a `Writer` and the value.

    write_of(shape, of)         -> write(w, value)
    struct_write(shape, of)     -> of a struct of tier febird or memcpy
    union_write(shape, of)

`of` gives the coding of a struct or union inside (mf.codec.coding), which may still be in the making. Runs of
numbers are converted at once; where that cannot be, they are written one by one, which finds the place of
what is wrong, or takes what is only rare.
"""

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from mf.codec import sequences, sizes
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.layout import (
    BULK_ERRORS,
    number_of,
    own_parts,
    parts_of,
    row_of,
    rules_of,
    write_fixed,
)
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U32_MAX, U64_MAX, limits_of
from mf.codec.row_write import entries_writer, row_writer
from mf.codec.rules import InRange
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
    is_array,
    listed,
    mapping,
    members,
    truth,
    utf8,
)

Write = Callable[[Writer, Any], None]
Items = Callable[[Writer, Any], None]
Of = Callable[[s.Composite], Any]

_VARINTS: Final = ("u16", "u32", "u64")
_FIXED: Final = ("bool", "i8", "u8", "f32", "f64", "timestamp", "uuid")


def write_of(shape: s.Shape, of: Of) -> Write:
    match shape:
        case s.Scalar():
            return _scalar(shape)
        case s.Enum():
            return _enum(shape)
        case s.Checked():
            return _checked(shape, of)
        case s.Optional():
            return _optional(shape, of)
        case s.List():
            return _counted(shape.element, listed, of)
        case s.Set():
            return _counted(shape.element, members, of)
        case s.Array():
            return _array(shape, of)
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
        case "bool":
            return _bool
        case "f64":
            return _f64
        case name if name in _FIXED:
            return lambda w, value: write_fixed(w, shape, value)
        case name if name[0] == "u":
            return _unsigned(name)
        case name:
            return _signed(name)


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


def _bool(w: Writer, value: Any) -> None:
    w.out.append(truth(value))


_pack_f64: Final = struct.Struct("<d").pack


def _f64(w: Writer, value: Any) -> None:
    if type(value) is float:
        w.out += _pack_f64(value)
    else:
        write_fixed(w, s.F64, value)


def _unsigned(name: str) -> Write:
    _, high = limits_of(name)

    def write(w: Writer, value: Any) -> None:
        if type(value) is int and 0 <= value < 128:
            w.out.append(value)
            return
        number = value if type(value) is int and 0 <= value <= high else in_range(name, 0, high, value)
        if number < 128:
            w.out.append(number)
        elif number < 1 << 14:
            w.out += bytes((number & 127 | 128, number >> 7))
        else:
            write_unsigned(w.out, number, U64_MAX)

    return write


def _signed(name: str) -> Write:
    low, high = limits_of(name)

    def write(w: Writer, value: Any) -> None:
        number = value if type(value) is int and low <= value <= high else in_range(name, low, high, value)
        number = (number << 1) ^ (number >> 63)
        if number < 128:
            w.out.append(number)
        elif number < 1 << 14:
            w.out += bytes((number & 127 | 128, number >> 7))
        else:
            write_unsigned(w.out, number, U64_MAX)

    return write


def _enum(shape: s.Enum) -> Write:
    write = _scalar(shape.base)
    if shape.base is s.U8 and not shape.open:
        numbers = shape.numbers

        def write_byte(w: Writer, value: Any) -> None:
            if isinstance(value, int) and value in numbers:
                w.out.append(value)
            else:
                write(w, number_of(shape, value))

        return write_byte
    return lambda w, value: write(w, number_of(shape, value))


def _checked(shape: s.Checked, of: Of) -> Write:
    inner, rules = write_of(shape.shape, of), shape.rules
    tests = [each.test() for each in rules]
    first = tests[0]
    may_be_none = isinstance(shape.shape, s.Optional)

    def write(w: Writer, value: Any) -> None:
        inner(w, value)
        for holds in tests:
            if value is not None and not holds(value):
                check(rules, value)

    def write_one_rule(w: Writer, value: Any) -> None:
        inner(w, value)
        if not first(value):
            check(rules, value)

    if may_be_none or len(tests) > 1:
        return write
    rule = rules[0]
    if isinstance(rule, InRange) and isinstance(shape.shape, s.Scalar) and shape.shape.name in _VARINTS:
        return _ranged(rule, write_one_rule)
    return write_one_rule


def _ranged(rule: InRange, write: Write) -> Write:
    """Of unsigned numbers; `write` is for those of more than a byte, or out of range."""
    low = 0 if rule.low is None else max(0, rule.low)
    high = min(127, math.inf if rule.high is None else rule.high)

    def write_short(w: Writer, value: Any) -> None:
        if type(value) is int and low <= value <= high:
            w.out.append(value)
        else:
            write(w, value)

    return write_short


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
    if shape.parts is s.bare_parts and not shape.memcpy:
        return _bare_write(shape, of)
    parts, own = parts_of(shape), own_parts(shape)
    fields = row_of(shape).write_parts if shape.memcpy else fields_write(shape, of)
    kind, is_level = shape.type, int(not shape.implicit)

    def write(w: Writer, value: Any) -> None:
        w.depth += is_level
        if w.depth > MAX_DEPTH:
            raise CodecError(f"nested deeper than {MAX_DEPTH}")
        if own is not None and type(value) is kind:
            try:
                found = own(value)
            except AttributeError:
                found = parts(value)
        else:
            found = parts(value)
        fields(w, found)
        w.depth -= is_level

    return write


def _bare_write(shape: s.Struct, of: Of) -> Write:
    """Of a struct that is its only field."""
    field = shape.fields[0]
    step = write_of(field.shape, of)

    def write(w: Writer, value: Any) -> None:
        try:
            step(w, value)
        except CodecError as failure:
            failure.in_field(field.name)
            raise

    return write


def fields_write(shape: s.Struct, of: Of) -> Callable[[Writer, Sequence[Any]], None]:
    """Writes a febird struct from its parts; neighbours of fixed size are packed together."""
    names = [each.name for each in shape.fields]
    steps = [write_of(each.shape, of) for each in shape.fields]
    runs = _runs(shape)
    if not runs:

        def write(w: Writer, parts: Sequence[Any]) -> None:
            name = ""
            try:
                for name, step, part in zip(names, steps, parts):  # noqa: B007, B905 - the path wants it; faster
                    step(w, part)
            except CodecError as failure:
                failure.in_field(name)
                raise

        return write

    groups: list[tuple[int, int, Callable[..., bytes] | None]] = []
    at = 0
    while at < len(names):
        end, pack = runs.get(at, (at + 1, None))
        groups.append((at, end, pack))
        at = end

    def write_runs(w: Writer, parts: Sequence[Any]) -> None:
        at = 0
        try:
            for begin, end, pack in groups:
                if pack is not None:
                    try:
                        w.out += pack(*parts[begin:end])
                        continue
                    except (struct.error, OverflowError, TypeError):
                        pass  # which one is wrong?
                for at in range(begin, end):
                    steps[at](w, parts[at])
        except CodecError as failure:
            failure.in_field(names[at])
            raise

    return write_runs


def _runs(shape: s.Struct) -> dict[int, tuple[int, Callable[..., bytes]]]:
    """By the first of several neighbours that `struct` packs as they are: the one behind, and what packs."""
    found: dict[int, tuple[int, Callable[..., bytes]]] = {}
    at, fields = 0, shape.fields
    while at < len(fields):
        end, letters = at, "<"
        while end < len(fields) and (letter := _letter(fields[end].shape)):
            letters += letter
            end += 1
        if end - at > 1:
            found[at] = end, struct.Struct(letters).pack
        at = max(end, at + 1)
    return found


def _letter(shape: s.Shape) -> str:
    if isinstance(shape, s.Enum) and shape.open:
        shape = shape.base
    if isinstance(shape, s.Scalar) and shape.name in ("i8", "u8", "f32", "f64", "timestamp"):
        return sizes.MEMCPY_CODES[shape.name]
    return ""


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


def _counted(element: s.Shape, taken: Callable[[Any], Any], of: Of) -> Write:
    """A list or set."""
    name = sizes.row_of(element)
    if name is not None:
        row = row_writer(element, name)

        def write_row(w: Writer, value: Any) -> None:
            values = taken(value)
            w.depth += 1
            if w.depth > MAX_DEPTH:
                raise CodecError(f"nested deeper than {MAX_DEPTH}")
            row(w, values, True)
            w.depth -= 1

        return write_row
    items, is_empty = items_write(element, of), sizes.smallest(element) == 0

    def write(w: Writer, value: Any) -> None:
        values = taken(value)
        if is_empty and len(values) > MAX_EMPTY_ITEMS:
            raise CodecError(f"{len(values)} elements without bytes, more than {MAX_EMPTY_ITEMS}")
        w.count(len(values))
        w.enter()
        items(w, values)
        w.depth -= 1

    return write


def _array(shape: s.Array, of: Of) -> Write:
    element, length = shape.element, shape.length
    name = sizes.row_of(element)
    if name is not None:
        row = row_writer(element, name)
        return lambda w, value: _deeper(w, exactly(value, length), lambda w, values: row(w, values, False))
    items = items_write(element, of)
    return lambda w, value: _deeper(w, exactly(value, length), items)


def _deeper(w: Writer, values: Any, items: Items) -> None:
    w.enter()
    items(w, values)
    w.depth -= 1


def _map(shape: s.Map, of: Of) -> Write:
    names = sizes.blocks_of(shape)
    entries = _entries(shape, of) if names is None else entries_writer(shape, names)

    def write(w: Writer, value: Any) -> None:
        w.count(len(mapping(value)))
        w.enter()
        entries(w, value)
        w.depth -= 1

    return write


def _entries(shape: s.Map, of: Of) -> Callable[[Writer, Any], None]:
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


def items_write(shape: s.Shape, of: Of) -> Items:
    plain = bare(shape)
    name = plain.name if isinstance(plain, s.Scalar) else ""
    if isinstance(plain, s.Enum):
        name = plain.base.name
    if name in _FIXED:
        return _fixed_items(shape, name, of)
    if isinstance(shape, s.Struct) and shape.memcpy and sizes.layout(shape)[0]:
        return _rows(shape, of)
    return _strings if shape is s.STRING else _each(write_of(shape, of))


def _each(write_one: Write) -> Items:
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


_one_by_one: Final = _each(_string)
_BYTE: Final = [bytes((each,)) for each in range(128)]


def _strings(w: Writer, values: Any) -> None:
    if type(values) is list and set(map(type, values)) == {str}:
        try:
            texts = list(map(str.encode, values))
        except UnicodeEncodeError:
            pass  # which one is wrong?
        else:
            if max(map(len, texts)) < 128:
                w.out += b"".join([_BYTE[len(text)] + text for text in texts])
                return
    _one_by_one(w, values)


def _rows(shape: s.Struct, of: Of) -> Items:
    row, each = row_of(shape), _each(struct_write(shape, of))

    def write(w: Writer, values: Any) -> None:
        if w.depth < MAX_DEPTH:
            if type(values) is not list and is_array(values):
                from mf.codec.arrays import array_bytes

                laid_out = array_bytes(shape, values)
                if laid_out is not None:
                    w.out += laid_out
                    return
            try:
                row.write_many(w, values)
                return
            except CodecError:
                pass  # of which one?
        each(w, values)

    return write


def _fixed_items(shape: s.Shape, name: str, of: Of) -> Items:
    each, rules, plain = _each(write_of(shape, of)), rules_of(shape), bare(shape)
    numbers = plain.numbers.keys() if isinstance(plain, s.Enum) and not plain.open else None
    bulk = sequences.WRITERS[name]

    def write(w: Writer, values: Any) -> None:
        try:
            fits = not rules or all(rule.holds_all(values) for rule in rules)
            if fits and (numbers is None or numbers >= set(values)):
                w.out += bulk(values)
                return
        except BULK_ERRORS:
            pass  # which one is wrong?
        each(w, values)

    return write
