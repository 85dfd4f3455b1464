"""The codec vectors, which the C++ tests read too: both ways, by each of the two paths alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from mf.codec.careful_reader import CarefulReader
from mf.codec.careful_writer import CarefulWriter
from mf.codec.limits import DEFAULT_LIMITS
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

    fast = bytearray()
    codec._write(fast, (writable(codec, value),))
    careful = CarefulWriter()
    careful.write(codec.shape, writable(codec, value))
    assert fast.hex() == careful.out.hex() == data.hex()

    reader = CarefulReader(data, DEFAULT_LIMITS)
    assert codec._read(data, 0, 1) == ([value], len(data))
    assert reader.read(codec.shape) == value
    reader.finish()
