"""F6. Findings as diagnostics for people, and as JSON for continuous integration."""

from collections.abc import Callable, Sequence
from typing import Any

from mfidl.breaking.change import Change
from mfidl.breaking.peers import Verdict
from mfidl.diagnostics import Diagnostic, Note
from mfidl.source import Span

# Gives a place in the baseline the name that the user knows.
Older = Callable[[Span | None], Span | None]


def as_diagnostics(changes: Sequence[Change], older: Older) -> list[Diagnostic]:
    """By file and place. What a finding breaks stands behind its message."""
    made = []
    for change in changes:
        notes = [Note(path) for path in change.paths]
        before = older(change.before)
        if before is not None:
            notes.insert(0, Note("before", before))
        breaks = ", ".join(impact.value for impact in change.impacts)
        made.append(Diagnostic(change.code, f"{change.message} [{breaks}]", change.here, tuple(notes)))
    return sorted(made, key=Diagnostic.sort_key)


def as_json(changes: Sequence[Change], peers: Sequence[Verdict], older: Older) -> str:
    """{"changes": [{code, impacts, message, here, before, paths}], "peers": [{service, refuse, message,
    differences, here, before}]}; positions are 1-based.
    """
    import json

    items = [
        {
            "code": change.code,
            "impacts": [impact.value for impact in change.impacts],
            "message": change.message,
            "here": _place(change.here),
            "before": _place(older(change.before)),
            "paths": list(change.paths),
        }
        for change in changes
    ]
    told = [
        {
            "service": each.service,
            "refuse": each.refuse,
            "message": each.message,
            "differences": list(each.differences),
            "here": _place(each.here),
            "before": _place(older(each.before)),
        }
        for each in peers
    ]
    return json.dumps({"changes": items, "peers": told}, indent=2, ensure_ascii=False) + "\n"


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    line, column = span.file.position(span.start)
    return {"file": span.file.name, "line": line, "column": column}
