"""F6. Findings as diagnostics for people, and as JSON for continuous integration."""

from collections.abc import Callable, Sequence
from typing import Any

from mfidl.breaking.change import Change
from mfidl.breaking.rollout import Rollout, Together
from mfidl.diagnostics import Diagnostic, Note
from mfidl.source import Span

# Converts a place in the baseline to the path that the user knows.
Older = Callable[[Span | None], Span | None]


def as_diagnostics(changes: Sequence[Change], older: Older) -> list[Diagnostic]:
    """Sorted by file and place. The impacts of a finding follow its message."""
    made = []
    for change in changes:
        notes = [Note(path) for path in change.paths]
        before = older(change.before)
        if before is not None:
            notes.insert(0, Note("before", before))
        breaks = ", ".join(impact.value for impact in change.impacts)
        made.append(Diagnostic(change.code, f"{change.message} [{breaks}]", change.here, tuple(notes)))
    return sorted(made, key=Diagnostic.sort_key)


def as_json(changes: Sequence[Change], rollouts: Sequence[Rollout], older: Older) -> str:
    """{"changes": [{code, impacts, message, here, before, paths}], "rollout": [{name, order, message, older,
    newer, here, before}]}, `older` and `newer` with {refused, checked}; positions are 1-based.
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
            "name": each.name,
            "order": each.order.value,
            "message": each.message,
            "older": _together(each.older),
            "newer": _together(each.newer),
            "here": _place(each.here),
            "before": _place(older(each.before)),
        }
        for each in rollouts
    ]
    return json.dumps({"changes": items, "rollout": told}, indent=2, ensure_ascii=False) + "\n"


def _together(of: Together) -> dict[str, list[str]]:
    return {"refused": list(of.refused), "checked": list(of.checked)}


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    line, column = span.file.position(span.start)
    return {"file": span.file.name, "line": line, "column": column}
