"""Diagnostics with the codes, words and fixes of `mfidlc check` and `mfidlc lint`."""

from collections import defaultdict

from lsprotocol import types

from mfidl.diagnostics import Diagnostic
from mfidl.lsp.text import uri_of
from mfidl.lsp.workspace import Snapshot

_UNUSED = frozenset(("L0301", "L0302", "L0303", "L0902"))
_DEPRECATED = frozenset(("L0304",))


def by_file(snapshot: Snapshot) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each file of the analysis that has any, by URI; its own file always."""
    found: dict[str, list[types.Diagnostic]] = defaultdict(list)
    own = uri_of(snapshot.path)
    found[own] = []
    for each in snapshot.diagnostics:
        uri = own if each.span is None else uri_of(each.span.file.path)
        found[uri].append(as_protocol(snapshot, each))
    return found


def as_protocol(snapshot: Snapshot, diagnostic: Diagnostic) -> types.Diagnostic:
    span = diagnostic.span
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    if span is not None:
        place = snapshot.lines_of(span.file).of(span)
    message = diagnostic.message
    message += "".join(f"\nnote: {note.message}" for note in diagnostic.notes if note.span is None)
    if diagnostic.help:
        message += f"\nhelp: {diagnostic.help}"
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(note.span.file.path), snapshot.lines_of(note.span.file).of(note.span)),
            note.message,
        )
        for note in diagnostic.notes
        if note.span is not None
    ]
    is_error = diagnostic.severity == "error"
    return types.Diagnostic(
        place,
        message,
        types.DiagnosticSeverity.Error if is_error else types.DiagnosticSeverity.Warning,
        diagnostic.code,
        source="mfidl",
        tags=_tags(diagnostic.code),
        related_information=related or None,
    )


def _tags(code: str) -> list[types.DiagnosticTag] | None:
    if code in _UNUSED:
        return [types.DiagnosticTag.Unnecessary]
    return [types.DiagnosticTag.Deprecated] if code in _DEPRECATED else None
