"""Tier custom in tests/vectors/wide: alone, and at every place of every other tier. By hand, by protobuf and
by mfidl/dynamic, which both take a custom value for bytes; neither runtime wrote any. The C++ tests read the
same files with a codec that makes the same bytes (tests/vectors/schemas/custom_codec.*); corruptions of them
all are in tests/fuzz.
"""

from typing import Any

import pytest

import mf
from mfidl import dynamic
from mfidl.compiler import check
from tests.python.codec.generated import SCHEMAS, codec_of
from tests.python.codec.test_wide_vectors import load
from tests.vectors.schemas.custom_codec import Runs, Spot

FILES = ("custom", "custom_hand")


def shape_of(vector: dict[str, Any]) -> Any:
    return codec_of(vector["schema"], vector["type"]).shape


def written(vector: dict[str, Any]) -> str:
    """What a value is written as, if not as the bytes that it was read from."""
    return vector.get("written", vector["hex"]).replace(" ", "")  # type: ignore[no-any-return]


@pytest.mark.parametrize("file", FILES)
def test_values_have_the_bytes_that_others_gave_them(file: str) -> None:
    wrong = []
    for vector in load(file):
        shape = shape_of(vector)
        made = mf.to_bytes(mf.from_json(shape, vector["json"]), shape).hex()
        if made != written(vector):
            wrong.append((vector["name"], written(vector), made))

    assert wrong == []


@pytest.mark.parametrize("file", FILES)
def test_bytes_have_the_values_that_others_took_them_from(file: str) -> None:
    wrong = []
    for vector in load(file):
        shape = shape_of(vector)
        value = mf.from_bytes(shape, bytes.fromhex(vector["hex"]))
        made = mf.to_json(value, shape), mf.to_bytes(value, shape).hex()
        if made != (vector["json"], written(vector)):
            wrong.append((vector["name"], vector["json"], *made))

    assert wrong == []


@pytest.mark.parametrize(
    "vector", load("custom_hostile"), ids=lambda vector: f"{vector['type']}: {vector['name']}"
)
def test_hostile_bytes_are_refused_with_fault_offset_and_path(vector: dict[str, Any]) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_bytes(shape_of(vector), bytes.fromhex(vector["hex"]))

    refused = caught.value
    assert (refused.fault.name.lower(), refused.offset, refused.path) == (
        vector["fault"],
        vector["offset"],
        vector["path"],
    )


@pytest.mark.parametrize(
    ("type_", "data", "value"),
    [("Runs", "0361 017a", Runs("aaaz")), ("Spot", "0102", Spot(1, 2))],
)
def test_values_are_those_of_the_codec(type_: str, data: str, value: object) -> None:
    """JSON has a codec's bytes, so that only this checks what the codec made of them."""
    shape = codec_of("custom.mfidl", f"vectors.custom.{type_}").shape
    assert mf.from_bytes(shape, bytes.fromhex(data)) == value
    assert mf.to_bytes(value, shape).hex() == data.replace(" ", "")


def test_the_dynamic_codec_agrees_where_bytes_are_all_there_is() -> None:
    """It calls no codec: what a codec refuses are bytes to it, and what a codec writes anew stays as it
    was."""
    program = check([str(SCHEMAS / "custom.mfidl")]).program
    assert program is not None
    schema = dynamic.Schema(program)
    wrong = []
    for vector in [*load("custom"), *load("custom_hand")]:
        if "written" not in vector:
            type_, data = vector["type"], bytes.fromhex(vector["hex"])
            text = dynamic.to_json(schema, type_, dynamic.decode(schema, type_, data))
            if (dynamic.encode(schema, type_, dynamic.from_json(schema, type_, text)), text) != (
                data,
                vector["json"],
            ):
                wrong.append(vector["name"])

    assert wrong == []
