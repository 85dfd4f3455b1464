"""R1. What a type looks like, as data: all that the careful reader and writer need.

Generated modules hold one `Struct` per struct of the schema beside its fast codec. Fields come from a
function, so that recursive types need no order. Plain classes: every import of generated code pays for this.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mf.codec.rules import Rule


class Scalar:
    """A built-in type by its word in the language."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def bits(self) -> int:
        return int(self.name[1:])


class Enum:
    """`members` is None for an open enum."""

    __slots__ = ("base", "members", "name", "type")

    def __init__(
        self,
        name: str,
        type: Callable[[int], Any],  # noqa: A002 - generated code gives it by position
        base: Scalar,
        members: dict[int, Any] | None,
    ) -> None:
        self.name = name
        self.type = type
        self.base = base
        self.members = members


class _OfElement:
    __slots__ = ("element",)

    def __init__(self, element: "Shape") -> None:
        self.element = element


class List(_OfElement):
    __slots__ = ()


class Set(_OfElement):
    __slots__ = ()


class Optional(_OfElement):
    __slots__ = ()


class Array:
    __slots__ = ("element", "length")

    def __init__(self, element: "Shape", length: int) -> None:
        self.element = element
        self.length = length


class Map:
    __slots__ = ("key", "value")

    def __init__(self, key: "Shape", value: "Shape") -> None:
        self.key = key
        self.value = value


class Checked:
    """A position with constraints."""

    __slots__ = ("rules", "shape")

    def __init__(self, shape: "Shape", rules: "tuple[Rule, ...]") -> None:
        self.shape = shape
        self.rules = rules


class Field:
    """`name` as in the schema, `attribute` as in Python."""

    __slots__ = ("attribute", "name", "shape")

    def __init__(self, name: str, shape: "Shape", attribute: str) -> None:
        self.name = name
        self.shape = shape
        self.attribute = attribute


