"""mfidl/dynamic beside generated code: shapes made of the program, and those that the compiler writes as text,
on values and damaged bytes drawn from a seed. They must agree on bytes, on JSON, and on what is refused where.
"""

import importlib
import random
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import mf
from mfidl import model
from mfidl.compiler import Exit, Targets, compile_files
from mfidl.dynamic import DecodeError, Schema, decode, encode, from_json, to_json
from mfidl.dynamic.names import find
from mfidl.dynamic.sample import Sampler
from tests.compiler.dynamic_values import JSON_PIECES, SCHEMA

PLAIN = ["Point", "Empty", "Mixed", "Hit", "Numbers", "Rows", "Holder", "Tree", "Value", "Gone"]
ARCHIVE = ["Note", "Choice", "Plain", "Rich", "Config", "Person", "Link", "Boxes"]
VALUES = 8  # random ones of each type, beside those at the borders
DAMAGES = 3  # of each value
CODEC = """class Codec:
    Value = bytes
    encode = staticmethod(bytes)
    decode = staticmethod(bytes)
"""


class WithCustom(Sampler):
    """This custom codec takes any bytes."""

    def _declared(self, type_: model.Named, depth: int) -> Any:
        if self._schema.tier(type_) is model.Tier.CUSTOM:
            return self._random.randbytes(3)
        return super()._declared(type_, depth)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Schema, ModuleType]]:
    folder = tmp_path_factory.mktemp("dynamic")
    text = SCHEMA.replace("module t;", "module dynamic_rt;").replace('"o:Codec"', '"dynamic_rt_codec:Codec"')
    (folder / "dynamic_rt.mfidl").write_text(text)
    (folder / "dynamic_rt_codec.py").write_text(CODEC)
    outcome = compile_files([str(folder / "dynamic_rt.mfidl")], [], Targets(python=str(folder)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    assert outcome.program is not None
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield Schema(outcome.program), importlib.import_module("dynamic_rt")
    sys.path.remove(str(folder))


def drawn(schema: Schema, name: str) -> list[Any]:
    sampler = WithCustom(schema, f"runtime/{name}", lambda *_: None)
    type_ = find(schema, name).type
    return [*sampler.borders(type_), *(sampler.random(type_) for _ in range(VALUES))]


@pytest.mark.parametrize("name", [*PLAIN, *ARCHIVE])
def test_both_write_the_same_bytes_and_the_same_json(generated: tuple[Schema, ModuleType], name: str) -> None:
    schema, module = generated
    type_ = getattr(module, name)

    for value in drawn(schema, name):
        data, text = encode(schema, name, value), to_json(schema, name, value)
        assert mf.to_bytes(mf.from_json(type_, text)).hex() == data.hex()
        assert mf.to_json(mf.from_bytes(type_, data)) == text


def outcome_of(read: Any) -> tuple[Any, ...]:
    """What reading gives: a JSON text, or where and why it was refused."""
    try:
        return ("read", read())
    except (DecodeError, mf.DecodeError) as error:
        return (error.fault.name, error.offset, error.path)


@pytest.mark.parametrize("name", [*PLAIN, *ARCHIVE])
def test_both_take_or_refuse_damaged_bytes_alike(generated: tuple[Schema, ModuleType], name: str) -> None:
    schema, module = generated
    type_ = getattr(module, name)
    dice = random.Random(f"damage/{name}")

    for value in drawn(schema, name):
        good = encode(schema, name, value)
        for _ in range(DAMAGES if good else 0):
            damaged = bytearray(good)
            damaged[dice.randrange(len(good))] = dice.choice((0, 1, 2, 127, 128, 255, dice.randrange(256)))
            data = bytes(damaged[: dice.randrange(len(good))] if dice.random() < 0.2 else damaged)
            ours = outcome_of(lambda data=data: to_json(schema, name, decode(schema, name, data)))
            theirs = outcome_of(lambda data=data: mf.to_json(mf.from_bytes(type_, data)))
            assert theirs == ours, data.hex()


@pytest.mark.parametrize("name", [*PLAIN, *ARCHIVE])
def test_both_take_or_refuse_damaged_json_alike(generated: tuple[Schema, ModuleType], name: str) -> None:
    schema, module = generated
    type_ = getattr(module, name)
    dice = random.Random(f"json/{name}")

    for value in drawn(schema, name):
        good = to_json(schema, name, value).encode()
        for _ in range(DAMAGES):
            at = dice.randrange(len(good) + 1)
            text = good[:at] + dice.choice(JSON_PIECES) + good[at + dice.randrange(4) :]
            ours = outcome_of(lambda text=text: to_json(schema, name, from_json(schema, name, text)))
            theirs = outcome_of(lambda text=text: mf.to_json(mf.from_json(type_, text)))
            assert theirs == ours, text


def test_a_set_with_an_element_twice_is_refused_by_both(generated: tuple[Schema, ModuleType]) -> None:
    """Found here: a row of a set that was ascending, but not strictly, was once read by the runtime."""
    schema, module = generated
    rows = decode(schema, "Rows", encode(schema, "Rows", drawn(schema, "Rows")[0]))
    data = encode(schema, "Rows", {**rows, "s": [1, 1_000, 1_001]})
    twice = data.replace(bytes.fromhex("0d 0100 e803 e903"), bytes.fromhex("0d 0100 e803 e803"))
    assert twice != data

    ours = outcome_of(lambda: decode(schema, "Rows", twice))
    theirs = outcome_of(lambda: mf.from_bytes(module.Rows, twice))

    assert ours == theirs
    assert (ours[0], ours[2]) == ("KEYS_NOT_ASCENDING", "Rows.s[2]")
