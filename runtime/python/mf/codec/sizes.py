"""R1. How values of a shape lie, and how much they take: layouts in memory, the fewest bytes on the wire,
rows, and what this runtime allocates.

Memory is an estimate from above, without what is shared: a decoder asks it before it reads (mf.codec.codec).
Structs and unions keep what was found.
"""

from struct import calcsize
from typing import Any, Final

from mf.codec import shape as s
from mf.codec.contents import bare, scalar_of
from mf.codec.limits import MAX_EMPTY_ITEMS

# struct's letter of each scalar in a memcpy layout; a uuid is 16 bytes of alignment 1.
MEMCPY_CODES: Final = {
    "bool": "B",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
    "timestamp": "q",
    "duration": "q",
}
ENTRY: Final = 100  # of a dict or set
FIRST_ENTRY: Final = 168  # of a dict, more
FIXED: Final = ("bool", "i8", "u8", "f32", "f64", "timestamp", "uuid")
"""Of the same size in febird as in memory; others take at least one byte."""


def has_layout(shape: s.Shape) -> bool:
    """Whether a memcpy struct can hold it."""
    match bare(shape):
        case s.Scalar(name=name):
            return name not in ("string", "bytes")
        case s.Array(element=element):
            return has_layout(element)
        case s.Struct(memcpy=memcpy):
            return memcpy
        case plain:
            return isinstance(plain, s.Enum)


def is_array_element(shape: s.Shape) -> bool:
    """Whether a list of these can be an array of numpy: numbers, and structs of tier memcpy."""
    plain = bare(shape)
    if isinstance(plain, s.Scalar):
        return plain.name[0] in "iuf" and plain.name != "uuid"
    return isinstance(shape, s.Struct) and shape.memcpy and layout(shape)[0] > 0


def is_nothing(shape: s.Shape) -> bool:
    """Whether the shape is a struct without any content, but for arrays of such structs: it has only one
    value."""
    return isinstance(shape, s.Struct) and shape.memcpy and not shape.implicit and not layout(shape)[0]


def layout(shape: s.Shape) -> tuple[int, int]:
    """Size and alignment of a memcpy value (docs/protocol.md, section 8)."""
    match shape:
        case s.Scalar(name="uuid"):
            return 16, 1
        case s.Scalar():
            size = calcsize(f"<{MEMCPY_CODES[shape.name]}")
            return size, size
        case s.Enum():
            return layout(shape.base)
        case s.Checked():
            return layout(shape.shape)
        case s.Array():
            size, align = layout(shape.element)
            return size * shape.length, align
        case s.Struct():
            return _struct_layout(shape)
        case _:
            raise TypeError(f"{type(shape).__name__} has no memory layout")


@s.kept
def _struct_layout(shape: s.Struct) -> tuple[int, int]:
    end, strictest = 0, 1
    for each in shape.fields:
        size, align = layout(each.shape)
        end += -end % align + size
        strictest = max(strictest, align)
    return end + -end % strictest, strictest


def smallest(shape: s.Shape) -> int:
    """The fewest bytes that a value takes in febird; of a memcpy struct, its size."""
    match shape:
        case s.Scalar():
            return layout(shape)[0] if shape.name in FIXED else 1
        case s.Enum():
            return 1
        case s.Checked():
            return smallest(shape.shape)
        case s.Array():
            return _smallest_array(shape.element, shape.length)
        case s.Struct() | s.Union() | s.Custom():
            return _smallest_of(shape)
        case _:
            return 1


@s.kept
def _smallest_of(shape: s.Composite) -> int:
    match shape:
        case s.Struct(archive=False):
            return layout(shape)[0] if shape.memcpy else sum(map(smallest, shape.shapes))
        case s.Union(archive=False):
            sizes = [_varint_size(each.number) + smallest(each.shape) for each in shape.alternatives]
            return min(sizes, default=1)
        case _:
            return 1  # the length in front of it


