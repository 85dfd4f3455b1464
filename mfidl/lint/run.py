"""From files to diagnostics: checks them first, then applies each rule to each module that was named."""

from collections.abc import Iterator, Sequence

from mfidl import model
from mfidl.compiler import Exit, Outcome, analyse
from mfidl.diagnostics import Diagnostic
from mfidl.lint.allow import about_allowances, allowances, without_allowed
from mfidl.lint.codes import CATALOGUE
from mfidl.lint.rules import RULES
from mfidl.lint.settings import Settings
from mfidl.lint.subject import Finding, Subject
from mfidl.lint.whole import Whole
from mfidl.semantics.loading import LoadedModule


def lint_files(paths: Sequence[str], import_paths: Sequence[str], settings: Settings) -> Outcome:
    """The findings of all files, or their errors if there are any: rules look at valid schemas only."""
    analysis = analyse(paths, import_paths)
    if analysis.program is None or analysis.diagnostics:
        failure = Exit.IO if analysis.unreadable else Exit.SCHEMA
        return Outcome(failure, analysis.diagnostics.sorted(), None)
    found = findings(analysis.modules, analysis.program, settings)
    return Outcome(Exit.SCHEMA if found else Exit.OK, found, analysis.program)


def findings(modules: Sequence[LoadedModule], program: model.Program, settings: Settings) -> list[Diagnostic]:
    """What the rules find in the requested modules of a valid program, sorted."""
    whole, meanings = Whole(program), {each.name: each for each in program.modules}
    found = [
        each
        for loaded in modules
        if loaded.requested
        for each in _findings(_subject(loaded, program, meanings, whole), settings)
    ]
    return sorted(found, key=Diagnostic.sort_key)


def _subject(
    loaded: LoadedModule, program: model.Program, meanings: dict[str, model.Module], whole: Whole
) -> Subject:
    imports = [(declaration, module.name) for declaration, module in loaded.imports if module is not None]
    return Subject(program, meanings[loaded.name], loaded.file, imports, whole)


def _findings(subject: Subject, settings: Settings) -> Iterator[Diagnostic]:
    running = [code for code in RULES if code in settings.codes]
    allowed = allowances(subject.file.source)
    for code in running:
        for finding in without_allowed(RULES[code](subject), allowed):
            yield _diagnostic(finding)
    for finding in about_allowances(allowed, running):
        if finding.code in settings.codes:
            yield _diagnostic(finding)


def _diagnostic(finding: Finding) -> Diagnostic:
    message = CATALOGUE[finding.code].message.format(**finding.values)
    return Diagnostic(finding.code, message, finding.span, finding.notes, finding.help, finding.fix)
