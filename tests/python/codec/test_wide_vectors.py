"""tests/vectors/wide: what numpy, protobuf and mfidl/dynamic made of every type of the language, and bytes
that must be refused. The C++ tests read the same files.
"""

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mf
from tests.python.codec.generated import VECTORS, codecs

WIDE = Path(VECTORS / "wide")
FILES = ("memcpy", "archive", "graphs", "febird")


def load(file: str) -> list[dict[str, Any]]:
    return json.loads((WIDE / f"{file}.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def wide() -> ModuleType:
    codecs("wide.mfidl")
    return importlib.import_module("vectors.wide")


def type_of(module: ModuleType, vector: dict[str, Any]) -> Any:
    return getattr(module, vector["type"].rpartition(".")[2])


def _hostile() -> list[Any]:
    return [pytest.param(each, id=f"{each['type']}: {each['name']}") for each in load("hostile")]


@pytest.mark.parametrize("file", FILES)
def test_values_have_the_bytes_that_others_gave_them(wide: ModuleType, file: str) -> None:
    wrong = []
    for vector in load(file):
        value = mf.from_json(type_of(wide, vector), vector["json"])
        if mf.to_bytes(value).hex() != vector["hex"]:
            wrong.append((vector["name"], vector["hex"], mf.to_bytes(value).hex()))

    assert wrong == []


@pytest.mark.parametrize("file", FILES)
def test_bytes_have_the_values_that_others_took_them_from(wide: ModuleType, file: str) -> None:
    wrong = []
    for vector in load(file):
        value = mf.from_bytes(type_of(wide, vector), bytes.fromhex(vector["hex"]))
        if mf.to_json(value) != vector["json"]:
            wrong.append((vector["name"], vector["json"], mf.to_json(value)))

    assert wrong == []


@pytest.mark.parametrize("vector", _hostile())
def test_hostile_bytes_are_refused_with_fault_offset_and_path(
    wide: ModuleType, vector: dict[str, Any]
) -> None:
    with pytest.raises(mf.DecodeError) as caught:
        mf.from_bytes(type_of(wide, vector), bytes.fromhex(vector["hex"]))

    refused = caught.value
    assert (refused.fault.name.lower(), refused.offset, refused.path) == (
        vector["fault"],
        vector["offset"],
        vector["path"],
    )


@pytest.mark.parametrize("file", FILES)
def test_a_beginning_is_refused_or_a_value(wide: ModuleType, file: str) -> None:
    """Of archive messages a beginning may be a message; of memcpy and febird it never is."""
    taken, outside = 0, 0
    for vector in load(file)[::7]:
        type_, data = type_of(wide, vector), bytes.fromhex(vector["hex"])
        for size in range(0, len(data), max(1, len(data) // 40)):
            try:
                mf.from_bytes(type_, data[:size])
            except mf.DecodeError as refused:
                outside += not 0 <= refused.offset <= size
            else:
                taken += 1

    assert outside == 0
    assert taken == 0 or file in ("archive", "graphs")
