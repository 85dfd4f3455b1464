"""F3. Evaluated values of constants and defaults.

bool, int, float, str and bytes are themselves (timestamp and duration: int nanoseconds; uuid: 16 bytes). They
are already checked against the type that they stand for, and an integer written for a float has become a
float.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A member of an enum: `Rank.bm25`."""

    enum: str  # full name
    member: str
    number: int


@dataclass(frozen=True, slots=True)
class FlagsValue:
    """A set of bits: `Field.title`, or a list of members, `[Field.title, Field.url]`; `[]` is none."""

    flags: str  # full name
    members: tuple[str, ...]  # in the order of the declaration
    bits: int


@dataclass(frozen=True, slots=True)
class ListValue:
    """Elements of a list, set or array, in the order written; of a set: sorted, without duplicates."""

    elements: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class MapValue:
    """Entries of a map, in the order written, without duplicate keys."""

    entries: tuple[tuple["Value", "Value"], ...]


@dataclass(frozen=True, slots=True)
class StructValue:
    """A struct with the fields that were written, in the order of the declaration; the rest keep their
    defaults.
    """

    struct: str  # full name
    fields: tuple[tuple[str, "Value"], ...]


@dataclass(frozen=True, slots=True)
class UnionValue:
    """One alternative of a union: `{ number: 1.5 }`."""

    union: str  # full name
    alternative: str
    value: "Value"


Value = (
    bool
    | int
    | float
    | str
    | bytes
    | EnumValue
    | FlagsValue
    | ListValue
    | MapValue
    | StructValue
    | UnionValue
)


def same(one: Value | None, other: Value | None) -> bool:
    """Whether two defaults or constants are the same: nan is, though it does not equal itself; 0.0 and -0.0
    are not, though they are equal. 5 and 5.0 are, and a text and its bytes: the type says there what changed.
    A member of an enum is its number and flags are their bits, since a new name changes no value.
    """
    match one, other:
        case EnumValue(), EnumValue():
            return one.number == other.number
        case FlagsValue(), FlagsValue():
            return one.bits == other.bits
        case str(), bytes():
            return one.encode() == other
    return repr(one) == repr(other) or (one == other and type(one) is not type(other))
