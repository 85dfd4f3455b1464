"""F7. The pipeline. One line a stage; no stage looks back, and none runs on what an earlier one refused.

source -> syntax -> semantics -> plan -> (generable -> emit) -> write
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from mfidl import __version__
from mfidl.cache import compiler_files
from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.model import Program
from mfidl.plan.planning import plan
from mfidl.semantics.elaborate import elaborate
from mfidl.semantics.loading import Loader


class Exit(IntEnum):
    """Exit codes of mfidlc. USAGE is Click's own."""

    OK = 0
    SCHEMA = 1
    USAGE = 2
    IO = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """`program` is there when all files are in order; `inputs` are the files that were read."""

    exit: Exit
    diagnostics: list[Diagnostic]
    program: Program | None
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Targets:
    """Where `compile` writes: a root per language, or None; and what a build system wants to know, or None
    (mfidl/emit/write.py, BuildFiles).
    """

    cpp: str | None = None
    python: str | None = None
    python_package: str = ""
    depfile: str | None = None
    stamp: str | None = None
    outputs: str | None = None


def check(paths: Sequence[str], import_paths: Sequence[str] = ()) -> Outcome:
    """All files and what they import, through every check; writes nothing."""
    diagnostics = Diagnostics()
    loader = Loader(import_paths, diagnostics)
    modules = loader.load(paths)  # read and parse; imported modules come first
    elaborated = elaborate(
        modules, diagnostics
    )  # names, types, values; runs on what parsed, to report all mistakes
    program = plan(elaborated, diagnostics)  # tier, layout, fingerprint: last, because it needs whole types
    inputs = tuple(module.file.source.path for module in modules)
    failure = Exit.IO if loader.unreadable else Exit.SCHEMA
    return Outcome(failure if diagnostics else Exit.OK, diagnostics.sorted(), program, inputs)


def compile_files(paths: Sequence[str], import_paths: Sequence[str], targets: Targets) -> Outcome:
    """Check, then generate for the modules that `paths` name, then write: everything or nothing."""
    outcome = check(paths, import_paths)
    if outcome.program is None or outcome.exit is not Exit.OK:
        return outcome
    # Generators and their templates are imported only by who generates: `check` must stay quick.
    from mfidl.emit.generable import generable
    from mfidl.emit.output import EmitOptions
    from mfidl.emit.write import BuildFiles, OutputTree, write_build_files, write_trees

    diagnostics = Diagnostics()
    options = EmitOptions(targets.python_package, __version__)
    program = generable(outcome.program, diagnostics)  # warns of what no generator can do yet, and cuts it
    trees = []
    if targets.cpp is not None:
        from mfidl.emit import cpp

        trees.append(OutputTree(targets.cpp, cpp.generate(program, options)))
    if targets.python is not None:
        from mfidl.emit import python

        trees.append(OutputTree(targets.python, python.generate(program, options)))
    names = [module.name for module in program.requested]
    written = write_trees(trees, names, diagnostics)  # compares first: unchanged files keep their times
    if written:
        build = BuildFiles(targets.depfile, targets.stamp, targets.outputs)
        write_build_files(build, trees, outcome.inputs, compiler_files(), diagnostics)
    exit_code = Exit.IO if diagnostics else Exit.OK
    messages = [*outcome.diagnostics, *diagnostics.sorted()]
    return Outcome(exit_code, messages, None if diagnostics else outcome.program, outcome.inputs)
