"""The many runs of the simulated group are for `make soak` alone."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mfidl.compiler import Exit, Targets, compile_files

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "soak" in config.option.markexpr:
        return
    long = [each for each in items if each.get_closest_marker("soak")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [each for each in items if each not in long]


@pytest.fixture(scope="session")
def journal_stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package `journal` is."""
    folder = tmp_path_factory.mktemp("journal")
    outcome = compile_files([str(HERE / "journal.mfidl")], [], Targets(python=str(folder)))
    assert outcome.exit is Exit.OK
    assert outcome.diagnostics == []
    return folder


LATER = (
    ("most: u32;", 'most: u64;\n  hint: string = "less";'),
    (
        "one_hop_ack_client(text: string) -> u64",
        '@was("one_hop_ack_client")\n  put(note: string = "", text: string) -> u32',
    ),
    ("chain(text: string)", "chain(text: u32)"),
    ("texts() -> list<string>;", "@replicated(pattern = one_hop)\n  more(text: string) -> u64;"),
)


@pytest.fixture(scope="session")
def later_journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package as a later program has it."""
    folder = tmp_path_factory.mktemp("later")
    text = (HERE / "journal.mfidl").read_text()
    for before, after in LATER:
        assert before in text
        text = text.replace(before, after)
    (folder / "journal.mfidl").write_text(text)
    targets = Targets(python=str(folder), python_package="later_version")
    outcome = compile_files([str(folder / "journal.mfidl")], [], targets)
    assert outcome.exit is Exit.OK, outcome.diagnostics
    sys.path.insert(0, str(folder))
    yield import_module("later_version.journal")
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def pages(journal: ModuleType) -> type[Any]:
    """The servant of the journal."""
    assert journal is not None
    made: type[Any] = import_module("tests.python.replicated.programs.journal_replica").Pages
    return made


@pytest.fixture(scope="session")
def journal(journal_stubs: Path) -> Iterator[ModuleType]:
    sys.path.insert(0, str(journal_stubs))
    yield import_module("journal")
    sys.path.remove(str(journal_stubs))
