"""F6. What is written of drafts compiles: the front end reads them as schemas before they are written, in
memory. What it refuses is left out, with its place in the foreign file.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.fmt import format_source
from mfidl.foreign import draft
from mfidl.foreign.draft import File, Project
from mfidl.foreign.text import Lines, Part, schema_lines
from mfidl.plan.planning import plan
from mfidl.semantics.elaborate import elaborate
from mfidl.semantics.loading import Loader, Texts
from mfidl.source import SIZE_LIMIT, SourceFile, Span

_ROOT = "/mfidlc-import"  # of paths that are in memory only


def sound_texts(project: Project, diagnostics: Diagnostics) -> dict[str, str]:
    """The schemas of all files by their paths, formatted. Takes from the drafts what would not compile, and
    warns of it; what cannot be left out alone is an error.
    """
    while True:
        schemas = {file.path: schema_lines(project, file) for file in project.files}
        mistakes = _mistakes({path: schema.text for path, schema in schemas.items()})
        if not mistakes:
            break
        refused = _by_part(schemas, mistakes)
        if not refused:
            _report(project, mistakes[0], diagnostics)
            return {}
        for part, message in refused:
            _leave_out(project, part, message, diagnostics)
    texts = {path: _formatted(path, schema.text) for path, schema in schemas.items()}
    for file in project.files:
        size = len(texts[file.path].encode())
        if size > SIZE_LIMIT:
            message = f"it would have {size} bytes, and a schema may have {SIZE_LIMIT}"
            diagnostics.error("E1007", Span(file.source, 0, 0), path=file.path, message=message)
    return texts


def _mistakes(texts: Mapping[str, str]) -> list[Diagnostic]:
    """The errors of the front end, of which the first is that of the file that the others need."""
    diagnostics = Diagnostics()
    files = {f"{_ROOT}/{path}": text for path, text in texts.items()}
    plan(elaborate(Loader([_ROOT], diagnostics, Texts(files)).load(list(files)), diagnostics), diagnostics)
    return [each for each in diagnostics.sorted() if each.severity == "error"]


def _by_part(schemas: Mapping[str, Lines], mistakes: list[Diagnostic]) -> list[tuple[Part, str]]:
    """Each refused part once, with the first reason. A part within a refused part is left out."""
    found: dict[tuple[int, int], tuple[Part, str]] = {}
    for each in mistakes:
        if each.span is None:
            continue
        part = schemas[each.span.file.path.removeprefix(f"{_ROOT}/")].parts[each.span.line() - 1]
        if part is not None:
            found.setdefault((id(part.declaration), id(part.item)), (part, each.message))
    whole = {declaration for (declaration, _), (part, _) in found.items() if part.item is None}
    return [
        (part, message)
        for part, message in found.values()
        if part.item is None or id(part.declaration) not in whole
    ]


def _report(project: Project, mistake: Diagnostic, diagnostics: Diagnostics) -> None:
    """An error that is about a whole file."""
    path = "" if mistake.span is None else mistake.span.file.path.removeprefix(f"{_ROOT}/")
    file = next((each for each in project.files if each.path == path), None)
    span = None if file is None else Span(file.source, 0, 0)
    diagnostics.error("E1007", span, path=path, message=mistake.message)


def _leave_out(project: Project, part: Part, message: str, diagnostics: Diagnostics) -> None:
    declaration, item = part.declaration, part.item
    file = project.file_of(declaration.key)
    match declaration, item:
        case _, None:
            gone = {each.key for each in _within(file, declaration)}
            file.declarations = [each for each in file.declarations if each.key not in gone]
            what = f"`{declaration.name}`"
        case draft.Struct(), draft.Member():
            declaration.members.remove(item)
            what = f"`{item.name}` of `{declaration.name}`"
        case draft.Enum(), draft.EnumMember():
            declaration.members.remove(item)
            what = f"`{item.name}` of `{declaration.name}`"
        case draft.Service(), draft.Method():
            declaration.methods.remove(item)
            what = f"`{item.name}` of `{declaration.name}`"
    span = declaration.span if item is None or item.span is None else item.span
    diagnostics.warning("W1005", span, what=what, message=message)


def _within(file: File, declaration: draft.Declaration) -> Iterator[draft.Declaration]:
    """A declaration, and all that is declared in it."""
    inner: dict[str, list[draft.Declaration]] = defaultdict(list)
    for each in file.declarations:
        inner[each.holder].append(each)
    waiting = [declaration]
    for each in waiting:
        yield each
        waiting += inner[each.key]


def _formatted(path: str, text: str) -> str:
    """The schema in the one canonical style."""
    mistakes = Diagnostics()
    formatted = format_source(SourceFile(path, path, text), mistakes)
    if formatted is None:
        raise AssertionError(f"{path} does not parse: {mistakes.sorted()[0].message}")
    return formatted
