"""F6. Findings as diagnostics for people, and as JSON for continuous integration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mfidl.breaking.change import Change
from mfidl.breaking.effect import Effect
from mfidl.breaking.rollout import Rollout, Together
from mfidl.diagnostics import Diagnostic, Note
from mfidl.source import Span

# Converts a place in the baseline to the path that the user has written.
Older = Callable[[Span | None], Span | None]

_MILD = {
    Effect.ADAPTED: "running peers adapt to this, and may be upgraded in any order; only bytes that are kept"
    " break, and --only wire counts them",
    Effect.UNREACHED: "neither a service, nor a topic, nor an archive has this; --profile strict counts it",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A change that is shown. One that does not fail the comparison is a warning."""

    change: Change
    effect: Effect
    fails: bool

    @property
    def diagnostic(self) -> Diagnostic:
        """Without the place in the older schemas. The impacts follow the message."""
        change = self.change
        breaks = ", ".join(impact.value for impact in change.impacts)
        mild = not self.fails and change.code[0] == "B"
        return Diagnostic(
            change.code,
            f"{change.message} [{breaks}]",
            change.here,
            tuple(Note(path) for path in change.paths),
            help=_MILD.get(self.effect) if mild else None,
            is_mild=mild,
        )


def as_diagnostics(findings: Sequence[Finding], older: Older) -> list[Diagnostic]:
    """Sorted by file and place."""
    made = []
    for each in findings:
        diagnostic = each.diagnostic
        before = older(each.change.before)
        if before is not None:
            diagnostic = replace(diagnostic, notes=(Note("before", before), *diagnostic.notes))
        made.append(diagnostic)
    return sorted(made, key=Diagnostic.sort_key)


def as_json(findings: Sequence[Finding], rollouts: Sequence[Rollout], older: Older) -> str:
    """{"changes": [{code, impacts, adapted, fails, message, here, before, paths}], "rollout": [{name, order,
    message, older, newer, here, before}]}, `older` and `newer` with {refused, checked}; positions are
    1-based.
    """
    import json

    items = [
        {
            "code": each.change.code,
            "impacts": [impact.value for impact in each.change.impacts],
            "adapted": each.effect is Effect.ADAPTED,
            "fails": each.fails,
            "message": each.change.message,
            "here": _place(each.change.here),
            "before": _place(older(each.change.before)),
            "paths": list(each.change.paths),
        }
        for each in findings
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
