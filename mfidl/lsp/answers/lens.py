"""Code lenses: what the file breaks against the main branch, and by how much each declaration is used.

Both are made when the editor shows them (`codeLens/resolve`).
"""

import os
from dataclasses import dataclass

from lsprotocol import types

from mfidl.breaking.baseline import BaselineError, main_branch, open_baseline
from mfidl.breaking.compare import compare
from mfidl.compiler import check
from mfidl.diagnostics import Diagnostic
from mfidl.lsp.answers.navigation import count_uses, references
from mfidl.lsp.text import uri_of
from mfidl.lsp.workspace import Snapshot, Workspace
from mfidl.model import Program
from mfidl.semantics.symbols import name_span
from mfidl.source import Span

BREAKING = "mfidl.breaking"
REFERENCES = "mfidl.showReferences"


def lenses(snapshot: Snapshot) -> list[types.CodeLens]:
    """Without commands; `data` says what each is for."""
    if snapshot.module is None or snapshot.scope is None:
        return []
    uri = uri_of(snapshot.path)
    made = []
    declared = snapshot.module.declaration
    if declared is not None:
        made.append(
            types.CodeLens(snapshot.lines.of(declared.path.span), data={"uri": uri, "what": "breaking"})
        )
    for symbol in snapshot.scope.symbols.values():
        if symbol.declaration is None:
            continue
        span = name_span(symbol.declaration)
        data = {"uri": uri, "what": "uses", "at": span.start}
        made.append(types.CodeLens(snapshot.lines.of(span), data=data))
    return made


@dataclass(slots=True)
class _Older:
    commit: str
    program: Program | None


class Lenses:
    """Resolves lenses; keeps the older program of one file as long as the branch does not move."""

    def __init__(self) -> None:
        self._older: dict[str, _Older] = {}

    def uses(self, workspace: Workspace, snapshot: Snapshot, place: types.Range) -> types.Command:
        offset = snapshot.lines.offset(place.start)
        span = next((each for each in _names(snapshot) if each.start == offset), None)
        count = 0 if span is None else count_uses(workspace, snapshot, span)
        title = "not used" if not count else f"used {count} time{'s' if count != 1 else ''}"
        found = references(workspace, snapshot, offset, False) if count else []
        return types.Command(title, REFERENCES, arguments=[uri_of(snapshot.path), place.start, found])

    def breaking(self, workspace: Workspace, snapshot: Snapshot) -> types.Command | None:
        """None where there is no repository, or no older state of this file."""
        found = self.changes(workspace, snapshot)
        if found is None:
            return None
        branch, changes = found
        count = len(changes)
        title = (
            f"breaks nothing of {branch}"
            if not count
            else f"{count} change{'s' if count != 1 else ''} against {branch}"
        )
        return types.Command(title, BREAKING, arguments=[uri_of(snapshot.path)])

    def changes(self, workspace: Workspace, snapshot: Snapshot) -> tuple[str, list[Diagnostic]] | None:
        """The branch, and what breaks against it."""
        program = snapshot.analysis.program
        if program is None:
            return None
        found = main_branch(os.path.dirname(snapshot.path))
        if found is None:
            return None
        branch, commit = found
        known = self._older.get(snapshot.path)
        if known is None or known.commit != commit:
            known = _Older(commit, _older(branch, snapshot.path, workspace.searched(snapshot.path)))
            self._older = {snapshot.path: known}
        if known.program is None:
            return None
        from mfidl.breaking.adapted import Adapted
        from mfidl.breaking.report import as_diagnostics
        from mfidl.breaking.rollout import rollouts

        orders = rollouts(known.program, program)
        adapted = Adapted(known.program, program, orders)
        return branch, as_diagnostics(list(compare(known.program, program)), adapted, lambda span: span)


def _names(snapshot: Snapshot) -> list[Span]:
    assert snapshot.scope is not None
    return [name_span(each.declaration) for each in snapshot.scope.symbols.values() if each.declaration]


def _older(branch: str, path: str, import_paths: list[str]) -> Program | None:
    try:
        with open_baseline(branch, [path], import_paths) as baseline:
            return check(baseline.files, baseline.import_paths).program if baseline.files else None
    except BaselineError:
        return None
