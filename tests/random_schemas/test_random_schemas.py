"""Schemas that a seed makes up, held to what is held of those in this tree: every command takes them,
generated code compiles without a warning, and every reading of their values agrees.

MF_RANDOM_SEEDS="7" or "0..300" takes other seeds than the fixed ones; a failure names its seed. `make soak`
goes on from the seed that MF_RANDOM_SEEDS begins with until MF_SOAK_SECONDS are over.
"""

import itertools
import os
import time
from pathlib import Path

import pytest

from mfidl.dynamic import Schema
from tests.random_schemas import cpp
from tests.random_schemas.commands import mypy_of, refusals
from tests.random_schemas.compare import Amount, disagreements
from tests.random_schemas.generator import MODERATE, SMALL, Size
from tests.random_schemas.made import Made, made
from tests.random_schemas.readings import Dynamic, Python, Reading, subjects

_MOST = 5  # so many findings are printed
_LENGTH = 2_000  # of each


def seeds(fixed: tuple[int, ...]) -> list[int]:
    low, _, high = os.environ.get("MF_RANDOM_SEEDS", "").partition("..")
    return list(range(int(low), int(high or int(low) + 1))) if low else list(fixed)


def told(seed: int, found: list[str]) -> str:
    return "\n".join(
        [
            f"seed {seed}: {len(found)} faults, MF_RANDOM_SEEDS={seed} has them again",
            *(_shortened(each) for each in found[:_MOST]),
        ]
    )


def _shortened(sentence: str) -> str:
    """Each line's begin and end."""
    return "\n".join(
        line if len(line) <= _LENGTH else f"{line[: _LENGTH // 2]} ... {line[-_LENGTH // 2 :]}"
        for line in sentence.splitlines()
    )


@pytest.fixture(scope="session")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cpp.precompiled(tmp_path_factory.mktemp("headers"))


def compared(schema: Made, amount: Amount) -> list[str]:
    """Python and mfidl/dynamic."""
    of = Schema(schema.program)
    readings: list[Reading] = [Dynamic(of), Python(schema.generated, schema.python)]
    return disagreements(of, subjects(schema.generated), readings, str(schema.seed), amount)


def compared_with_cpp(schema: Made, amount: Amount, headers: Path | None) -> list[str]:
    """C++ too; what its compiler says is a fault as well."""
    of, about = Schema(schema.program), subjects(schema.generated)
    try:
        program = cpp.build(schema, about, headers=headers)
    except cpp.CompileError as failure:
        return [str(failure)]
    native = cpp.Cpp(program, about)
    try:
        readings: list[Reading] = [Dynamic(of), Python(schema.generated, schema.python), native]
        return disagreements(of, about, readings, str(schema.seed), amount)
    finally:
        native.close()


@pytest.mark.parametrize("seed", seeds((1, 2)))
def test_python_agrees_with_the_documents(seed: int, tmp_path: Path) -> None:
    found = compared(made(seed, tmp_path), Amount(6, 2, 2))

    assert not found, told(seed, found)


@pytest.mark.parametrize("seed", seeds((4,)))
def test_every_command_takes_what_check_accepts(seed: int, tmp_path: Path) -> None:
    found = refusals(made(seed, tmp_path, SMALL))

    assert not found, told(seed, found)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", seeds((6, 7)))
def test_cpp_agrees_with_both(seed: int, tmp_path: Path, headers: Path) -> None:
    found = compared_with_cpp(made(seed, tmp_path, SMALL), Amount(8, 3, 2), headers)

    assert not found, told(seed, found)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_schemas_without_end(tmp_path: Path) -> None:
    """One after the other all three, mypy, and both C++ compilers over clients and servers too."""
    until = time.monotonic() + float(os.environ.get("MF_SOAK_SECONDS", "60"))
    for seed in itertools.count(seeds((1_000,))[0]):
        folder = tmp_path / str(seed)
        folder.mkdir()
        schema = made(seed, folder, MODERATE if seed % 2 else Size(20, 8, 4))
        found = [*refusals(schema), *mypy_of(schema, tmp_path / "mypy"), *compared(schema, Amount(20, 6, 4))]
        found += compared_with_cpp(schema, Amount(30, 10, 4), None)
        found += cpp.warnings(schema, "clang++-19")

        assert not found, told(seed, found)
        if time.monotonic() > until:
            break
