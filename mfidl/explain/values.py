"""Example values: `explain` encodes them to count bytes. Immutable, and shared where they repeat."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value of a type with its own codec, whose size is unknown."""

    type: str


Example = Any
"""A value of the model (`model.Value`), as defaults are; also a `Repeated`, a `Foreign`, or None for an
absent optional and for a reference. So are the parts of it.
"""


class UnmeasuredError(Exception):
    """The bytes cannot be counted; the text is a clause with the reason."""
