"""Code that is generated once for all tests of schemas that differ."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """The generated module of the older schema, of the newer one, or of the one between them."""
    into = tmp_path_factory.mktemp("forms")
    packages = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(into))
        for which in ("old", "mid", "new"):
            package = f"mf_forms_{which}"
            generate(Path(__file__).parent / "forms" / f"{which}.mfidl", package, into)
            packages[which] = importlib.import_module(f"{package}.forms")
    return packages.__getitem__


@pytest.fixture
def old(forms: Callable[[str], Any]) -> Any:
    return forms("old")


@pytest.fixture
def mid(forms: Callable[[str], Any]) -> Any:
    return forms("mid")


@pytest.fixture
def new(forms: Callable[[str], Any]) -> Any:
    return forms("new")
