"""F6. Findings as diagnostics for people, and as JSON for continuous integration."""

from collections.abc import Callable, Container, Sequence
from typing import Any

from mfidl.breaking.change import Change
from mfidl.breaking.rollout import Rollout, Together
from mfidl.diagnostics import Diagnostic, Note
from mfidl.source import Span

# Converts a place in the baseline to the path that the user knows.
Older = Callable[[Span | None], Span | None]

_MILD = (
    "running peers adapt to this, and may be upgraded in any order; only bytes that are kept break, and"
    " --only wire counts them"
)


def as_diagnostics(changes: Sequence[Change], adapted: Container[Change], older: Older) -> list[Diagnostic]:
    """Sorted by file and place. The impacts of a finding follow its message. Those to which running peers
    adapt are warnings.
    """
    made = []
    for change in changes:
        notes = [Note(path) for path in change.paths]
        before = older(change.before)
        if before is not None:
            notes.insert(0, Note("before", before))
        breaks = ", ".join(impact.value for impact in change.impacts)
        mild = change in adapted
        text = f"{change.message} [{breaks}]"
        made.append(
            Diagnostic(
                change.code, text, change.here, tuple(notes), help=_MILD if mild else None, is_mild=mild
            )
        )
    return sorted(made, key=Diagnostic.sort_key)


def as_json(
    changes: Sequence[Change], adapted: Container[Change], rollouts: Sequence[Rollout], older: Older
) -> str:
    """{"changes": [{code, impacts, adapted, message, here, before, paths}], "rollout": [{name, order,
    message, older, newer, here, before}]}, `older` and `newer` with {refused, checked}; positions are
    1-based.
    """
    import json

    items = [
        {
            "code": change.code,
            "impacts": [impact.value for impact in change.impacts],
            "adapted": change in adapted,
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
