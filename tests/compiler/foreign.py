"""Helpers of the tests of `mfidlc import`: foreign files from texts, and what became of them."""

from pathlib import Path

from mfidl.compiler import Exit, check
from mfidl.diagnostics import Diagnostic
from mfidl.foreign import Options, Result, import_files


def imported(folder: Path, **files: str) -> Result:
    """Files by name, with `_dot_` for the point before their ends; the last one is asked for."""
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return import_files([str(folder / name.replace("_dot_", "."))], Options((str(folder),)))


def schema(result: Result, folder: Path) -> str:
    """The text of the last schema, when all of them are in order."""
    assert not result.failed, messages(result)
    out = folder / "out"
    for each in result.schemas:
        path = out / each.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(each.text)
    outcome = check([str(out / each.path) for each in result.schemas], [str(out)])
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    return result.schemas[-1].text


def messages(result: Result) -> list[str]:
    return [_told(each) for each in result.diagnostics]


def _told(each: Diagnostic) -> str:
    place = "" if each.span is None else f"{each.span.line()}: "
    return f"{place}{each.code} {each.message}"
