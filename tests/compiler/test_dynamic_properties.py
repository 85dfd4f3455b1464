"""mfidl/dynamic on values that Hypothesis makes, of every type of a schema: what goes out comes back, as bytes
and as JSON; every byte has a label; and whatever is done to the bytes ends as a value or as a clean error.
"""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfidl import model
from mfidl.dynamic import DecodeError, Schema, annotate, decode, encode, from_json, to_json
from tests.compiler.dynamic_values import SCHEMA, Values
from tests.compiler.schema import dynamic_schema

TYPES = [
    "Point", "Empty", "Mixed", "Hit", "Numbers", "Rows", "Holder", "Tree", "Value", "Boxes", "Note", "Choice",
    "Plain", "Rich", "Config", "Link", "Gone", "Index.query.params", "Index.query.results", "Index.put.results",
    "Index.nothing.params", "list<Hit>", "map<Rank, set<i64>>", "array<array<u16, 3>, 2>", "list<Config?>",
    "u64", "f32", "All", "Lang", "string?", "uuid", "map<i32, i64>", "map<Sign, All>", "map<u32, map<i64, Wide>>",
]  # fmt: skip
GRAPHS = ("Config", "Link", "list<Config?>", "Boxes")  # whose objects a writer numbers anew
thorough = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def schema() -> Schema:
    return dynamic_schema(SCHEMA)


@cache
def values(type_: str) -> st.SearchStrategy[Any]:
    from mfidl.dynamic.names import find

    return Values(schema()).of(find(schema(), type_).type)


@pytest.mark.parametrize("type_", TYPES)
@thorough
@given(data=st.data())
def test_a_value_comes_back_from_bytes_and_from_json(type_: str, data: st.DataObject) -> None:
    value = data.draw(values(type_))

    written = encode(schema(), type_, value)
    read = decode(schema(), type_, written)
    text = to_json(schema(), type_, value)

    if type_ not in GRAPHS:
        assert read == value
    assert encode(schema(), type_, read) == written
    assert from_json(schema(), type_, text) == read
    assert to_json(schema(), type_, read) == text
    json.loads(text)


@pytest.mark.parametrize("type_", TYPES)
@thorough
@given(data=st.data())
def test_each_byte_has_one_label(type_: str, data: st.DataObject) -> None:
    written = encode(schema(), type_, data.draw(values(type_)))

    annotated = annotate(schema(), type_, written)

    assert annotated.error is None
    assert b"".join(each.data for each in annotated.annotations) == written
    assert [each.offset for each in annotated.annotations] == [
        sum(len(before.data) for before in annotated.annotations[:i])
        for i in range(len(annotated.annotations))
    ]


def is_archive(type_: str) -> bool:
    from mfidl.dynamic.names import find

    root = find(schema(), type_).type
    return (
        isinstance(root, model.Named)
        and not schema().number(root)
        and schema().tier(root) is model.Tier.ARCHIVE
    )


@pytest.mark.parametrize("type_", TYPES)
@settings(thorough, max_examples=4)
@given(data=st.data())
def test_a_beginning_is_refused_or_the_beginning_of_a_message(type_: str, data: st.DataObject) -> None:
    written = encode(schema(), type_, data.draw(values(type_)))

    for size in range(len(written)):
        annotated = annotate(schema(), type_, written[:size])
        if annotated.error is None:
            assert is_archive(type_)
            continue
        assert 0 <= annotated.error.offset <= size
        seen = b"".join(each.data for each in annotated.annotations)
        assert written.startswith(seen)
        assert len(seen) <= annotated.error.offset


@pytest.mark.parametrize("type_", TYPES)
@thorough
@given(data=st.data())
def test_damaged_bytes_end_as_a_value_or_a_clean_error(type_: str, data: st.DataObject) -> None:
    written = bytearray(encode(schema(), type_, data.draw(values(type_))))
    for _ in range(data.draw(st.integers(1, 4))):
        if written:
            written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(written) + data.draw(st.binary(max_size=2))

    try:
        value = decode(schema(), type_, damaged)
    except DecodeError as error:
        assert 0 <= error.offset <= len(damaged)
        assert annotate(schema(), type_, damaged).error is not None
        return
    again = encode(schema(), type_, value)
    assert encode(schema(), type_, decode(schema(), type_, again)) == again
    assert annotate(schema(), type_, damaged).error is None


@pytest.mark.parametrize("type_", TYPES)
@thorough
@given(data=st.data())
def test_damaged_json_ends_as_a_value_or_a_clean_error(type_: str, data: st.DataObject) -> None:
    text = to_json(schema(), type_, data.draw(values(type_))).encode()
    at = data.draw(st.integers(0, len(text)))
    piece = data.draw(
        st.sampled_from([b"", b'"', b"{", b"}", b"[", b"]", b",", b"null", b"-1", b"1e400", b"\\", b"\xff"])
    )
    damaged = text[:at] + piece + text[at + data.draw(st.integers(0, 3)) :]

    try:
        value = from_json(schema(), type_, damaged)
    except DecodeError as error:
        assert 0 <= error.offset <= len(damaged)
        return
    assert from_json(schema(), type_, to_json(schema(), type_, value)) == decode(
        schema(), type_, encode(schema(), type_, value)
    )
