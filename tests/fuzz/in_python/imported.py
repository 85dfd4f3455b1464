"""What the fuzzers of `mfidlc import` have in common: any text of a foreign language is refused at a place of
it, or becomes schemas that are in order.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from mfidl.compiler import Exit, check
from mfidl.diagnostics.render import render_text
from mfidl.foreign import Options, import_files

SEEDS = Path(__file__).parents[1] / "seeds"


@cache
def temporary() -> Path:
    """A folder that is removed when the process ends."""
    made = Path(tempfile.mkdtemp(prefix="mf-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def seeds(language: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in sorted((SEEDS / language).iterdir())]


def refusal(end: str, options: Options | None = None) -> Callable[[bytes], str]:
    """For files with that end."""

    def refused(data: bytes) -> str:
        folder = temporary()
        path = folder / f"api{end}"
        path.write_bytes(data)
        result = import_files([str(path)], options or Options((str(folder),)))
        render_text(result.diagnostics, color=False)
        for each in result.diagnostics:
            assert each.span is None or 0 <= each.span.start <= each.span.end <= len(each.span.file.text)
        if result.failed:
            assert result.diagnostics
            return result.diagnostics[0].message
        _check(folder / "out", {each.path: each.text for each in result.schemas})
        return ""

    return refused


def _check(out: Path, schemas: dict[str, str]) -> None:
    shutil.rmtree(out, ignore_errors=True)
    for name, text in schemas.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if schemas:
        outcome = check([str(out / name) for name in schemas], [str(out)])
        assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
