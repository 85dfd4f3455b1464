"""F6. Values of any schema as plain Python objects, without generated classes.

bool                            bool
integers, enums, flags          int (an enum's number, the bits of flags)
timestamp, duration             int, nanoseconds
f32, f64                        float
string; bytes; uuid             str; bytes; bytes, 16 of them
T?                              None, or the value
list, array                     list
set                             list, ascending (sets and tuples are taken too)
map                             dict, ascending by key
struct, error, parameters       dict, names of fields to values; UNKNOWN: bytes, the fields of an archive
                                message that the schema does not know
union                           dict with one entry, the name of the alternative
custom                          bytes, whatever its codec makes
an archive type with references Graph, where the graph begins; a ref<T> is an int, the index in the table of T
"""

from dataclasses import dataclass
from typing import Any

from mfidl import model

# No field can be called so.
UNKNOWN = "?"

Value = Any


@dataclass(slots=True)
class Graph:
    """Objects by the full name of their type; the root is the first object of the first table.

    `unknown`: the fields of its message that the schema does not know, tables among them perhaps.
    """

    tables: dict[str, list[Value]]
    unknown: bytes = b""

    @property
    def root(self) -> Value:
        return next(iter(self.tables.values()))[0]


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """A list or array of `count` times the same element, as it may be written; none is read."""

    element: Value
    count: int


def opened(value: Any) -> Value:
    """Of a value of the model, which its parts still are."""
    match value:
        case model.EnumValue(number=number):
            return number
        case model.FlagsValue(bits=bits):
            return bits
        case model.ListValue(elements):
            return elements
        case model.MapValue(entries):
            return dict(entries)
        case model.StructValue(_, fields):
            return dict(fields)
        case model.UnionValue(_, name, held):
            return {name: held}
        case _:
            return value