def _varint_size(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


def _smallest_array(element: s.Shape, length: int) -> int:
    if not length:
        return 0
    return codes_size(length) + length if row_of(element) else length * smallest(element)


def row_of(element: s.Shape) -> str | None:
    """The integer type of a row (docs/protocol.md, section 8, "Rows"); None if these lie in no row."""
    plain = scalar_of(element)
    if plain is None or plain.name in FIXED or plain.name in ("string", "bytes"):
        return None
    return "i64" if plain.name == "duration" else plain.name


def blocks_of(shape: s.Map) -> tuple[str, str] | None:
    """The integer types of a map that is written in blocks ("Maps of integers"); None for another map."""
    key, value = row_of(shape.key), row_of(shape.value)
    return None if key is None or value is None else (key, value)


def codes_size(count: int) -> int:
    """Bytes that the codes of so many values take, all blocks counted."""
    return -(-count // 1024)  # blocks of 256, four codes a byte


def memory(shape: s.Shape) -> int:
    """Bytes that this runtime allocates for one smallest value; an estimate, without what is shared."""
    match shape:
        case s.Scalar(name="bool" | "u8"):
            return 0
        case s.Scalar(name="string" | "bytes"):
            return 64
        case s.Scalar(name="uuid"):
            return 96
        case s.Scalar() | s.Enum():
            return 32
        case s.Checked():
            return memory(shape.shape)
        case s.Array():
            return 56 + shape.length * (8 + memory(shape.element))
        case s.Optional() | s.Ref():
            return 0
        case s.Struct() | s.Union() | s.Custom():
            return _memory_of(shape)
        case s.Set():
            return 232
        case s.Map():
            return 64  # its first entry takes FIRST_ENTRY more
        case s.List():
            return 56


@s.kept
def _memory_of(shape: s.Composite) -> int:
    match shape:
        case s.Custom():
            return 256
        case s.Union():
            return 48 + max(map(memory, shape.shapes), default=0)
        case s.Struct():
            own = sum(8 + memory(each) for each in shape.shapes)
            if shape.make is not s.bare_made:  # which is the only field itself
                own += 48
            if not shape.archive:
                return own
            return own + (256 if shape.tables else 64) + sum(map(_memory_made, shape.fields))


def memory_of(shape: s.Composite, count: int, size: int) -> float:
    """Bytes of memory that `count` values in `size` bytes take, at most."""
    return count * (8 + memory(shape)) + size * _amplification(shape)


@s.kept
def _amplification(root: s.Composite) -> float:
    """Bytes of memory per byte on the wire, at most, for what the containers of a value hold: the worst of
    all containers in it, the memory of an entry over the bytes of its smallest encoding.

    Every byte belongs to one entry, and what an entry holds by value is counted with it. A type met before
    adds nothing.
    """
    worst = 1.0
    seen: set[s.Shape] = set()
    waiting: list[tuple[s.Shape, bool]] = [(root, False)]
    while waiting:
        shape, archive = waiting.pop()
        match shape:
            case s.Checked():
                waiting.append((shape.shape, archive))
            case s.Struct() | s.Union() | s.Custom():
                if shape in seen or (isinstance(shape, s.Struct) and shape.memcpy):
                    continue
                seen.add(shape)
                if isinstance(shape, s.Custom):
                    worst = max(worst, (8 + memory(shape)) / smallest(shape))
                waiting += [(each, shape.archive) for each in shape.shapes]
            case s.Map():
                size = 2 if archive else smallest(shape.key) + smallest(shape.value)
                taken = FIRST_ENTRY + ENTRY + memory(shape.key) + memory(shape.value)
                worst = max(worst, _entry(taken, size))
                waiting += [(shape.key, archive), (shape.value, archive)]
            case s.List() | s.Set():
                size = smallest(shape.element) or (2 if archive else 0)
                entry = 8 if isinstance(shape, s.List) else ENTRY
                worst = max(worst, _entry(entry + memory(shape.element), size))
                waiting.append((shape.element, archive))
            case s.Optional() | s.Ref():
                worst = max(worst, (8 + memory(shape.element)) / (1 + smallest(shape.element)))
                waiting.append((shape.element, archive))
            case s.Array():
                waiting.append((shape.element, archive))
    return worst


def _entry(taken: int, size: int) -> float:
    return taken / size if size else taken * MAX_EMPTY_ITEMS


def _memory_made(field: s.Field) -> int:
    """Bytes that its default takes in each value that lacks it."""
    return 0 if field.default is None else taken(field.default())


def taken(value: Any) -> int:
    """What a value that there is takes: of containers and structs, beside what is shared."""
    match value:
        case list():
            return 56 + sum(8 + taken(each) for each in value)
        case set():
            return 232 + ENTRY * len(value)
        case dict():
            return 232 + sum(ENTRY + taken(each) for each in value.values())
        case _:
            slots = getattr(type(value), "__match_args__", ())
            return 48 + sum(8 + taken(getattr(value, each)) for each in slots) if slots else 0


def defaults_of(shape: s.Composite) -> int:
    """Bytes that the defaults of its fields take, of a tier that has none on the wire: in JSON it has."""
    if not isinstance(shape, s.Struct) or shape.archive:
        return 0  # of tier archive, `memory` counts them
    return sum(map(_memory_made, shape.fields))
