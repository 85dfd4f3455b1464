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
