"""The cases of tests/vectors/evolution that are of whole methods: their form, their names, several parameters,
streams and errors. See evolution_table.py.
"""

from dataclasses import dataclass

from tests.vectors.evolution_table import ADAPTS, EQUAL, REFUSED, UNKNOWN, Way


@dataclass(frozen=True)
class Shape:
    """`there`: the consumer has the old schema, the provider the new one; None: it has no such method. Whys begin with the method's name."""

    name: str
    old: str
    new: str
    there: Way | None
    back: Way | None
    before: str = ""
    after: str = ""


# fmt: off
SHAPES: list[Shape] = [
    Shape("removed", "removed(x: u32) -> u32", "", Way(UNKNOWN, "removed: method only here"), None),
    Shape("added", "", "added(x: u32) -> u32", None, Way(UNKNOWN, "added: method only here")),
    Shape("kept", "kept(x: u32) -> u32", "kept(x: u32) -> u32", Way(EQUAL), Way(EQUAL)),
    Shape("one_way", "one_way(x: u32)", "@oneway one_way(x: u32)",
          Way(REFUSED, "one_way: one-way there, not here"), Way(REFUSED, "one_way: one-way here, not there")),
    Shape("renamed_method", "former(x: u32) -> u32", "@was(\"former\") renamed_method(x: u32) -> u32", None, Way(ADAPTS)),
    Shape("former", "", "", Way(ADAPTS), None),
]
