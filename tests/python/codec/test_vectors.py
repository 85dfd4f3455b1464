"""The codec vectors, which the C++ tests read too: both ways, by each of the two paths alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.python.codec.directly import read
from tests.python.codec.generated import VECTORS, codec_of, from_json, writable


def _vectors() -> list[Any]:
    files = sorted(Path(VECTORS / "codec").glob("*.json"))
    return [
        pytest.param(vector, id=f"{file.stem}: {vector['name']}")
        for file in files
        for vector in json.loads(file.read_text())
    ]


@pytest.mark.parametrize("vector", _vectors())
def test_a_vector_is_written_and_read_by_both_paths(vector: dict[str, Any]) -> None:
    codec = codec_of(vector["schema"], vector.get("type") or vector["method"])
    value = from_json(codec.shape, vector["value"])
    data = bytes.fromhex(vector["hex"])
    assert codec.shape.memcpy == (vector["tier"] == "memcpy")

    assert codec.encode(writable(codec, value)).hex() == data.hex()
    assert codec.decode(data) == value
    assert read(codec.shape, data) == value
