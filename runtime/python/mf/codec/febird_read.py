"""R1. Functions that read values of tier febird, one for each shape: each takes a `Reader`, and leaves it
behind the value.

    read_of(shape, of)          -> read(r): one value
    items_of(shape, of)         -> read(r, count): the list of so many, each at its place in the path
    struct_read(shape, of)      -> read(r): of a struct of tier febird or memcpy
    union_read(shape, of)

`of` gives the coding of a struct or union inside (mf.codec.coding), which may still be in the making. Runs of
numbers are converted at once; where one of them is not what it may be, its place is worked out then.
"""

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from mf.codec import row_read, sizes
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.layout import converted, row_of, rules_of, wrong_part
from mf.codec.limits import MAX_DEPTH, U32_MAX
from mf.codec.reader import Reader
from mf.codec.rules import InRange
from mf.codec.zeros import zero

Read = Callable[[Reader], Any]
Items = Callable[[Reader, int], list[Any]]
Of = Callable[[s.Composite], Any]

_ENTRY: Final = 8  # a list's pointer to its element
_MANY: Final = 64  # more numbers than this are charged for ahead
_FIXED: Final = ("bool", "i8", "u8", "f32", "f64", "timestamp", "uuid")
_VARINTS: Final = ("u16", "u32", "u64")
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
        case "u8":
            return _byte
        case name if name in _FIXED:
            return _fixed(shape)
        case "duration":
            return _signed(64, converted(shape))
        case name if name[0] == "u":
            return _unsigned((1 << shape.bits) - 1)
        case _:
            return _signed(shape.bits, None)


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
    pos = r.pos
    r.pos = end = pos + size
    return r.data[pos:end]


def _bool(r: Reader) -> bool:
    pos = r.pos
    if pos < r.end and (byte := r.data[pos]) < 2:
        r.pos = pos + 1
        return byte == 1
    return r.bit("bool")


def _byte(r: Reader) -> int:
    pos = r.pos
    if pos >= r.end:
        r.need(1)
    r.pos = pos + 1
    return r.data[pos]


def _fixed(shape: s.Scalar) -> Read:
    unpack = struct.Struct("16s" if shape.name == "uuid" else f"<{sizes.MEMCPY_CODES[shape.name]}")
    size, unpack_from, convert = unpack.size, unpack.unpack_from, converted(shape)

    def read(r: Reader) -> Any:
        pos = r.pos
        if pos + size > r.end:
            r.need(size)
        r.pos = pos + size
        return unpack_from(r.data, pos)[0]

    if convert is None:
        return read
    return lambda r: convert(read(r))


def _unsigned(highest: int) -> Read:
    def read(r: Reader) -> int:
        pos = r.pos
        if pos < r.end:
            byte = r.data[pos]
            if byte < 128:
                r.pos = pos + 1
                return byte
            if pos + 1 < r.end and 0 < (more := r.data[pos + 1]) < 128:
                r.pos = pos + 2
                return byte + (more << 7) - 128
        return r.unsigned(highest)

    return read


def _signed(bits: int, convert: Callable[[int], Any] | None) -> Read:
    highest = (1 << bits) - 1

    def read(r: Reader) -> int:
        pos = r.pos
        if pos < r.end and (number := r.data[pos]) < 128:
            r.pos = pos + 1
        else:
            number = r.unsigned(highest)
        return ~(number >> 1) if number & 1 else number >> 1

    if convert is None:
        return read
    return lambda r: convert(read(r))


def _enum(shape: s.Enum) -> Read:
    number, values = _scalar(shape.base), shape.values
    if shape.base is s.U8:

        def read_byte(r: Reader) -> Any:
            pos = r.pos
            if pos >= r.end:
                r.need(1)
            try:
                value = values[r.data[pos]]
            except KeyError:
                raise wrong_part(r, shape, r.data[pos], pos) from None
            r.pos = pos + 1
            return value

        return read_byte

    def read(r: Reader) -> Any:
        at = r.pos
        found = number(r)
        try:
            return values[found]
        except KeyError:
            raise wrong_part(r, shape, found, at) from None

    return read


def _checked(shape: s.Checked, of: Of) -> Read:
    read_inner, rules = read_of(shape.shape, of), shape.rules
    tests = [each.test() for each in rules]
    first = tests[0]
    may_be_none = isinstance(shape.shape, s.Optional)

    def read(r: Reader) -> Any:
        at = r.pos
        value = read_inner(r)
        for holds in tests:
            if value is not None and not holds(value):
                r.check(rules, value, at)
        return value

    def read_one_rule(r: Reader) -> Any:
        at = r.pos
        value = read_inner(r)
        if not first(value):
            r.check(rules, value, at)
        return value

    if may_be_none or len(tests) > 1:
        return read
    rule = rules[0]
    if isinstance(rule, InRange) and isinstance(shape.shape, s.Scalar) and shape.shape.name in _VARINTS:
        return _ranged(rule, read_one_rule)
    return read_one_rule


