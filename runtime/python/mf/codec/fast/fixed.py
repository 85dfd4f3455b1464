"""R1. Values of fixed size, several in one `struct.Struct`: their format, what to pack, and what to make of
the parts.

Two places use it: a memcpy struct as a whole (explicit padding, `<`, never `@`), and runs of neighbouring
fields of a febird struct whose encoding has a fixed size. An array's elements follow each other; its length
is checked when it is packed, because a wrong one could be made up for by another.
"""

from typing import Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.fast.unit import Unit, bare

_IN_FEBIRD: Final = ("bool", "i8", "u8", "f32", "f64", "timestamp", "uuid")


class Parts:
    """Where the next part of an unpacked row is: a name of its own, or an index from `base` on."""

    def __init__(self, names: list[str] | None, base: str = "", level: int = 0, row: str = "row") -> None:
        self.names = names
        self.base = base
        self.at = 0
        self.level = level
        self.row = row

    def index(self, offset: int = 0) -> str:
        number = self.at + offset
        return f"{self.base} + {number}" if self.base and number else self.base or str(number)

    def next(self) -> str:
        taken = self.names[self.at] if self.names is not None else f"{self.row}[{self.index()}]"
        self.at += 1
        return taken


def is_fixed(shape: s.Shape) -> bool:
    """Whether the febird encoding always takes the same number of bytes, and is the layout's."""
    match bare(shape):
        case s.Scalar(name=name):
            return name in _IN_FEBIRD
        case s.Array(element=element):
            return is_fixed(element)
        case s.Enum(base=base):
            return base.name in _IN_FEBIRD
        case s.Struct(memcpy=memcpy):
            return memcpy
        case _:
            return False


def format_of(shape: s.Shape) -> str:
    match bare(shape):
        case s.Scalar(name="uuid"):
            return "16s"
        case s.Scalar(name=name):
            return sizes.MEMCPY_CODES[name]
        case s.Array(element=element, length=length):
            while isinstance(inner := bare(element), s.Array):
                element, length = inner.element, length * inner.length
            one = format_of(element)
            return f"{length}{one}" if len(one) == 1 else one * length
        case s.Enum(base=base):
            return format_of(base)
        case s.Struct() as struct:
            return struct_format(struct)
        case other:
            raise TypeError(f"{type(other).__name__} has no memory layout")


def struct_format(struct: s.Struct) -> str:
    """Of a memcpy struct, padding included."""
    text, end = "", 0
    for each in struct.fields:
        size, align = sizes.layout(each.shape)
        gap = -end % align
        text += f"{gap}x" * (gap > 0) + format_of(each.shape)
        end += gap + size
    rest = struct.layout[0] - end
    return text + f"{rest}x" * (rest > 0)


def count_of(shape: s.Shape) -> int:
    """Parts that a value unpacks to."""
    match bare(shape):
        case s.Array(element=element, length=length):
            return length * count_of(element)
        case s.Struct(fields=fields):
            return sum(count_of(each.shape) for each in fields)
        case _:
            return 1


def has_array(shape: s.Shape) -> bool:
    match bare(shape):
        case s.Array():
            return True
        case s.Struct(fields=fields):
            return any(has_array(each.shape) for each in fields)
        case _:
            return False


def packed(unit: Unit, shape: s.Shape, value: str) -> list[str]:
    """Arguments of `pack` for a value; they refuse what struct itself would let pass. What equals a number
    may be a float: so it is looked up, but the value itself is packed, and struct wants an integer.
    """
    match bare(shape):
        case s.Scalar(name="bool"):
            return [f"({value} is True or {value} is not False and bool_of({value}))"]
        case s.Scalar(name="uuid"):
            return [f"{value}.bytes"]
        case s.Array() as array:
            return [_packed_array(unit, array, value)]
        case s.Enum(open=False) as enum:
            return [f"({unit.constant('numbers', enum.numbers)}[{value}] and {value})"]
        case s.Struct(fields=()) as struct:
            return [f"*no_parts({value}, {unit.constant('make', struct.make)})"]
        case s.Struct(fields=fields):
            return [part for each in fields for part in packed(unit, each.shape, f"{value}.{each.attribute}")]
        case _:
            return [value]


def _packed_array(unit: Unit, array: s.Array, value: str) -> str:
    elements = f"exactly({value}, {array.length})"
    parts = packed(unit, array.element, "item")
    if parts == ["item"]:
        return f"*{elements}"
    if len(parts) == 1 and not parts[0].startswith("*"):
        return f"*[{parts[0]} for item in {elements}]"
    if len(parts) == 1:
        return f"*[part for item in {elements} for part in {parts[0][1:]}]"
    return f"*[part for item in {elements} for part in ({', '.join(parts)})]"


def made(unit: Unit, shape: s.Shape, parts: Parts) -> str:
    """The expression that makes a value of the parts at hand."""
    match bare(shape):
        case s.Array() as array:
            return _made_array(unit, array, parts)
        case s.Struct(fields=fields) as struct:
            arguments = ", ".join(made(unit, each.shape, parts) for each in fields)
            return f"{unit.constant('make', struct.make)}({arguments})"
        case plain:
            return converted(unit, plain, parts.next())


def converted(unit: Unit, shape: s.Shape, part: str) -> str:
    """A number as it was unpacked -> the value that it stands for."""
    match bare(shape):
        case s.Scalar(name="bool"):
            return f"BOOL[{part}]"
        case s.Scalar(name="uuid"):
            return f"{unit.uuid()}(bytes={part})"
        case s.Scalar(name="timestamp"):
            return f"Timestamp({part})"
        case s.Scalar(name="duration"):
            return f"Duration({part})"
        case s.Enum(values=values):
            return f"{unit.constant('values', values)}[{part}]"
        case _:
            return part


def _made_array(unit: Unit, array: s.Array, parts: Parts) -> str:
    each = count_of(array.element)
    begin, end = parts.index(), parts.index(each * array.length)
    parts.at += each * array.length
    if isinstance(bare(array.element), s.Scalar):
        item = converted(unit, array.element, "item")
        span = f"{parts.row}[{begin}:{end}]"
        return f"list({span})" if item == "item" else f"[{item} for item in {span}]"
    index = f"i{parts.level}"
    inner = Parts(None, index, parts.level + 1, parts.row)
    if each == 0:
        return f"[{made(unit, array.element, inner)} for _ in range({array.length})]"
    return f"[{made(unit, array.element, inner)} for {index} in range({begin}, {end}, {each})]"
