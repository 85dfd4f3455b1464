"""Damaged bytes of memcpy and febird types, read by the runtime and by mfidl/dynamic, which was written from
the documents alone: both make the same value of them, or find the same fault at the same byte in the same
field.
"""

import importlib
import json
import random
from functools import cache
from typing import Any

import pytest

import mf
from mfidl import dynamic
from mfidl.compiler import check
from tests.python.codec.generated import SCHEMAS, VECTORS, codecs

FILES = ("memcpy", "febird")
EACH = 3  # damages of a vector


@cache
def _schema() -> dynamic.Schema:
    program = check([str(SCHEMAS / "wide.mfidl")], [str(SCHEMAS)]).program
    assert program is not None
    return dynamic.Schema(program)


def _damaged(data: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(len(damaged) + 1)
        match chance.randrange(4):
            case 0 if at < len(damaged):
                damaged[at] ^= 1 << chance.randrange(8)
            case 1 if at < len(damaged):
                damaged[at] = chance.choice([0, 1, 2, 3, 4, 5, 127, 128, 255])
            case 2:
                damaged[at:at] = chance.randbytes(chance.randint(1, 3))
            case _:
                del damaged[at : at + chance.randint(1, 4)]
    return bytes(damaged)


def _by_the_runtime(type_: Any, data: bytes) -> tuple[str, object, object]:
    try:
        return "a value", mf.to_bytes(mf.from_bytes(type_, data)).hex(), ""
    except mf.DecodeError as error:
        return error.fault.name, error.offset, error.path


def _by_the_documents(type_: str, data: bytes) -> tuple[str, object, object]:
    try:
        return "a value", dynamic.encode(_schema(), type_, dynamic.decode(_schema(), type_, data)).hex(), ""
    except dynamic.DecodeError as error:
        return error.fault.name, error.offset, error.path


@pytest.mark.parametrize("file", FILES)
def test_both_find_the_same_in_damaged_bytes(file: str) -> None:
    codecs("wide.mfidl")
    types, chance = importlib.import_module("vectors.wide"), random.Random(file)
    vectors = json.loads((VECTORS / f"wide/{file}.json").read_text())
    faults = set()
    for vector in vectors:
        for _ in range(EACH):
            data = _damaged(bytes.fromhex(vector["hex"]), chance)
            name = vector["type"]
            found = _by_the_runtime(getattr(types, name.rpartition(".")[2]), data)
            assert found == _by_the_documents(name, data), (name, data.hex())
            faults.add(found[0])

    assert len(faults) > 4
