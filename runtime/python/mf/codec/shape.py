"""R1. What a type looks like, as data: all that its codec needs.

Generated modules hold one `Struct` or `Union` for each of the schema, and the codec is made of it
(mf.codec.coding). Fields come from a function, so that recursive types need no order, and nothing is built
that a program does not use. Plain classes: every import of generated code pays for this. What other modules
work out of a shape (mf.codec.sizes, mf.codec.contents) it keeps for them: `kept`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mf.core.plain_struct import by_place

if TYPE_CHECKING:
    from mf.codec.rules import Rule

C = TypeVar("C", bound="_Composite")
R = TypeVar("R")


class Scalar:
    """A built-in type by its word in the language. `coding`, of an integer in an archive, says how it is
    written if not as its type does: `varint`, in two's complement, or `fixed`, in all its bytes.
    """

    __slots__ = ("coding", "name")

    def __init__(self, name: str, coding: str = "") -> None:
        self.name = name
        self.coding = coding

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
    def numbers(self) -> dict[int, bool]:
        """Those of the members, each True, for what is written: a look-up refuses all others."""
        return dict.fromkeys(self.members or (), True)

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
        """Whether a value's bytes do not say where they end: in other values, their length comes before."""
        return self.archive

    coding: Any = None
    """What reads and writes its values; mf.codec.coding makes it."""
    plan: Any = None
    """What reads and writes them at native speed; mf.codec.native makes it. False: the pure codec does."""

    @property
    @abstractmethod
    def shapes(self) -> "list[Shape]":
        """Of its fields or alternatives."""

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What `kept` functions have found of it."""
        return {}

    @cached_property
    def inner(self) -> "tuple[Struct | Union | Custom, ...]":
        """The structs and unions that its values hold or refer to."""
        return tuple(_composites(self.shapes))

    @cached_property
    def tables(self) -> "dict[str, Struct | Union]":
        """Of the graph that a value is the root of, by the names of their fields (docs/proto.md): its own
        type first, the others by full name. Empty if values refer to nothing.
        """
        return _tables(self) if self.archive else {}  # type: ignore[arg-type] # a Struct or a Union


def kept(work: Callable[[C], R]) -> Callable[[C], R]:
    """Works it out once for each struct or union, which keeps it: shapes of a peer's types may go away."""
    name = f"{work.__module__}.{work.__qualname__}"

    @wraps(work)
    def found(shape: C) -> R:
        facts = shape.facts
        if name not in facts:
            facts[name] = work(shape)
        made: R = facts[name]
        return made

    return found


class Struct(_Composite):
    """`make` builds a value from its fields in order, `parts` takes one apart (None: by their attributes).
    `type` is the class of the values; object, if `make` is a function.

    The tier is febird if it is neither `memcpy` nor `archive`. `implicit`: the parameters or results of a
    method. `annex`: the lines of the annex (docs/protocol.md, section 7a) about the fields, for readers of
    another schema.
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
        annex: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.annex = annex
        self.type: type = make if isinstance(make, type) else object
        self.make = by_place(make)
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


class Union(_Composite):
    """One of several alternatives; on the wire its number, then its value."""

    implicit = False
    memcpy = False

    def __init__(
        self,
        name: str,
        list_alternatives: Callable[[], tuple[Alternative, ...]],
        *,
        archive: bool = False,
        annex: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.annex = annex
        self.list_alternatives = list_alternatives
        self.archive = archive

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        return self.list_alternatives()

    @property
    def shapes(self) -> "list[Shape]":
        return [each.shape for each in self.alternatives]


CUSTOMS: "Final[list[Custom]]" = []
"""The codecs of users of all imported schemas. The classes of their values belong to the users, and do not
name a codec."""


class Custom(_Composite):
    """A struct of tier custom: `codec` of Python's module `module` writes and reads it (mf.codec.custom)."""

    implicit = False
    memcpy = False
    has_no_end = True

    def __init__(self, name: str, module: str, codec: str) -> None:
        self.name = name
        self.module = module
        self.codec = codec
        CUSTOMS.append(self)

    @property
    def shapes(self) -> "list[Shape]":
        return []


Composite = Struct | Union | Custom
Declared = Struct | Union | Custom | Enum
Shape = Scalar | Enum | List | Array | Set | Map | Optional | Checked | Ref | Struct | Union | Custom


def inside(shape: Shape) -> tuple[Shape, ...]:
    """The shapes that it is spelled with: elements, keys and values. Of a declared type none."""
    match shape:
        case Checked():
            return (shape.shape,)
        case List() | Set() | Array() | Optional() | Ref():
            return (shape.element,)
        case Map():
            return shape.key, shape.value
        case _:
            return ()


def _composites(shapes: Iterable[Shape]) -> Iterator[Composite]:
    for shape in shapes:
        if isinstance(shape, Struct | Union | Custom):
            yield shape
        else:
            yield from _composites(inside(shape))


def _tables(root: Struct | Union) -> dict[str, Struct | Union]:
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
        name = snake(each.name.rpartition(".")[2])
        while name in named:
            name += "_"
        named[name] = each
    return named


def _referred(shape: Shape) -> Iterator[Struct | Union]:
    if isinstance(shape, Ref) and isinstance(shape.element, Struct | Union):
        yield shape.element
    for each in inside(shape):
        yield from _referred(each)


def snake(name: str) -> str:
    """NoSuchCollection -> no_such_collection, HTTPServer -> http_server."""
    import re

    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


BOOL: Final = Scalar("bool")
I8: Final = Scalar("i8")
I16: Final = Scalar("i16")
I32: Final = Scalar("i32")
I64: Final = Scalar("i64")
U8: Final = Scalar("u8")
U16: Final = Scalar("u16")
U32: Final = Scalar("u32")
U64: Final = Scalar("u64")
I32_VARINT: Final = Scalar("i32", "varint")
I64_VARINT: Final = Scalar("i64", "varint")
I32_FIXED: Final = Scalar("i32", "fixed")
I64_FIXED: Final = Scalar("i64", "fixed")
U32_FIXED: Final = Scalar("u32", "fixed")
U64_FIXED: Final = Scalar("u64", "fixed")
F32: Final = Scalar("f32")
F64: Final = Scalar("f64")
STRING: Final = Scalar("string")
BYTES: Final = Scalar("bytes")
TIMESTAMP: Final = Scalar("timestamp")
DURATION: Final = Scalar("duration")
UUID: Final = Scalar("uuid")


# What replaces the implicit structs of methods: a tuple of parameters, the only result itself, or nothing.


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
