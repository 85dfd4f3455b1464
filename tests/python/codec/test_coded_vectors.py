"""Integers that lie in archives as existing protobuf has them: protobuf's bytes of them (tests/vectors/wide),
what mfidl/dynamic says of damaged ones, and values that do not fit. The C++ tests read the same files.
"""

import importlib
import json
from types import ModuleType
from typing import Any

import pytest

import mf
from mfidl.compiler import check
from mfidl.dynamic import Schema, decode, encode, from_json, to_json
from tests.python.codec.generated import VECTORS, codecs


def load(file: str) -> list[dict[str, Any]]:
    return json.loads((VECTORS / "wide" / f"{file}.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def coded() -> ModuleType:
    codecs("coded.mfidl")
    return importlib.import_module("vectors.coded")


def type_of(module: ModuleType, vector: dict[str, Any]) -> Any:
    return getattr(module, vector["type"].rpartition(".")[2])


def test_values_have_the_bytes_of_protobuf(coded: ModuleType) -> None:
    vectors = load("coded")
    assert {vector["by"] for vector in vectors} == {"protobuf"}
    wrong = []
    for vector in vectors:
        data = mf.to_bytes(mf.from_json(type_of(coded, vector), vector["json"]))
        back = mf.to_json(mf.from_bytes(type_of(coded, vector), bytes.fromhex(vector["hex"])))
        if (data.hex(), back) != (vector["hex"], vector["json"]):
            wrong.append((vector["name"], data.hex(), back))

    assert wrong == []


def test_the_dynamic_codec_agrees_with_the_vectors() -> None:
    program = check([str(VECTORS / "schemas/coded.mfidl")]).program
    assert program is not None
    schema = Schema(program)
    wrong = []
    for vector in load("coded"):
        data = encode(schema, vector["type"], from_json(schema, vector["type"], vector["json"]))
        back = to_json(schema, vector["type"], decode(schema, vector["type"], bytes.fromhex(vector["hex"])))
        if (data.hex(), back) != (vector["hex"], vector["json"]):
            wrong.append(vector["name"])

    assert wrong == []


def test_damaged_bytes_are_refused_with_fault_offset_and_path(coded: ModuleType) -> None:
    wrong = []
    for vector in load("coded_hostile"):
        with pytest.raises(mf.DecodeError) as caught:
            mf.from_bytes(type_of(coded, vector), bytes.fromhex(vector["hex"]))
        refused = caught.value
        found = (refused.fault.name.lower(), refused.offset, refused.path)
        if found != (vector["fault"], vector["offset"], vector["path"]):
            wrong.append((vector["name"], vector["type"], vector["hex"], found))

    assert wrong == []


def test_elements_may_have_a_tag_each_as_older_protobuf_writes_them(coded: ModuleType) -> None:
    hexed = "08feffffffffffffffff01 0805 1d00000080 1dffffff7f 280128022803 35040000003505000000"
    rows = mf.from_bytes(coded.Rows, bytes.fromhex(hexed))
    assert (rows.a, rows.c, rows.three, rows.two) == ([-2, 5], [-(1 << 31), (1 << 31) - 1], [1, 2, 3], [4, 5])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", 1 << 31),
        ("a", "x"),
        ("c", -(1 << 31) - 1),
        ("d", 1 << 63),
        ("e", -1),
        ("f", 1 << 64),
        ("f", 1.5),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_name(
    coded: ModuleType, name: str, value: object
) -> None:
    one = coded.Coded(a=1, b=2, c=3, d=4, e=5, f=6, maybe=None, maybe_fixed=None, own=7, choice=None)
    setattr(one, name, value)
    with pytest.raises(mf.Error, match=rf"Coded\.{name}"):
        mf.to_bytes(one)


def test_numbers_that_do_not_fit_a_row_are_refused_by_their_place(coded: ModuleType) -> None:
    rows = coded.Rows(d=[0, 1 << 64], three=[1, 2, 3])
    with pytest.raises(mf.Error, match=r"Rows\.d\[1\]"):
        mf.to_bytes(rows)
