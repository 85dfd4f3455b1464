"""R1. What a type looks like, as data: all that its codec needs.

Generated modules hold one `Struct` or `Union` for each of the schema, and the codec is made of it
(mf.codec.fast). Fields come from a function, so that recursive types need no order, and nothing is built that
a program does not use. Plain classes: every import of generated code pays for this.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mf.codec.limits import MAX_EMPTY_ITEMS

if TYPE_CHECKING:
    from mf.codec.fast.functions import Functions
    from mf.codec.rules import Rule


class Scalar:
    """A built-in type by its word in the language."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def bits(self) -> int:
        return int(self.name[1:])


class _Known(dict[int, Any]):
    """Number to value of an open enum or flags: what has no name is made when it is met, and not kept."""

    __slots__ = ("_type",)

    def __init__(self, type: Callable[[int], Any]) -> None:  # noqa: A002 - as in Enum
        super().__init__({int(each): each for each in getattr(type, "__members__", {}).values()})
        self._type = type

    def __missing__(self, number: int) -> Any:
        return self._type(number)


class Enum:
    """`open`: any number of the base is a value; of flags too. `renamed`: members whose name in the schema is
    another one than in Python.
    """

    def __init__(
        self,
        name: str,
        type: Callable[[int], Any],  # noqa: A002 - generated code gives it by position
        base: Scalar,
        *,
        open: bool = False,  # noqa: A002
        renamed: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.name = name
        self.type = type
        self.base = base
        self.open = open
        self.renamed = renamed

    @cached_property
    def names(self) -> dict[str, Any]:
        """Member by its name in the schema."""
        renamed = dict(self.renamed)
        named: dict[str, Any] = getattr(self.type, "__members__", {})
        return {renamed.get(name, name): each for name, each in named.items()}

    @cached_property
    def members(self) -> dict[int, Any] | None:
        """Number to member of a closed enum: a look-up refuses what is not one of them. None if open."""
        return None if self.open else {int(each): each for each in self.values.values()}

    @cached_property
    def values(self) -> dict[int, Any]:
        """Number to value, for what was read."""
        known = _Known(self.type)
        return known if self.open else dict(known)


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


class Ref(_OfElement):
    """`ref<T>`: an object of a graph, itself of tier archive; in archive types only."""

    __slots__ = ()


class Field:
    """`name` as in the schema, `attribute` as in Python.

    `number` is there in archive structs. `default` makes what the schema says the field has where it is not
    given, a new value each time; None: the schema says nothing.
    """

    __slots__ = ("attribute", "default", "name", "number", "shape")

    def __init__(
        self,
        name: str,
        shape: "Shape",
        attribute: str = "",
        *,
        number: int = 0,
        default: Callable[[], Any] | None = None,
    ) -> None:
        self.name = name
        self.shape = shape
        self.attribute = attribute or name
        self.number = number
        self.default = default


class Alternative:
    """Of a union: its number on the wire, and the class that holds its `value`."""

    __slots__ = ("name", "number", "shape", "type")

    def __init__(
        self,
        number: int,
        name: str,
        type: Callable[[Any], Any],  # noqa: A002 - as in Enum
        shape: "Shape",
    ) -> None:
        self.number = number
        self.name = name
        self.type = type
        self.shape = shape


class _Composite:
    """What structs and unions have in common: a name, which paths begin with, and what they are made of."""

    name: str
    archive: bool = False
    """Of tier archive: numbered fields as in proto2."""

    @property
    def has_no_end(self) -> bool:
        """Whether a value's bytes do not say where they end: in other values, their length stands before."""
        return self.archive

    functions: "Functions | None" = None
    """The fast functions; mf.codec.fast makes them."""

    @property
    def shapes(self) -> "list[Shape]":
        """Of its fields or alternatives."""
        raise NotImplementedError

    @cached_property
    def inner(self) -> "tuple[Struct | Union | Custom, ...]":
        """The structs and unions that its values hold or refer to."""
        return tuple(_composites(self.shapes))

    @cached_property
    def has_rules(self) -> bool:
        """Whether it carries constraints itself."""
        return any(_has_rules(each) for each in self.shapes)

    @cached_property
    def tables(self) -> "dict[str, Struct | Union]":
        """Of the graph that a value is the root of, by the names of their fields (docs/proto.md): its own
        type first, the others by full name. Empty if values refer to nothing.
        """
        return _tables(self) if self.archive else {}  # type: ignore[arg-type] # a Struct or a Union

    @cached_property
    def smallest(self) -> int:
        """Bytes on the wire, at least."""
        raise NotImplementedError

    def memory_of(self, count: int, size: int) -> float:
        """Bytes of memory that `count` values in `size` bytes take, at most."""
        return count * (8 + self.own_memory) + size * self._contents

    @cached_property
    def own_memory(self) -> int:
        """Bytes that this runtime allocates for one smallest value."""
        raise NotImplementedError

    @cached_property
    def _contents(self) -> float:
        """Bytes of memory per byte on the wire, at most, for what lies in containers of a value."""
        return _amplification(self)  # type: ignore[arg-type] # a Struct or a Union

    def affordable(self, limit: int) -> int:
        """So many bytes that are one value surely take no more memory than `limit`."""
        return int((limit - 8 - self.own_memory) / self._contents)


class Struct(_Composite):
    """`make` builds a value from its fields in order, `parts` takes one apart (None: by their attributes).

    The tier is febird if it is neither `memcpy` nor `archive`. `implicit`: the parameters or results of a
    method.
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        list_fields: Callable[[], tuple[Field, ...]],
        *,
        memcpy: bool = False,
        archive: bool = False,
        implicit: bool = False,
        parts: Callable[[Any], Sequence[Any]] | None = None,
    ) -> None:
        self.name = name
        self.make = make
        self.memcpy = memcpy
        self.archive = archive
        self.list_fields = list_fields
        self.implicit = implicit
        self.parts = parts

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return self.list_fields()

    @property
    def shapes(self) -> "list[Shape]":
        return [each.shape for each in self.fields]

    @cached_property
    def layout(self) -> tuple[int, int]:
        end, strictest = 0, 1
        for each in self.fields:
            size, align = layout(each.shape)
            end += -end % align + size
            strictest = max(strictest, align)
        return end + -end % strictest, strictest

    @cached_property
    def smallest(self) -> int:
        if self.archive:
            return 1  # the length in front of it
        return self.layout[0] if self.memcpy else sum(smallest(each) for each in self.shapes)

    @cached_property
    def own_memory(self) -> int:
        own = 48 + sum(8 + memory(each) for each in self.shapes)
        return (
            own + (256 if self.tables else 64) + sum(_memory_made(each) for each in self.fields)
            if self.archive
            else own
        )


class Union(_Composite):
    """One of several alternatives; on the wire its number, then its value."""

    implicit = False
    memcpy = False

    def __init__(
        self, name: str, list_alternatives: Callable[[], tuple[Alternative, ...]], *, archive: bool = False
    ) -> None:
        self.name = name
        self.list_alternatives = list_alternatives
        self.archive = archive

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        return self.list_alternatives()

    @property
    def shapes(self) -> "list[Shape]":
        return [each.shape for each in self.alternatives]

    @cached_property
    def smallest(self) -> int:
        if self.archive:
            return 1
        return min(
            (_varint_size(each.number) + smallest(each.shape) for each in self.alternatives), default=1
        )

    @cached_property
    def own_memory(self) -> int:
        return 48 + max((memory(each) for each in self.shapes), default=0)


class Custom(_Composite):
    """A struct of tier custom: `codec` of Python's module `module` writes and reads it (mf.codec.custom)."""

    implicit = False
    memcpy = False
    has_no_end = True

    def __init__(self, name: str, module: str, codec: str) -> None:
        self.name = name
        self.module = module
        self.codec = codec

    @property
    def shapes(self) -> "list[Shape]":
        return []

    @cached_property
    def smallest(self) -> int:
        return 1

    @cached_property
    def own_memory(self) -> int:
        return 256


Composite = Struct | Union | Custom
Shape = Scalar | Enum | List | Array | Set | Map | Optional | Checked | Ref | Struct | Union | Custom

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
FIRST_ENTRY: Final = 168
_SIZES: Final = {"b": 1, "h": 2, "i": 4, "q": 8, "f": 4, "d": 8}
_FIXED: Final = {
    "bool": 1,
    "i8": 1,
    "u8": 1,
    "f32": 4,
    "f64": 8,
    "timestamp": 8,
    "uuid": 16,
}  # in febird; others: at least 1


def _composites(shapes: "Iterable[Shape]") -> "Iterator[Struct | Union | Custom]":
    for shape in shapes:
        match shape:
            case Struct() | Union() | Custom():
                yield shape
            case Checked():
                yield from _composites((shape.shape,))
            case List() | Set() | Array() | Optional() | Ref():
                yield from _composites((shape.element,))
            case Map():
                yield from _composites((shape.key, shape.value))


def _tables(root: "Struct | Union") -> "dict[str, Struct | Union]":
    """What archive values hold and refer to; in a value of another tier begin graphs of their own."""
    referred: set[Struct | Union] = set()
    seen: set[Composite] = set()
    waiting: list[Composite] = [root]
    while waiting:
        at = waiting.pop()
        if at.archive and at not in seen:
            seen.add(at)
            waiting += at.inner
            for shape in at.shapes:
                referred.update(_referred(shape))
    if not referred:
        return {}
    named: dict[str, Struct | Union] = {}
    for each in (root, *sorted(referred - {root}, key=lambda each: each.name)):
        name = _snake(each.name.rpartition(".")[2])
        while name in named:
            name += "_"
        named[name] = each
    return named


def _referred(shape: "Shape") -> "Iterator[Struct | Union]":
    match shape:
        case Ref(element=Struct() | Union() as element):
            yield element
        case Checked():
            yield from _referred(shape.shape)
        case List() | Set() | Array() | Optional():
            yield from _referred(shape.element)
        case Map():
            yield from _referred(shape.value)


def _snake(name: str) -> str:
    import re

    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


def _memory_made(field: "Field") -> int:
    """Bytes that its default takes in each value that lacks it."""
    return 0 if field.default is None else _memory_of(field.default())


def _memory_of(value: Any) -> int:
    match value:
        case list():
            return 56 + sum(8 + _memory_of(each) for each in value)
        case set():
            return 232 + 100 * len(value)
        case dict():
            return 232 + sum(100 + _memory_of(each) for each in value.values())
        case _:
            slots = getattr(type(value), "__match_args__", ())
            return 48 + sum(8 + _memory_of(getattr(value, each)) for each in slots) if slots else 0


def _has_rules(shape: Shape) -> bool:
    match shape:
        case Checked():
            return True
        case List() | Set() | Array() | Optional():
            return _has_rules(shape.element)
        case Map():
            return _has_rules(shape.key) or _has_rules(shape.value)
        case _:
            return False


def has_layout(shape: Shape) -> bool:
    """Whether a memcpy struct can hold it."""
    match shape:
        case Scalar(name="string" | "bytes"):
            return False
        case Scalar() | Enum():
            return True
        case Checked():
            return has_layout(shape.shape)
        case Array():
            return has_layout(shape.element)
        case Struct():
            return shape.memcpy
        case _:
            return False


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
            return shape.layout
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
            return _smallest_array(shape.element, shape.length)
        case Struct() | Union() | Custom():
            return shape.smallest
        case _:
            return 1


def _varint_size(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


def _smallest_array(element: Shape, length: int) -> int:
    if not length:
        return 0
    return codes_size(length) + length if row_of(element) else length * smallest(element)


def row_of(element: Shape) -> str | None:
    """The integer type of a row (docs/protocol.md, section 8, "Rows"); None if these lie in no row."""
    match element:
        case Checked():
            return row_of(element.shape)
        case Enum():
            return row_of(element.base)
        case Scalar(name="duration"):
            return "i64"
        case Scalar(name="u16" | "u32" | "u64" | "i16" | "i32" | "i64"):
            return element.name
        case _:
            return None


def codes_size(count: int) -> int:
    """Bytes that the codes of so many values take, all blocks counted."""
    return -(-count // 1024)  # blocks of 256, four codes a byte


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
        case Optional() | Ref():
            return 0
        case Struct() | Union() | Custom():
            return shape.own_memory
        case Set():
            return 232
        case Map():
            return 64  # its first entry takes FIRST_ENTRY more
        case List():
            return 56


def _amplification(root: Shape) -> float:
    """The worst of all containers in it: the memory of an entry over the bytes of its smallest encoding.

    Every byte belongs to one entry, and what an entry holds by value is counted with it. A type met before
    adds nothing.
    """
    worst = 1.0
    seen: set[Shape] = set()
    waiting: list[tuple[Shape, bool]] = [(root, False)]
    while waiting:
        shape, archive = waiting.pop()
        match shape:
            case Checked():
                waiting.append((shape.shape, archive))
            case Struct() | Union() | Custom():
                if shape in seen or (isinstance(shape, Struct) and shape.memcpy):
                    continue
                seen.add(shape)
                if isinstance(shape, Custom):
                    worst = max(worst, (8 + shape.own_memory) / shape.smallest)
                waiting += [(each, shape.archive) for each in shape.shapes]
            case Map():
                size = 2 if archive else smallest(shape.key) + smallest(shape.value)
                taken = FIRST_ENTRY + 100 + memory(shape.key) + memory(shape.value)
                worst = max(worst, _entry(taken, size))
                waiting += [(shape.key, archive), (shape.value, archive)]
            case List() | Set():
                size = smallest(shape.element) or (2 if archive else 0)
                entry = 8 if isinstance(shape, List) else 100
                worst = max(worst, _entry(entry + memory(shape.element), size))
                waiting.append((shape.element, archive))
            case Optional() | Ref():
                worst = max(worst, (8 + memory(shape.element)) / (1 + smallest(shape.element)))
                waiting.append((shape.element, archive))
            case Array():
                waiting.append((shape.element, archive))
    return worst


def _entry(taken: int, size: int) -> float:
    return taken / size if size else taken * MAX_EMPTY_ITEMS


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