def _ranged(rule: InRange, read: Read) -> Read:
    """Of unsigned numbers; `read` is for those of more than a byte, or out of range."""
    low = 0 if rule.low is None else rule.low
    high = min(127, math.inf if rule.high is None else rule.high)

    def read_short(r: Reader) -> Any:
        pos = r.pos
        if pos < r.end and low <= (number := r.data[pos]) <= high:
            r.pos = pos + 1
            return number
        return read(r)

    return read_short


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
    if shape.parts is s.bare_parts:
        return _bare(shape, of)
    memory, make, groups = sizes.memory(shape), shape.make, _groups(shape, of)
    is_level = int(not shape.implicit)
    if any(is_run for _, _, is_run in groups):
        return _in_runs(shape, groups)
    steps = [step for _, step, _ in groups]
    is_tuple = make is s.parts_made

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
            failure.in_field(groups[len(values)][0])
            raise
        r.depth -= is_level
        return tuple(values) if is_tuple else make(*values)

    return read


def _in_runs(shape: s.Struct, groups: "list[tuple[str, Read, bool]]") -> Read:
    """The same of a struct that has neighbouring numbers, some of the functions reading several fields."""
    memory, make, is_level = sizes.memory(shape), shape.make, int(not shape.implicit)

    def read(r: Reader) -> Any:
        r.depth += is_level
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        values: list[Any] = []
        append = values.append
        name = ""
        try:
            for name, step, is_run in groups:  # noqa: B007 - the path wants it
                if is_run:
                    values += step(r)
                else:
                    append(step(r))
        except CodecError as failure:
            failure.in_field(name)
            raise
        r.depth -= is_level
        return make(*values)

    return read


def _bare(shape: s.Struct, of: Of) -> Read:
    """Of a struct that is its only field."""
    memory, field = sizes.memory(shape), shape.fields[0]
    step = read_of(field.shape, of)

    def read(r: Reader) -> Any:
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        try:
            return step(r)
        except CodecError as failure:
            failure.in_field(field.name)
            raise

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


class _Run:
    """Neighbouring numbers of fixed size, unpacked together where all of them are there."""

    def __init__(self, fields: Sequence[s.Field], of: Of) -> None:
        unpack = struct.Struct("<" + "".join(letter_of(each.shape) for each in fields))
        self._size = unpack.size
        self._unpack = unpack.unpack_from
        self._steps = [(each.name, read_of(each.shape, of)) for each in fields]

    def read(self, r: Reader) -> Sequence[Any]:
        pos = r.pos
        if pos + self._size > r.end:
            return self._one_by_one(r)
        r.pos = pos + self._size
        return self._unpack(r.data, pos)

    def _one_by_one(self, r: Reader) -> Sequence[Any]:
        values: list[Any] = []
        name = ""
        try:
            for name, step in self._steps:  # noqa: B007 - the path wants it
                values.append(step(r))
        except CodecError as failure:
            failure.in_field(name)
            raise
        return values


def letter_of(plain: s.Shape) -> str:
    name = plain.base.name if isinstance(plain, s.Enum) else getattr(plain, "name", "")
    return "16s" if name == "uuid" else sizes.MEMCPY_CODES[name]


def _is_fixed(shape: s.Shape) -> bool:
    plain = bare(shape)
    return (isinstance(plain, s.Scalar) and plain.name in _FIXED) or (
        isinstance(plain, s.Enum) and plain.base.name in _FIXED
    )


def _is_number(shape: s.Shape) -> bool:
    """Of fixed size, and what `struct` makes of it."""
    return _is_fixed(shape) and converted(shape) is None


def _groups(shape: s.Struct, of: Of) -> list[tuple[str, Read, bool]]:
    """Each field with its name; of neighbouring numbers of fixed size one function that reads several."""
    groups: list[tuple[str, Read, bool]] = []
    at, fields = 0, shape.fields
    while at < len(fields):
        end = at
        while end < len(fields) and _is_number(fields[end].shape):
            end += 1
        if end - at > 1:
            groups.append(("", _Run(fields[at:end], of).read, True))
            at = end
        else:
            groups.append((fields[at].name, read_of(fields[at].shape, of), False))
            at += 1
    return groups


def union_read(shape: s.Union, of: Of) -> Read:
    memory = sizes.memory(shape)
    chosen = {each.number: (each.name, each.type, read_of(each.shape, of)) for each in shape.alternatives}
    read_number = _unsigned(U32_MAX)

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
    name = sizes.row_of(element)
    if name is not None:
        return row_read.row_reader(element, name, _ENTRY)
    smallest, memory, items = sizes.smallest(element), sizes.memory(element), items_of(element, of)

    in_array = row_read.in_arrays(element, lambda r: read(r))

    def read(r: Reader) -> Any:
        if r.arrays and in_array is not None:
            return in_array(r)
        r.enter()
        elements = items(r, r.count(smallest, _ENTRY, memory))
        r.depth -= 1
        return elements

    return read


