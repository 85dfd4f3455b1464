"""Schemas that a seed makes up, held to what is held of those in this tree: every reading of them agrees.

MF_RANDOM_SEEDS="7" or "0..300" takes other seeds than the fixed ones; a failure names its seed.
"""

import os
from pathlib import Path

import pytest

from mfidl.dynamic import Schema
from tests.random_schemas.compare import Amount, disagreements
from tests.random_schemas.made import made
from tests.random_schemas.readings import Dynamic, Python, Reading, subjects


def seeds(fixed: tuple[int, ...]) -> list[int]:
    low, _, high = os.environ.get("MF_RANDOM_SEEDS", "").partition("..")
    return list(range(int(low), int(high or int(low) + 1))) if low else list(fixed)


@pytest.mark.parametrize("seed", seeds((1, 2, 3)))
def test_python_agrees_with_the_documents(seed: int, tmp_path: Path) -> None:
    schema = made(seed, tmp_path)
    about = subjects(schema.generated)
    readings: list[Reading] = [Dynamic(Schema(schema.program)), Python(schema.generated, schema.python)]

    found = disagreements(Schema(schema.program), about, readings, str(seed), Amount(6, 2, 2))

    assert not found, f"seed {seed}, {len(found)} disagreements, the first:\n{found[0]}"
