"""Helpers of the compiler's tests: schemas from text."""

from pathlib import Path

from mfidl import model
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


def struct_of(program: model.Program, name: str) -> model.Struct:
    found = program.declaration(name)
    assert isinstance(found, model.Struct)
    return found
