"""F7. The pipeline, one line for each stage; no stage depends on later ones, and none runs on what an earlier
one refused.

source -> syntax -> semantics -> plan -> (generable -> emit) -> write
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from mfidl import __version__
from mfidl.cache import compiler_files
from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.model import Program
from mfidl.plan.planning import plan
from mfidl.plugin import Generator, Templates
from mfidl.semantics.context import Context
from mfidl.semantics.elaborate import elaborate
from mfidl.semantics.loading import LoadedModule, Loader, Sources
from mfidl.source import SourceFile

if TYPE_CHECKING:
    from mfidl.emit.write import OutputTree


class Exit(IntEnum):
    """Exit codes of mfidlc. USAGE is Click's own."""

    OK = 0
    SCHEMA = 1
    USAGE = 2
    IO = 3
    GENERATOR = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """`program` is set if all files are valid; `sources` are the files that were read, `absent` the places
    where imports were searched without success, `trees` what was generated and written.
    """

    exit: Exit
    diagnostics: list[Diagnostic]
    program: Program | None
    sources: tuple[SourceFile, ...] = ()
    absent: tuple[str, ...] = ()
    trees: "tuple[OutputTree, ...]" = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(source.path for source in self.sources)


@dataclass(frozen=True, slots=True)
class Targets:
    """Where `compile` writes: a root for each language, or None; and files for a build system, or None
    (mfidl/emit/write.py, BuildFiles).
    """

    cpp: str | None = None
    python: str | None = None
    python_package: str = ""
    depfile: str | None = None
    stamp: str | None = None
    outputs: str | None = None
    generators: tuple[Generator, ...] = ()
    templates: Templates | None = None
    stubs: bool = True
    is_relative: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the front end finds out about files: `modules` with those that they import, before these;
    `context` with the meaning of each name; `program` if all of it is valid.
    """

    modules: list[LoadedModule]
    context: Context
    program: Program | None
    diagnostics: Diagnostics
    unreadable: bool
    absent: tuple[str, ...]


def analyse(
    paths: Sequence[str], import_paths: Sequence[str] = (), sources: Sources | None = None
) -> Analysis:
    """The front end, from files to the planned program."""
    diagnostics = Diagnostics()
    loader = Loader(import_paths, diagnostics, sources)
    modules = loader.load(paths)  # read and parse; imported modules come first
    context = Context(diagnostics)
    # Names, types, values; runs on what parsed, to report all mistakes.
    elaborated = elaborate(modules, diagnostics, context)
    program = plan(elaborated, diagnostics)  # tier, layout, fingerprint: last, because it needs whole types
    return Analysis(modules, context, program, diagnostics, loader.unreadable, tuple(loader.absent))


def check(paths: Sequence[str], import_paths: Sequence[str] = ()) -> Outcome:
    """Checks all files and their imports completely; writes nothing."""
    found = analyse(paths, import_paths)
    sources = tuple(module.file.source for module in found.modules)
    failure = Exit.IO if found.unreadable else Exit.SCHEMA
    exit_code = failure if found.diagnostics else Exit.OK
    return Outcome(exit_code, found.diagnostics.sorted(), found.program, sources, found.absent)


def compile_files(paths: Sequence[str], import_paths: Sequence[str], targets: Targets) -> Outcome:
    """Checks, generates for the modules that `paths` name, and writes: all files or none."""
    outcome = check(paths, import_paths)
    if outcome.program is None or outcome.exit is not Exit.OK:
        return outcome
    # Generators and their templates are imported only here, since `check` must stay fast.
    from mfidl.emit.generable import for_language  # warns of what a generator cannot do yet
    from mfidl.emit.output import EmitOptions
    from mfidl.emit.write import BuildFiles, OutputTree, write_build_files, write_trees

    diagnostics = Diagnostics()
    options = EmitOptions(targets.python_package, __version__, targets.stubs, targets.is_relative)
    program = outcome.program
    trees, inputs = _foreign(targets, program, diagnostics)  # gets all of the program, and may refuse it
    if diagnostics:
        return _failed(outcome, diagnostics)
    if targets.cpp is not None:
        from mfidl.emit import cpp

        own = for_language(program, "cpp", diagnostics)
        trees.append(OutputTree("cpp", targets.cpp, cpp.generate(own, options)))
        _warn_of_headers(program, diagnostics)
    if targets.python is not None:
        from mfidl.emit import python

        own = for_language(program, "python", diagnostics)
        trees.append(OutputTree("python", targets.python, python.generate(own, options)))
        if not targets.python_package and not targets.is_relative:  # a package of the program's own
            _warn_of_packages(program, diagnostics)
    names = [module.name for module in program.requested]
    written = write_trees(trees, names, diagnostics)  # compares first: unchanged files keep their times
    if written:
        build = BuildFiles(targets.depfile, targets.stamp, targets.outputs)
        write_build_files(build, trees, [*outcome.inputs, *inputs], compiler_files(), diagnostics)
    if diagnostics:
        return _failed(outcome, diagnostics)
    messages = [*outcome.diagnostics, *diagnostics.sorted()]
    return Outcome(Exit.OK, messages, outcome.program, outcome.sources, outcome.absent, tuple(trees))


def _warn_of_packages(program: Program, diagnostics: Diagnostics) -> None:
    from mfidl.emit.installed import installed_package
    from mfidl.emit.python.names import package_name

    for name in (package_name(module.name, "") for module in program.requested):
        found = installed_package(name)
        if found is not None:
            mend = "--python-package PREFIX puts it below a package of yours"
            diagnostics.warning("W0802", None, what="package", name=name, owner=found.owner, mend=mend)


def _warn_of_headers(program: Program, diagnostics: Diagnostics) -> None:
    from mfidl.emit.installed import installed_header

    for name in (f"{module.name.replace('.', '/')}.hpp" for module in program.requested):
        found = installed_header(name)
        if found is not None:
            mend = "give the module another name, or search the generated headers first"
            diagnostics.warning("W0802", None, what="header", name=name, owner=found.owner, mend=mend)


def _foreign(
    targets: Targets, program: Program, diagnostics: Diagnostics
) -> tuple[list["OutputTree"], list[str]]:
    """The output of external generators, and the files that these read. Without any, nothing of that is
    imported."""
    if not targets.generators and targets.templates is None:
        return [], []
    from mfidl.plugin.trees import foreign_trees

    return foreign_trees(targets.generators, targets.templates, program, __version__, diagnostics)


def _failed(checked: Outcome, diagnostics: Diagnostics) -> Outcome:
    """The outcome of `compile` after a successful check: the worst of the later diagnostics."""
    told = diagnostics.sorted()
    codes = {each.code for each in told if each.severity == "error"}
    exit_code = Exit.IO
    if codes == {"E0908"}:  # a generator's own findings are about the schema
        exit_code = Exit.SCHEMA
    elif any(code.startswith("E09") for code in codes):
        exit_code = Exit.GENERATOR
    return Outcome(exit_code, [*checked.diagnostics, *told], None, checked.sources)
