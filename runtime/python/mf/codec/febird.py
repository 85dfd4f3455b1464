"""R1. What reads and writes values of tier febird (docs/protocol.md, section 8): a pair for each shape.

    pair_of(shape, of)      read(r) -> value                write(w, value)
    items_of(shape, of)     read(r, count) -> [value]       write(w, values), without their count
    struct_pair(shape, of)  of a struct of tier febird or memcpy; union_pair(shape, of)
    fields_write(shape, of) write(w, parts): a struct, from the values of its fields

`read` leaves the reader behind the value. `of` gives the coding of a struct or union inside
(mf.codec.coding), which may still be in the making. Runs of numbers are converted at once. Where one of them
is not what it may be, they are read or written one by one: that finds the place of what is wrong, or takes
what is only rare.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from mf.codec import blocks, sequences, sizes
from mf.codec import shape as s
from mf.codec.arrays import array_bytes, array_reader
from mf.codec.composed import (
    Of,
    Read,
    Write,
    checked_read,
    checked_write,
    items_read,
    items_write,
    named_write,
    numbers_write,
    texts_read,
)
from mf.codec.contents import bare, scalar_of
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.layout import (
    converted,
    format_of,
    number_of,
    parts_of,
    row_of,
    rules_of,
    write_fixed,
    wrong_part,
)
from mf.codec.limits import MAX_DEPTH, MAX_EMPTY_ITEMS, U64_MAX, limits_of
from mf.codec.reader import Reader
from mf.codec.varint import write_unsigned
from mf.codec.writer import (
    Writer,
    blob,
    changed,
    check_set,
    exactly,
    expected,
    in_order,
    in_range,
    listed,
    mapping,
    members,
    utf8,
)

ReadItems = Callable[[Reader, int], Any]
Pair = tuple[Read, Write]
Items = tuple[ReadItems, Write]

_ENTRY: Final = 8  # a list's pointer to its element
_MANY: Final = 64  # more numbers than this are charged for ahead
_CHARGED: Final = ("u8", "i8", "f32", "f64")


def pair_of(shape: s.Shape, of: Of) -> Pair:
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
            return _list(shape.element, of)
        case s.Set():
            return _set(shape.element, of)
        case s.Array():
            return _array(shape, of)
        case s.Map():
            return _map(shape, of)
        case s.Struct() | s.Union() | s.Custom():
            return _composite(shape, of)
        case _:
            raise TypeError(f"{type(shape).__name__} is not of tier febird")


def _composite(shape: s.Composite, of: Of) -> Pair:
    coding = of(shape)
    if coding.read is None:  # it holds itself
        return lambda r: coding.read(r), lambda w, value: coding.write(w, value)
    return coding.read, coding.write


# --- Scalars


def _scalar(shape: s.Scalar) -> Pair:
    match shape.name:
        case "string":
            return _read_string, _write_string
        case "bytes":
            return _read_bytes, _write_bytes
        case "bool":
            return _read_bool, lambda w, value: write_fixed(w, shape, value)
        case name if name in sizes.FIXED:
            return fixed_pair(shape)
        case name:
            return _varint(name, converted(shape))


_read_string, _read_bytes = texts_read(Reader.length)


def _write_string(w: Writer, value: Any) -> None:
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


def _write_bytes(w: Writer, value: Any) -> None:
    data = blob(value)
    w.count(len(data))
    w.out += data


def _read_bool(r: Reader) -> bool:
    pos = r.pos
    if pos < r.end and (byte := r.data[pos]) < 2:
        r.pos = pos + 1
        return byte == 1
    return r.bit("bool")


def fixed_pair(shape: s.Scalar) -> Pair:
    layout, convert = struct.Struct(f"<{format_of(shape)}"), converted(shape)
    size, unpack_from, pack = layout.size, layout.unpack_from, layout.pack

    def read(r: Reader) -> Any:
        pos = r.pos
        if pos + size > r.end:
            r.need(size)
        r.pos = pos + size
        part = unpack_from(r.data, pos)[0]
        return part if convert is None else convert(part)

    def write(w: Writer, value: Any) -> None:
        try:
            w.out += pack(value)
        except (struct.error, OverflowError, TypeError):
            write_fixed(w, shape, value)

    return read, write if shape.name != "uuid" else lambda w, value: write_fixed(w, shape, value)


def _varint(name: str, convert: Callable[[int], Any] | None) -> Pair:
    low, high = limits_of(name)
    highest = high - low

    def read_unsigned(r: Reader) -> int:
        pos = r.pos
        if pos < r.end:
            byte = r.data[pos]
            if byte < 128:
                r.pos = pos + 1
                return byte
        return r.unsigned(highest)

    def read_signed(r: Reader) -> Any:
        pos = r.pos
        if pos < r.end and (number := r.data[pos]) < 128:
            r.pos = pos + 1
        else:
            number = r.unsigned(highest)
        number = ~(number >> 1) if number & 1 else number >> 1
        return number if convert is None else convert(number)

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

    return read_signed if low else read_unsigned, write


def _enum(shape: s.Enum) -> Pair:
    (read_number, write_number), values = _scalar(shape.base), shape.values

    def read(r: Reader) -> Any:
        at = r.pos
        number = read_number(r)
        try:
            return values[number]
        except KeyError:
            raise wrong_part(r, shape, number, at) from None

    return read, lambda w, value: write_number(w, number_of(shape, value))


def _checked(shape: s.Checked, of: Of) -> Pair:
    read, write = pair_of(shape.shape, of)
    return checked_read(read, shape.rules), checked_write(write, shape.rules)


def _optional(shape: s.Optional, of: Of) -> Pair:
    read_inner, write_inner = pair_of(shape.element, of)

    def read(r: Reader) -> Any:
        pos = r.pos
        if pos < r.end and (byte := r.data[pos]) < 2:
            r.pos = pos + 1
        else:
            byte = r.bit("presence")
        return read_inner(r) if byte else None

    def write(w: Writer, value: Any) -> None:
        if value is None:
            w.out.append(0)
        else:
            w.out.append(1)
            write_inner(w, value)

    return read, write


# --- Structs and unions


def struct_pair(shape: s.Struct, of: Of) -> Pair:
    read_fields, write_fields = _fields(shape, of)
    read = _read_within(read_fields, sizes.memory(shape), not shape.implicit)
    return read, _write_within(parts_of(shape), write_fields, is_level=not shape.implicit)


def fields_write(shape: s.Struct, of: Of) -> Write:
    return _fields(shape, of)[1]


def _fields(shape: s.Struct, of: Of) -> Pair:
    """Reads the struct; writes it from the values of its fields."""
    if shape.memcpy:
        row = row_of(shape)
        return row.read, row.write_parts
    names = [each.name for each in shape.fields]
    pairs = [pair_of(each.shape, of) for each in shape.fields]
    reads, writes = [read for read, _ in pairs], [write for _, write in pairs]
    make, is_tuple = shape.make, shape.make is s.parts_made

    def read(r: Reader) -> Any:
        values: list[Any] = []
        append = values.append
        try:
            for read_field in reads:
                append(read_field(r))
        except CodecError as failure:
            failure.in_field(names[len(values)])
            raise
        return tuple(values) if is_tuple else make(*values)

    return read, named_write(names, writes)


def union_pair(shape: s.Union, of: Of) -> Pair:
    read_number, write_number = _varint("u32", None)
    pairs = [(each, *pair_of(each.shape, of)) for each in shape.alternatives]
    by_number = {each.number: (each.name, each.type, read_inner) for each, read_inner, _ in pairs}
    by_type: dict[Any, tuple[int, str, Write]] = {}
    for each, _, write_inner in pairs:
        by_type.setdefault(each.type, (each.number, each.name, write_inner))

    def read(r: Reader) -> Any:
        at = r.pos
        number = read_number(r)
        found = by_number.get(number)
        if found is None:
            reason = f"{number} is not an alternative of {shape.name}"
            raise r.fail(Fault.UNKNOWN_ALTERNATIVE, reason, at)
        name, kind, read_inner = found
        try:
            return kind(read_inner(r))
        except CodecError as failure:
            failure.in_field(name)
            raise

    def write(w: Writer, value: Any) -> None:
        found = by_type.get(type(value))
        if found is None:
            raise expected(f"an alternative of {shape.name}", value)
        w.enter()
        number, name, write_inner = found
        write_number(w, number)
        try:
            write_inner(w, value.value)
        except CodecError as failure:
            failure.in_field(name)
            raise
        except AttributeError:
            check_set(((name, "value"),), value)
            raise
        w.depth -= 1

    return _read_within(read, sizes.memory(shape)), write


# --- Containers


def _list(element: s.Shape, of: Of) -> Pair:
    in_array = array_reader(element) if sizes.is_array_element(element) else None
    name = sizes.row_of(element)
    if name is not None:
        read_row = blocks.row_reader(element, name, _ENTRY, in_array)
        return read_row, _write_within(listed, blocks.row_writer(element, name, counted=True))
    smallest, memory = sizes.smallest(element), sizes.memory(element)
    read_items, write_items = items_of(element, of)
    read_list = _read_within(lambda r: read_items(r, r.count(smallest, _ENTRY, memory)))
    write = _write_within(listed, write_items, element)
    if in_array is None:
        return read_list, write

    def read(r: Reader) -> Any:
        if r.arrays and (array := in_array(r)) is not None:
            return array
        return read_list(r)

    return read, write


def _set(element: s.Shape, of: Of) -> Pair:
    name = sizes.row_of(element)
    if name is not None:
        read_row = blocks.row_reader(element, name, sizes.ENTRY, ascending=True)
        write_row = blocks.row_writer(element, name, counted=True)
        return lambda r: set(read_row(r)), _write_within(members, write_row)
    smallest, memory = sizes.smallest(element), sizes.memory(element)
    read_entries = _read_entries(pair_of(element, of)[0], lambda _: None)
    # By an iterator, so that elements come out in the order in which the native codec has them.
    read = _read_within(lambda r: set(iter(read_entries(r, r.count(smallest, sizes.ENTRY, memory)))))
    return read, _write_within(members, items_of(element, of)[1], element)


def _array(shape: s.Array, of: Of) -> Pair:
    element, length = shape.element, shape.length
    name = sizes.row_of(element)
    if name is None:
        read_items, write_items = items_of(element, of)
    else:
        read_items = blocks.array_reader(element, name)
        write_items = blocks.row_writer(element, name, counted=False)
    read = _read_within(lambda r: read_items(r, length))
    return read, _write_within(lambda value: exactly(value, length), write_items)


def _read_within(read_contents: Read, memory: int = 0, is_level: bool = True) -> Read:
    """One level deeper, and `memory` for what is there."""
    levels = int(is_level)

    def read(r: Reader) -> Any:
        r.depth += levels
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        found = read_contents(r)
        r.depth -= levels
        return found

    return read


def _write_within(
    taken: Callable[[Any], Any], write_parts: Write, counted: s.Shape | None = None, *, is_level: bool = True
) -> Write:
    """One level deeper; `counted`: the type of elements or keys, if their count comes before them."""
    levels, is_empty = int(is_level), counted is not None and sizes.smallest(counted) == 0

    def write(w: Writer, value: Any) -> None:
        parts = taken(value)
        count = len(parts)
        if counted is not None:
            if is_empty and count > MAX_EMPTY_ITEMS:
                raise CodecError(f"{count} elements without bytes, more than {MAX_EMPTY_ITEMS}")
            w.count(count)
        w.depth += levels
        if w.depth > MAX_DEPTH:
            raise w.too_deep()
        write_parts(w, parts)
        w.depth -= levels
        if len(parts) != count:
            raise changed()

    return write


def _map(shape: s.Map, of: Of) -> Pair:
    smallest = sizes.smallest(shape.key) + sizes.smallest(shape.value)
    memory = sizes.memory(shape.key) + sizes.memory(shape.value)
    names = sizes.blocks_of(shape)
    if names is None:
        (read_key, write_key), (read_value, write_value) = pair_of(shape.key, of), pair_of(shape.value, of)
        read_entries = _read_entries(read_key, read_value)
        write_entries = _write_entries(write_key, write_value)
    else:
        read_entries, write_entries = blocks.entries_reader(shape, names), blocks.entries_writer(shape, names)

    def read(r: Reader) -> dict[Any, Any]:
        count = r.count(smallest, sizes.ENTRY, memory)
        if count:
            r.charge(sizes.FIRST_ENTRY)
        return read_entries(r, count)

    def write(w: Writer, value: Any) -> None:
        try:
            write_entries(w, value)
        except KeyError:
            raise changed() from None

    return _read_within(read), _write_within(mapping, write, shape.key)


def _read_entries(read_key: Read, read_value: Read) -> Callable[[Reader, int], dict[Any, Any]]:
    def read(r: Reader, count: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        before: Any = None
        index = 0
        try:
            for index in range(count):
                at = r.pos
                key = read_key(r)
                if index and not before < key:
                    raise r.not_ascending(at)
                before = key
                found[key] = read_value(r)
        except CodecError as failure:
            failure.in_item(index)
            raise
        return found

    return read


def _write_entries(write_key: Write, write_value: Write) -> Write:
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


def items_of(shape: s.Shape, of: Of) -> Items:
    base, (read, write) = scalar_of(shape), pair_of(shape, of)
    each = items_read(read), items_write(write)
    if base is not None and base.name in sizes.FIXED:
        return _numbers(shape, base, each)
    if isinstance(shape, s.Struct) and shape.memcpy:
        return _rows(shape, each)
    return (_read_strings, _write_strings) if shape is s.STRING else each


_read_each_string, _write_each_string = items_read(_read_string), items_write(_write_string)
_BYTE: Final = [bytes((each,)) for each in range(128)]


def _read_strings(r: Reader, count: int) -> list[str]:
    """Short ones without a call for each: two thirds of the time."""
    texts: list[str] = []
    append, data, end, pos = texts.append, r.data, r.end, r.pos
    try:
        for _ in range(count):
            stop = pos + 1 + data[pos]
            if data[pos] > 127 or stop > end:
                break
            append(data[pos + 1 : stop].decode())
            pos = stop
    except (IndexError, UnicodeDecodeError):
        pass  # found again
    memory = 63 * count + pos - r.pos
    if len(texts) < count or memory > r.budget:
        found: list[str] = _read_each_string(r, count)
        return found
    r.pos = pos
    r.budget -= memory
    return texts


def _write_strings(w: Writer, values: Any) -> None:
    """Short ones without a call for each: a third of the time."""
    try:
        texts = list(map(str.encode, values))
        w.out += b"".join([_BYTE[len(text)] + text for text in texts])
    except (IndexError, TypeError, UnicodeEncodeError):
        _write_each_string(w, values)


def _rows(shape: s.Struct, each: Items) -> Items:
    row, memory, (read_each, write_each) = row_of(shape), sizes.memory(shape), each
    size, is_nothing = row.size, sizes.is_nothing(shape)

    def read(r: Reader, count: int) -> Any:
        if r.depth == MAX_DEPTH or count * memory > r.budget or count * size > r.end - r.pos:
            if not count or not is_nothing:
                return read_each(r, count)
            read_each(r, 1)
            raise r.over_budget()  # for the others, which take no bytes
        r.budget -= count * memory
        return row.read_many(r, count)

    def write(w: Writer, values: Any) -> None:
        if w.depth == MAX_DEPTH or not size:
            write_each(w, values)
            return
        laid_out = None if type(values) is list else array_bytes(shape, values)
        if laid_out is not None:
            w.out += laid_out
            return
        try:
            row.write_many(w, values)
        except CodecError:
            write_each(w, values)  # of which one?

    return read, write


def _numbers(shape: s.Shape, base: s.Scalar, each: Items) -> Items:
    """Numbers of fixed size, bools, uuids and enums of a byte, and those with constraints."""
    (read_each, write_each), rules, convert = each, rules_of(shape), converted(bare(shape))
    letter = format_of(base)
    size = struct.calcsize(f"<{letter}")
    charge = sizes.memory(base) if shape is base and base.name in _CHARGED else 0

    def read(r: Reader, count: int) -> Any:
        if charge and count > _MANY:
            r.charge(count * charge)
        pos = r.pos
        end = pos + count * size
        if end > r.end:
            return read_each(r, count)
        found = blocks.numbers(r.data, pos, end, letter)
        try:
            if convert is not None:
                found = list(map(convert, found))
        except KeyError:
            return read_each(r, count)
        if rules and not all(rule.holds_all(found) for rule in rules):
            return read_each(r, count)
        r.pos = end
        return found

    return read, numbers_write(shape, sequences.WRITERS[base.name], write_each)
