"""tests/vectors/wide/sizes.json: layouts, fewest bytes and rows, as the compiler and C++ reckon them, too."""

import json
from collections.abc import Iterator
from pathlib import Path

from mf.adapt.made import Made
from mf.codec import sizes
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.evolution.types import Named, RefTo, Type, parse, parts, spell_in_full
from mfidl import model
from tests.vectors.wide.sizes import line

SCALARS = [each.value for each in model.Scalar]
TABLE = json.loads((Path(__file__).parents[2] / "vectors/wide/sizes.json").read_text())


def mentioned(schema: Schema) -> Iterator[Type]:
    """And all scalars."""
    yield from (parse(name) for name in SCALARS)
    for declared in schema.types.values():
        yield Named(declared.name)
        pending = [field.type for field in declared.fields]
        while pending:
            type_ = pending.pop()
            yield type_
            if not isinstance(type_, Named | RefTo):
                pending += parts(type_)


def reckoned(descriptor: str) -> list[str]:
    schema = read(descriptor)
    made = Made(schema)
    lines = set()
    for type_ in mentioned(schema):
        shape = made.shape(type_)
        layout = sizes.layout(shape) if sizes.has_layout(shape) else None
        row = sizes.row_of(shape) is not None
        lines.add(line(spell_in_full(type_), layout, sizes.smallest(shape), row=row))
    return sorted(lines)


def test_sizes_are_those_of_the_compiler() -> None:
    assert len(TABLE) > 100
    for entry in TABLE:
        assert reckoned(entry["descriptor"]) == entry["sizes"].split("\n"), entry["descriptor"]