class Struct:
    """`make` builds a value from its fields in order, `parts` takes one apart (None: by their attributes).

    `implicit`: the parameters or results of a method. `name` is what paths begin with.
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        *,
        memcpy: bool,
        list_fields: Callable[[], tuple[Field, ...]],
        implicit: bool = False,
        parts: Callable[[Any], Sequence[Any]] | None = None,
    ) -> None:
        self.name = name
        self.make = make
        self.memcpy = memcpy
        self.list_fields = list_fields
        self.implicit = implicit
        self.parts = parts

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return self.list_fields()

    @cached_property
    def layout(self) -> tuple[int, int]:
        return layout(self)

    @cached_property
    def smallest(self) -> int:
        """Bytes on the wire, at least."""
        return smallest(self)

    def memory_of(self, count: int, size: int) -> float:
        """Bytes of memory that `count` values in `size` bytes take, at most."""
        return count * (8 + self._own_memory) + size * self._contents

    @cached_property
    def _own_memory(self) -> int:
        return memory(self)

    @cached_property
    def _contents(self) -> float:
        return max((_contents(each.shape) for each in self.fields), default=0)

    @cached_property
    def amplification(self) -> float:
        """Bytes of memory per byte on the wire, at most, for anything in a value of this type."""
        return _amplification(self, set())


Shape = Scalar | Enum | List | Array | Set | Map | Optional | Checked | Struct

BOOL: Final = Scalar("bool")
I8: Final = Scalar("i8")
I16: Final = Scalar("i16")
I32: Final = Scalar("i32")
I64: Final = Scalar("i64")
U8: Final = Scalar("u8")
U16: Final = Scalar("u16")
U32: Final = Scalar("u32")
U64: Final = Scalar("u64")
F32: Final = Scalar("f32")
F64: Final = Scalar("f64")
STRING: Final = Scalar("string")
BYTES: Final = Scalar("bytes")
TIMESTAMP: Final = Scalar("timestamp")
DURATION: Final = Scalar("duration")
UUID: Final = Scalar("uuid")

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
_SIZES: Final = {"b": 1, "h": 2, "i": 4, "q": 8, "f": 4, "d": 8}
_FIXED: Final = {"bool": 1, "i8": 1, "u8": 1, "f32": 4, "f64": 8, "uuid": 16}  # in febird; others: at least 1


def layout(shape: Shape) -> tuple[int, int]:
    """Size and alignment of a memcpy value (docs/protocol.md, section 8)."""
    match shape:
        case Scalar(name="uuid"):
            return 16, 1
        case Scalar():
            size = _SIZES[MEMCPY_CODES[shape.name].lower()]
            return size, size
        case Enum():
            return layout(shape.base)
        case Checked():
            return layout(shape.shape)
        case Array():
            size, align = layout(shape.element)
            return size * shape.length, align
        case Struct():
            end, strictest = 0, 1
            for each in shape.fields:
                size, align = layout(each.shape)
                end += -end % align + size
                strictest = max(strictest, align)
            return end + -end % strictest, strictest
        case _:
            raise TypeError(f"{type(shape).__name__} has no memory layout")


def smallest(shape: Shape) -> int:
    """The fewest bytes that a value takes in febird; of a memcpy struct, its size."""
    match shape:
        case Scalar():
            return _FIXED.get(shape.name, 1)
        case Enum():
            return 1
        case Checked():
            return smallest(shape.shape)
        case Array():
            return shape.length * smallest(shape.element) if shape.length else 0
        case Struct(memcpy=True):
            return shape.layout[0]
        case Struct():
            return sum(smallest(each.shape) for each in shape.fields)
        case _:
            return 1


def memory(shape: Shape) -> int:
    """Bytes that this runtime allocates for one smallest value; an estimate, without what is shared."""
    match shape:
        case Scalar(name="bool" | "u8"):
            return 0
        case Scalar(name="string" | "bytes"):
            return 64
        case Scalar(name="uuid"):
            return 96
        case Scalar() | Enum():
            return 32
        case Checked():
            return memory(shape.shape)
        case Array():
            return 56 + shape.length * (8 + memory(shape.element))
        case Optional():
            return 0
        case Struct():
            return 48 + sum(8 + memory(each.shape) for each in shape.fields)
        case Set() | Map():
            return 232
        case List():
            return 56


def _contents(shape: Shape) -> float:
    """Bytes of memory per byte on the wire beyond what `memory` counts for the value itself, at most."""
    match shape:
        case Checked():
            return _contents(shape.shape)
        case Scalar(name="string" | "bytes"):
            return 1
        case Scalar() | Enum():
            return 0
        case Struct(memcpy=True):
            return 0
        case _:
            return _amplification(shape, set())


def _amplification(shape: Shape, seen: set[str]) -> float:
    """The worst of a value itself over its bytes, and of what it contains. A type met before adds nothing."""
    match shape:
        case Checked():
            return _amplification(shape.shape, seen)
        case Struct():
            if shape.name in seen:
                return 0
            seen.add(shape.name)
            parts: list[Shape] = [each.shape for each in shape.fields]
        case List() | Set() | Array() | Optional():
            parts = [shape.element]
        case Map():
            parts = [shape.key, shape.value]
        case _:
            parts = []
    entry = 8 if not isinstance(shape, Set | Map) else 100
    own = (entry + memory(shape)) / max(smallest(shape), 1)
    return max(
        [own, *(_amplification(part, seen) + (92 if isinstance(shape, Set | Map) else 0) for part in parts)]
    )


# What stands for the implicit structs of methods: a tuple of parameters, the only result itself, or nothing.


def parts_made(*parts: Any) -> tuple[Any, ...]:
    return parts


def bare_made(value: Any) -> Any:
    return value


def bare_parts(value: Any) -> tuple[Any, ...]:
    return (value,)


def nothing_made() -> None:
    return None


def nothing_parts(_: None) -> tuple[Any, ...]:
    return ()
