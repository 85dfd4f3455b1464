"""Code that is generated once for all tests of schemas that differ."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.evolution.pairs import FOLDER, Side, cases, generate, load

Sides = Callable[[str, str], Side]


@pytest.fixture(scope="session")
def side(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    """One schema of a pair: side("pair01", "old")."""
    into = tmp_path_factory.mktemp("evolution")
    sys.path.insert(0, str(into))
    made: dict[tuple[str, str], Side] = {}

    def find(pair: str, which: str) -> Side:
        key = pair, which
        if key not in made:
            package = f"mf_evolution_{pair}_{which}"
            generate(schema_of(pair, which), package, into)
            made[key] = load(package, cases(pair)["service"])
        return made[key]

    return find


def schema_of(pair: str, which: str) -> Path:
    return FOLDER / pair / f"{which}.mfidl"