def _set(element: s.Shape, of: Of) -> Read:
    name = sizes.row_of(element)
    if name is not None:
        read_row = row_read.row_reader(element, name, sizes.ENTRY, ascending=True)
        return lambda r: set(read_row(r))
    smallest, memory, read_one = sizes.smallest(element), sizes.memory(element), read_of(element, of)

    def read(r: Reader) -> set[Any]:
        r.enter()
        count = r.count(smallest, sizes.ENTRY, memory)
        before: Any = None
        elements: set[Any] = set()
        index = 0
        try:
            for index in range(count):
                at = r.pos
                value = read_one(r)
                if index and not before < value:
                    raise r.not_ascending(at)
                before = value
                elements.add(value)
        except CodecError as failure:
            failure.in_item(index)
            raise
        r.depth -= 1
        return elements

    return read


def _array(shape: s.Array, of: Of) -> Read:
    element, length = shape.element, shape.length
    name = sizes.row_of(element)
    items = items_of(element, of) if name is None else row_read.array_reader(element, name)

    def read(r: Reader) -> list[Any]:
        r.enter()
        elements = items(r, length)
        r.depth -= 1
        return elements

    return read


def _map(shape: s.Map, of: Of) -> Read:
    smallest = sizes.smallest(shape.key) + sizes.smallest(shape.value)
    memory = sizes.memory(shape.key) + sizes.memory(shape.value)
    names = sizes.blocks_of(shape)
    entries = _entries(shape, of) if names is None else row_read.entries_reader(shape, names)

    def read(r: Reader) -> dict[Any, Any]:
        r.enter()
        count = r.count(smallest, sizes.ENTRY, memory)
        if count:
            r.charge(sizes.FIRST_ENTRY)
        found = entries(r, count)
        r.depth -= 1
        return found

    return read


def _entries(shape: s.Map, of: Of) -> Callable[[Reader, int], dict[Any, Any]]:
    read_key, read_value = read_of(shape.key, of), read_of(shape.value, of)

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
    if _is_fixed(shape):
        return _fixed_items(shape, of)
    if sizes.is_nothing(shape):
        return _nothings(shape, of)
    if isinstance(shape, s.Struct) and shape.memcpy:
        return _rows(shape)
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


def _strings(r: Reader, count: int) -> list[str]:
    """As `_string` reads each, without a call."""
    texts: list[str] = []
    append, data, end = texts.append, r.data, r.end
    pos, before = r.pos, r.budget
    try:
        for _ in range(count):
            size = data[pos] if pos < end else 128
            stop = pos + 1 + size
            if size > 127 or stop > end:
                break
            append(data[pos + 1 : stop].decode())
            pos = stop
    except UnicodeDecodeError:
        pass  # met again
    r.budget -= 64 * len(texts) + (pos - r.pos) - len(texts)
    if r.budget < 0:
        r.budget = before  # for which of them is it too small?
        return _each(_string)(r, count)
    r.pos = pos
    try:
        while len(texts) < count:
            append(_string(r))
    except CodecError as failure:
        failure.in_item(len(texts))
        raise
    return texts


def _nothings(shape: s.Shape, of: Of) -> Items:
    """Values without bytes."""
    one, memory = _each(read_of(shape, of)), sizes.memory(shape)

    def read(r: Reader, count: int) -> list[Any]:
        if not count:
            return []
        first = one(r, 1)
        r.charge((count - 1) * memory)
        return [*first, *(zero(shape) for _ in range(count - 1))]

    return read


def _rows(shape: s.Struct) -> Items:
    row, memory, each = row_of(shape), sizes.memory(shape), _each(struct_read(shape, _none_inside))
    size = row.size

    def read(r: Reader, count: int) -> list[Any]:
        whole = r.depth < MAX_DEPTH and count * memory <= r.budget and count * size <= r.end - r.pos
        if not whole:
            return each(r, count)
        r.budget -= count * memory
        return row.read_many(r, count)

    return read


def _none_inside(shape: s.Composite) -> Any:
    raise TypeError(shape.name)


def _fixed_items(shape: s.Shape, of: Of) -> Items:
    """Numbers, bools, uuids and enums of a byte, and those with constraints."""
    each = _each(read_of(shape, of))
    plain, rules = bare(shape), rules_of(shape)
    letter = letter_of(plain)
    size = struct.calcsize(f"<{letter}")
    charge = sizes.memory(shape) if isinstance(shape, s.Scalar) and shape.name in _CHARGED else 0
    convert = converted(plain)

    def read(r: Reader, count: int) -> list[Any]:
        if charge and count > _MANY:
            r.charge(count * charge)
        pos = r.pos
        end = pos + count * size
        if end > r.end:
            return each(r, count)
        try:
            elements = row_read.numbers(r.data, pos, end, letter)
            if convert is not None:
                elements = list(map(convert, elements))
        except KeyError:
            return each(r, count)
        if rules and not all(rule.holds_all(elements) for rule in rules):
            return each(r, count)
        r.pos = end
        return elements

    return read
