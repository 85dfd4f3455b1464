"""Example values: `explain` encodes them to count bytes. Immutable, and shared where they repeat."""

from dataclasses import dataclass

from mfidl.model import EnumValue, FlagsValue


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """`count` times the same element: of a list or an array."""

    element: "Example"
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Different elements: of a set, or of a default."""

    elements: tuple["Example", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Of a map."""

    entries: tuple[tuple["Example", "Example"], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """Of a struct: every field, in order."""

    fields: tuple[tuple[str, "Example"], ...]

    def value(self, name: str) -> "Example":
        return next(value for each, value in self.fields if each == name)


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """Of a union."""

    name: str
    number: int
    value: "Example"


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value of a type with its own codec, whose size is unknown."""

    type: str


# None: an absent optional, or a null reference.
Example = (
    bool
    | int
    | float
    | str
    | bytes
    | EnumValue
    | FlagsValue
    | Repeated
    | Items
    | Entries
    | Fields
    | Alternative
    | Foreign
    | None
)


class UnmeasuredError(Exception):
    """The bytes cannot be counted; the text is a clause with the reason."""
