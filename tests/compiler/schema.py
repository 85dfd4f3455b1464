"""Helpers of the compiler's tests: schemas from text."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from mfidl import dynamic, model
from mfidl.compiler import Outcome, check


def outcome_of(folder: Path, **files: str) -> Outcome:
    """Check files named by keyword (`main` becomes main.mfidl); the first is the one asked for."""
    for name, text in files.items():
        (folder / f"{name}.mfidl").write_text(text)
    return check([str(folder / f"{next(iter(files))}.mfidl")])


def program_of(folder: Path, text: str, **imported: str) -> model.Program:
    outcome = outcome_of(folder, main=text, **imported)
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    return outcome.program


@cache
def dynamic_schema(text: str) -> dynamic.Schema:
    """Made once a text."""
    with TemporaryDirectory() as folder:
        return dynamic.Schema(program_of(Path(folder), text))


def struct_of(program: model.Program, name: str) -> model.Struct:
    found = program.declaration(name)
    assert isinstance(found, model.Struct)
    return found
