"""The stubs and the processes of the conformance suite, each made once in a process that tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mfidl.compiler import Exit, check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from tests.conformance.processes import HERE, Processes


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python stubs of the schema."""
    folder = tmp_path_factory.mktemp("conformance")
    outcome = check([str(HERE / "conformance.mfidl")], [])
    assert outcome.exit is Exit.OK, outcome.diagnostics
    assert outcome.program is not None
    for file in generate(outcome.program, EmitOptions("", "0")):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    return folder


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory, stubs: Path) -> Iterator[Processes]:
    started = Processes(tmp_path_factory.mktemp("processes"), stubs)
    yield started
    started.close()
