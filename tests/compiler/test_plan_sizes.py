"""mfidl/plan/sizes.py: the table that both runtimes are held to, and the bytes that a codec writes."""

import json
from typing import Any

import pytest

from mfidl import model
from mfidl.compiler import check
from mfidl.dynamic import Schema, encode
from mfidl.dynamic.edges import edges
from mfidl.plan.sizes import Sizes, varint_size
from tests.vectors.wide.make import SCHEMAS, WIDE, sizes_text


def program(file: str) -> model.Program:
    found = check([file]).program
    assert found is not None
    return found


def test_the_table_of_both_runtimes_is_that_of_the_plan() -> None:
    assert (WIDE / "sizes.json").read_text() == sizes_text()


def test_no_vector_is_smaller_than_its_type_says() -> None:
    planned = program(str(SCHEMAS / "wide.mfidl"))
    sizes = Sizes(planned.declarations)
    for vector in json.loads((WIDE / "febird.json").read_text()):
        declared = planned.declarations[vector["type"]]
        assert isinstance(declared, model.Struct | model.Union)
        assert sizes.smallest_of(declared) <= len(bytes.fromhex(vector["hex"])), vector["name"]


def smallest_value(schema: Schema, type_: model.Type, sizes: Sizes) -> Any:
    match type_:
        case model.Named(_, model.DeclKind.STRUCT):
            fields = schema.struct(type_).fields
            return {each.name: smallest_value(schema, each.type, sizes) for each in fields}
        case model.Named(_, model.DeclKind.UNION):
            alternatives = schema.union(type_).alternatives
            by_size = {
                varint_size(each.number or 0) + sizes.smallest(each.type): each for each in alternatives
            }
            best = by_size[min(by_size)]
            return {best.name: smallest_value(schema, best.type, sizes)}
        case model.ArrayOf(element, length):
            return [smallest_value(schema, element, sizes) for _ in range(length)]
        case model.OptionalOf():
            return None
        case model.ListOf() | model.SetOf():
            return []
        case model.MapOf():
            return {}
        case _:
            return edges(schema, type_)[0]


@pytest.mark.parametrize(
    "name",
    ["Nothing", "Nothings", "Padded", "Uuids", "Inner", "Rows", "Wholes", "Far", "Near", "Only", "Loop"],
)
def test_the_smallest_value_takes_what_its_type_says(name: str) -> None:
    planned = program(str(WIDE / "sizes.mfidl"))
    schema, sizes = Schema(planned), Sizes(planned.declarations)
    declared = planned.declarations[f"vectors.sizes.{name}"]
    assert isinstance(declared, model.Struct | model.Union)
    value = smallest_value(schema, declared.reference, sizes)
    assert len(encode(schema, f"vectors.sizes.{name}", value)) == sizes.smallest_of(declared)


def test_a_long_chain_of_types_is_measured(tmp_path: Any) -> None:
    """Of 500 unions, each of which holds the next, the last one decides."""
    chain = "".join(f"union U{i} {{ 1: a: U{i + 1}; 2: b: array<u8, 9000>; }}\n" for i in range(500))
    (tmp_path / "a.mfidl").write_text(f"module a;\n{chain}union U500 {{ 7: last: f32; }}\n")
    planned = program(str(tmp_path / "a.mfidl"))
    assert (
        Sizes(planned.declarations).smallest_of(planned.union(model.Named("a.U0", model.DeclKind.UNION)))
        == 505
    )
