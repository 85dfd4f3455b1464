"""R1. Functions that read values of tier febird, one for each shape: each takes a `Reader`, and leaves it
behind the value.

    read_of(shape, of)          -> read(r): one value
    items_of(shape, of)         -> read(r, count): the list of so many, each at its place in the path
    struct_read(shape, of)      -> read(r): of a struct of tier febird or memcpy
    union_read(shape, of)

`of` gives the coding of a struct or union inside (mf.codec.coding), which may still be in the making. Runs of
numbers are converted at once; where one of them is not what it may be, its place is worked out then.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from mf.codec import row_read, sizes
from mf.codec import shape as s
from mf.codec.arrays import array_reader
from mf.codec.contents import bare, scalar_of
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.layout import converted, format_of, row_of, rules_of, wrong_part
from mf.codec.limits import MAX_DEPTH
from mf.codec.reader import Reader
from mf.codec.rules import held_by

Read = Callable[[Reader], Any]
Items = Callable[[Reader, int], list[Any]]
Of = Callable[[s.Composite], Any]

_ENTRY: Final = 8  # a list's pointer to its element
_MANY: Final = 64  # more numbers than this are charged for ahead
_CHARGED: Final = ("u8", "i8", "f32", "f64")


def read_of(shape: s.Shape, of: Of) -> Read:
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


def _composite(shape: s.Composite, of: Of) -> Read:
    coding = of(shape)
    if coding.read is None:
        return lambda r: coding.read(r)  # which holds itself
    made: Read = coding.read
    return made


# --- Scalars


def _scalar(shape: s.Scalar) -> Read:
    match shape.name:
        case "string":
            return _string
        case "bytes":
            return _bytes
        case "bool":
            return _bool
        case name if name in sizes.FIXED:
            return _fixed(shape)
        case "duration":
            return _varint(64, converted(shape), signed=True)
        case name:
            return _varint(shape.bits, None, signed=name[0] == "i")


def _string(r: Reader) -> str:
    pos = r.pos
    if pos < r.end and (size := r.data[pos]) < 128 and pos + size < r.end:
        pos += 1
        r.pos = pos
    else:
        size = r.length()
        pos = r.pos
    r.budget -= 64 + size
    if r.budget < 0:
        raise r.over_budget()
    r.pos = end = pos + size
    try:
        return r.data[pos:end].decode()
    except UnicodeDecodeError as error:
        raise r.fail(Fault.INVALID_UTF8, "text is not UTF-8", pos + error.start) from None


def _bytes(r: Reader) -> bytes:
    size = r.length()
    r.charge(64 + size)
    return r.take(size)


def _bool(r: Reader) -> bool:
    pos = r.pos
    if pos < r.end and (byte := r.data[pos]) < 2:
        r.pos = pos + 1
        return byte == 1
    return r.bit("bool")


def _fixed(shape: s.Scalar) -> Read:
    unpack, convert = struct.Struct(f"<{format_of(shape)}"), converted(shape)
    size, unpack_from = unpack.size, unpack.unpack_from

    def read(r: Reader) -> Any:
        pos = r.pos
        if pos + size > r.end:
            r.need(size)
        r.pos = pos + size
        part = unpack_from(r.data, pos)[0]
        return part if convert is None else convert(part)

    return read


def _varint(bits: int, convert: Callable[[int], Any] | None, *, signed: bool) -> Read:
    highest = (1 << bits) - 1

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

    return read_signed if signed else read_unsigned


def _enum(shape: s.Enum) -> Read:
    number, values = _scalar(shape.base), shape.values

    def read(r: Reader) -> Any:
        at = r.pos
        found = number(r)
        try:
            return values[found]
        except KeyError:
            raise wrong_part(r, shape, found, at) from None

    return read


def _checked(shape: s.Checked, of: Of) -> Read:
    read_inner, rules, holds = read_of(shape.shape, of), shape.rules, held_by(shape.rules)

    def read(r: Reader) -> Any:
        at = r.pos
        value = read_inner(r)
        if value is not None and not holds(value):
            r.check(rules, value, at)
        return value

    return read


def _optional(shape: s.Optional, of: Of) -> Read:
    read_inner = read_of(shape.element, of)

    def read(r: Reader) -> Any:
        pos = r.pos
        if pos < r.end and (byte := r.data[pos]) < 2:
            r.pos = pos + 1
        else:
            byte = r.bit("presence")
        return read_inner(r) if byte else None

    return read


# --- Structs and unions


def struct_read(shape: s.Struct, of: Of) -> Read:
    if shape.memcpy:
        return _memcpy(shape)
    memory, make, is_tuple = sizes.memory(shape), shape.make, shape.make is s.parts_made
    steps, is_level = [read_of(each.shape, of) for each in shape.fields], int(not shape.implicit)

    def read(r: Reader) -> Any:
        r.depth += is_level
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        values: list[Any] = []
        append = values.append
        try:
            for step in steps:
                append(step(r))
        except CodecError as failure:
            failure.in_field(shape.fields[len(values)].name)
            raise
        r.depth -= is_level
        return tuple(values) if is_tuple else make(*values)

    return read


def _memcpy(shape: s.Struct) -> Read:
    row, memory = row_of(shape), sizes.memory(shape)
    size, read_row, is_level = row.size, row.read, int(not shape.implicit)

    def read(r: Reader) -> Any:
        r.depth += is_level
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        if r.pos + size > r.end:
            r.need(size)
        value = read_row(r)
        r.depth -= is_level
        return value

    return read


def union_read(shape: s.Union, of: Of) -> Read:
    memory, read_number = sizes.memory(shape), _varint(32, None, signed=False)
    chosen = {each.number: (each.name, each.type, read_of(each.shape, of)) for each in shape.alternatives}

    def read(r: Reader) -> Any:
        r.enter()
        r.charge(memory)
        at = r.pos
        number = read_number(r)
        found = chosen.get(number)
        if found is None:
            reason = f"{number} is not an alternative of {shape.name}"
            raise r.fail(Fault.UNKNOWN_ALTERNATIVE, reason, at)
        name, kind, read_inner = found
        try:
            value = kind(read_inner(r))
        except CodecError as failure:
            failure.in_field(name)
            raise
        r.depth -= 1
        return value

    return read


# --- Containers


def _list(element: s.Shape, of: Of) -> Read:
    in_array = array_reader(element) if sizes.is_array_element(element) else None
    name = sizes.row_of(element)
    if name is not None:
        return row_read.row_reader(element, name, _ENTRY, in_array)
    smallest, memory, items = sizes.smallest(element), sizes.memory(element), items_of(element, of)
    listed = _within(lambda r: items(r, r.count(smallest, _ENTRY, memory)))
    if in_array is None:
        return listed

    def read(r: Reader) -> Any:
        if r.arrays and (array := in_array(r)) is not None:
            return array
        return listed(r)

    return read


def _set(element: s.Shape, of: Of) -> Read:
    name = sizes.row_of(element)
    if name is not None:
        read_row = row_read.row_reader(element, name, sizes.ENTRY, ascending=True)
        return lambda r: set(read_row(r))
    smallest, memory = sizes.smallest(element), sizes.memory(element)
    entries = _entries(read_of(element, of), lambda _: None)
    return _within(lambda r: set(entries(r, r.count(smallest, sizes.ENTRY, memory))))


def _array(shape: s.Array, of: Of) -> Read:
    element, length = shape.element, shape.length
    name = sizes.row_of(element)
    items = items_of(element, of) if name is None else row_read.array_reader(element, name)
    return _within(lambda r: items(r, length))


def _map(shape: s.Map, of: Of) -> Read:
    smallest = sizes.smallest(shape.key) + sizes.smallest(shape.value)
    memory = sizes.memory(shape.key) + sizes.memory(shape.value)
    names = sizes.blocks_of(shape)
    if names is None:
        entries = _entries(read_of(shape.key, of), read_of(shape.value, of))
    else:
        entries = row_read.entries_reader(shape, names)

    def read(r: Reader) -> dict[Any, Any]:
        count = r.count(smallest, sizes.ENTRY, memory)
        if count:
            r.charge(sizes.FIRST_ENTRY)
        return entries(r, count)

    return _within(read)


def _within(read_contents: Read) -> Read:
    """One level deeper."""

    def read(r: Reader) -> Any:
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        found = read_contents(r)
        r.depth -= 1
        return found

    return read


def _entries(read_key: Read, read_value: Read) -> Callable[[Reader, int], dict[Any, Any]]:
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


# --- Elements


def items_of(shape: s.Shape, of: Of) -> Items:
    if shape is s.STRING:
        return _strings
    base = scalar_of(shape)
    if base is not None and base.name in sizes.FIXED:
        return _numbers(shape, base, of)
    if isinstance(shape, s.Struct) and shape.memcpy:
        return _rows(shape, of)
    return _each(read_of(shape, of))


def _each(read_one: Read) -> Items:
    def read(r: Reader, count: int) -> list[Any]:
        elements: list[Any] = []
        append = elements.append
        try:
            for _ in range(count):
                append(read_one(r))
        except CodecError as failure:
            failure.in_item(len(elements))
            raise
        return elements

    return read


_each_string: Final = _each(_string)


def _strings(r: Reader, count: int) -> list[str]:
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
        return _each_string(r, count)
    r.pos = pos
    r.budget -= memory
    return texts


def _rows(shape: s.Struct, of: Of) -> Items:
    row, memory, each = row_of(shape), sizes.memory(shape), _each(struct_read(shape, of))
    size, is_nothing = row.size, sizes.is_nothing(shape)

    def read(r: Reader, count: int) -> list[Any]:
        if r.depth == MAX_DEPTH or count * memory > r.budget or count * size > r.end - r.pos:
            if not count or not is_nothing:
                return each(r, count)
            each(r, 1)
            raise r.over_budget()  # for the others, which take no bytes
        r.budget -= count * memory
        return row.read_many(r, count)

    return read


def _numbers(shape: s.Shape, base: s.Scalar, of: Of) -> Items:
    """Numbers of fixed size, bools, uuids and enums of a byte, and those with constraints."""
    each, rules, convert = _each(read_of(shape, of)), rules_of(shape), converted(bare(shape))
    letter = format_of(base)
    size = struct.calcsize(f"<{letter}")
    charge = sizes.memory(base) if shape is base and base.name in _CHARGED else 0

    def read(r: Reader, count: int) -> list[Any]:
        if charge and count > _MANY:
            r.charge(count * charge)
        pos = r.pos
        end = pos + count * size
        if end > r.end:
            return each(r, count)
        elements = row_read.numbers(r.data, pos, end, letter)
        try:
            if convert is not None:
                elements = list(map(convert, elements))
        except KeyError:
            return each(r, count)
        if rules and not all(rule.holds_all(elements) for rule in rules):
            return each(r, count)
        r.pos = end
        return elements

    return read
