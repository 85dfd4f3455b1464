"""tests/vectors/wide, read by mfidl/dynamic: what numpy and protobuf wrote, and what must be refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from mfidl.compiler import check
from mfidl.dynamic import DecodeError, Schema, annotate, decode, encode, from_json, to_json

VECTORS = Path(__file__).parents[1] / "vectors"
WIDE = VECTORS / "wide"


def load(file: str) -> list[dict[str, Any]]:
    return json.loads((WIDE / f"{file}.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def schema() -> Schema:
    program = check([str(VECTORS / "schemas/wide.mfidl")]).program
    assert program is not None
    return Schema(program)


@pytest.mark.parametrize("file", ["memcpy", "archive", "graphs", "febird"])
def test_the_dynamic_codec_agrees_with_the_vectors(schema: Schema, file: str) -> None:
    wrong = []
    for vector in load(file):
        type_, data = vector["type"], bytes.fromhex(vector["hex"])
        written = encode(schema, type_, from_json(schema, type_, vector["json"]))
        read = to_json(schema, type_, decode(schema, type_, data))
        if (written, read) != (data, vector["json"]):
            wrong.append((vector["name"], vector["hex"], written.hex(), vector["json"], read))

    assert wrong == []


@pytest.mark.parametrize("vector", load("hostile"), ids=lambda each: f"{each['type']}: {each['name']}")
def test_the_dynamic_codec_refuses_hostile_bytes(schema: Schema, vector: dict[str, Any]) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(schema, vector["type"], bytes.fromhex(vector["hex"]))

    refused = caught.value
    assert (refused.fault.name.lower(), refused.offset, str(refused.path)) == (
        vector["fault"],
        vector["offset"],
        vector["path"],
    )


def test_of_hostile_bytes_all_before_the_fault_are_labelled(schema: Schema) -> None:
    wrong = []
    for vector in load("hostile"):
        found = annotate(schema, vector["type"], bytes.fromhex(vector["hex"])).annotations
        if b"".join(each.data for each in found) != bytes.fromhex(vector["hex"])[: vector["offset"]]:
            wrong.append(vector["name"])

    assert wrong == []


def test_there_are_enough_of_them_and_most_are_not_of_our_making() -> None:
    vectors = [each for file in ("memcpy", "archive", "graphs", "febird") for each in load(file)]
    others = [each for path in (VECTORS / "codec").glob("*.json") for each in json.loads(path.read_text())]

    assert len(vectors) + len(others) >= 2_000
    assert sum(each["by"] in ("numpy", "protobuf", "hand") for each in vectors + others) >= 1_000
    assert len({each["fault"] for each in load("hostile")}) >= 16
