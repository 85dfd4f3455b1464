"""A random schema on disk, checked and compiled: what all tests of it begin with."""

from dataclasses import dataclass
from pathlib import Path

from mfidl import model
from mfidl.compiler import Exit, Targets, compile_files
from mfidl.diagnostics import Diagnostics
from mfidl.emit.generable import for_language
from tests.random_schemas.generator import MODERATE, RandomSchema, Size


@dataclass(frozen=True)
class Made:
    """`files`: what was asked for, the importing one first; `cpp` and `python`: the roots of the output."""

    seed: int
    folder: Path
    files: tuple[Path, ...]
    program: model.Program
    generated: model.Program  # without what generated code leaves out

    @property
    def cpp(self) -> Path:
        return self.folder / "cpp"

    @property
    def python(self) -> Path:
        return self.folder / "python"


class RefusedError(Exception):
    """The compiler refused the schema: either it is wrong, or the generator is."""


def made(seed: int, folder: Path, size: Size = MODERATE) -> Made:
    schema = RandomSchema(seed, size)
    files = []
    for name, text in schema.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        files.append(path)
    files.sort(key=lambda path: path.name != schema.main)
    targets = Targets(cpp=str(folder / "cpp"), python=str(folder / "python"), stubs=False)
    outcome = compile_files([str(each) for each in files], [str(folder)], targets)
    if outcome.exit is not Exit.OK or outcome.program is None:
        told = "\n".join(f"{each.code} {each.message}" for each in outcome.diagnostics)
        raise RefusedError(f"seed {seed} in {folder}:\n{told}")
    generated = for_language(outcome.program, "cpp", Diagnostics())  # what both languages have
    return Made(seed, folder, tuple(files), outcome.program, generated)
