"""F3. Type expressions: small immutable trees, compared by structure (constraints do not count)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from mfidl.model.constraint import Constraint


class Scalar(Enum):
    """The built-in types; the value is the word of the language."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F32 = "f32"
    F64 = "f64"
    STRING = "string"
    BYTES = "bytes"
    TIMESTAMP = "timestamp"  # i64 nanoseconds since 1970, on the wire and in memory
    DURATION = "duration"  # i64 nanoseconds
    UUID = "uuid"  # 16 bytes, alignment 1

    @property
    def is_integer(self) -> bool:
        return self.value[0] in "iu" and self is not Scalar.UUID

    @property
    def is_signed(self) -> bool:
        return self.value[0] == "i"

    @property
    def is_float(self) -> bool:
        return self.value[0] == "f"

    @property
    def bits(self) -> int:
        """Width of an integer or float."""
        return int(self.value[1:])

    @property
    def held(self) -> "Scalar":
        """What a value is: nanoseconds in an I64, of a timestamp or duration; itself for the others."""
        return Scalar.I64 if self in (Scalar.TIMESTAMP, Scalar.DURATION) else self

    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of an integer type."""
        if self.is_signed:
            return -(1 << self.bits - 1), (1 << self.bits - 1) - 1
        return 0, (1 << self.bits) - 1


class Coding(Enum):
    """How an integer of 32 or 64 bits is written in an archive, where it is not as its type: `i64.varint`."""

    VARINT = "varint"  # of signed ones, in two's complement: protobuf's int32 and int64
    FIXED = "fixed"  # in all its bytes: protobuf's fixed32, sfixed64 and so on


class DeclKind(Enum):
    """The kind of declaration behind a full name."""

    STRUCT = "struct"
    ERROR = "error"
    ENUM = "enum"
    FLAGS = "flags"
    UNION = "union"


@dataclass(frozen=True, slots=True)
class Primitive:
    """`coding` is there only in fields of archives, and says nothing but how bytes lie."""

    scalar: Scalar
    coding: Coding | None = None


@dataclass(frozen=True, slots=True)
class ListOf:
    element: "Type"
    constraints: tuple[Constraint, ...] = field(default=(), compare=False)  # of each element


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Exactly `length` elements, nothing on the wire but them."""

    element: "Type"
    length: int
    constraints: tuple[Constraint, ...] = field(default=(), compare=False)  # of each element


@dataclass(frozen=True, slots=True)
class SetOf:
    """Ordered on the wire, ascending; no duplicates."""

    element: "Type"
    constraints: tuple[Constraint, ...] = field(default=(), compare=False)  # of each element


@dataclass(frozen=True, slots=True)
class MapOf:
    """Ordered on the wire by key, ascending; no duplicate keys. Keys are bool, integers, enums, string,
    bytes, uuid.
    """

    key: "Type"
    value: "Type"
    key_constraints: tuple[Constraint, ...] = field(default=(), compare=False)
    value_constraints: tuple[Constraint, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class OptionalOf:
    """`T?`: absent is not zero. Never directly around another OptionalOf."""

    element: "Type"


@dataclass(frozen=True, slots=True)
class Named:
    """A declared struct, union, error, enum or flags, by its full name: 'sf1.search.Hit'. `kind` saves the
    look-up for dispatch.
    """

    full_name: str
    kind: DeclKind

    @property
    def name(self) -> str:
        return self.full_name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class RefOf:
    """`ref<T>`, of a struct or union of tier archive: a shared object of a graph; its identity is kept."""

    element: Named


@dataclass(frozen=True, slots=True)
class AliasOf:
    """An alias where it was used. It is only in `spelled` types (for the names in generated code), never in
    `type`.
    """

    full_name: str
    target: "Type"


Type = Primitive | ListOf | ArrayOf | SetOf | MapOf | OptionalOf | RefOf | Named | AliasOf


def expand(type_: Type) -> Type:
    """The same type with every alias replaced by its meaning."""
    match type_:
        case AliasOf():
            return expand(type_.target)
        case ListOf():
            return ListOf(expand(type_.element), type_.constraints)
        case ArrayOf():
            return ArrayOf(expand(type_.element), type_.length, type_.constraints)
        case SetOf():
            return SetOf(expand(type_.element), type_.constraints)
        case MapOf():
            return MapOf(
                expand(type_.key), expand(type_.value), type_.key_constraints, type_.value_constraints
            )
        case OptionalOf():
            return OptionalOf(expand(type_.element))
        case Primitive() | Named() | RefOf():
            return type_


def spell(type_: Type) -> str:
    """The type expression as descriptors and messages write it: full names, no constraints."""
    match type_:
        case Primitive(scalar, coding):
            return scalar.value if coding is None else f"{scalar.value}.{coding.value}"
        case Named() | AliasOf():
            return type_.full_name
        case ListOf():
            return f"list<{spell(type_.element)}>"
        case ArrayOf():
            return f"array<{spell(type_.element)},{type_.length}>"
        case SetOf():
            return f"set<{spell(type_.element)}>"
        case MapOf():
            return f"map<{spell(type_.key)},{spell(type_.value)}>"
        case OptionalOf():
            return f"{spell(type_.element)}?"
        case RefOf():
            return f"ref<{spell(type_.element)}>"


def names_in(types: Iterable[Type]) -> Iterator[str]:
    """Full names of the declared types in type expressions (of aliases, what they stand for), from left to
    right. A name may come more than once.
    """
    stack = list(types)[::-1]
    while stack:
        match stack.pop():
            case Named(full_name, _):
                yield full_name
            case MapOf(key, value):
                stack += [value, key]
            case AliasOf(_, target):
                stack.append(target)
            case ListOf(element) | SetOf(element) | ArrayOf(element) | OptionalOf(element) | RefOf(element):
                stack.append(element)
            case Primitive():
                pass
