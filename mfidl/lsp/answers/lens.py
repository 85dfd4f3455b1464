"""Code lenses: what the file breaks against the main branch, and by how much each declaration is used.

Both are made when the editor shows them (`codeLens/resolve`).
"""

import os
from dataclasses import dataclass

from lsprotocol import types

from mfidl.breaking.baseline import BaselineError, main_branch, open_baseline
from mfidl.breaking.findings import findings
from mfidl.breaking.profile import PROFILES
from mfidl.breaking.report import as_diagnostics
from mfidl.breaking.rollout import rollouts
from mfidl.compiler import check
from mfidl.diagnostics import Diagnostic
from mfidl.lsp.answers.navigation import references
from mfidl.lsp.text import uri_of
from mfidl.lsp.workspace import Snapshot, Workspace
from mfidl.model import Program
from mfidl.semantics.symbols import name_span

BREAKING = "mfidl.breaking"
REFERENCES = "mfidl.showReferences"
_KEPT = 8


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


def uses_lens(workspace: Workspace, snapshot: Snapshot, place: types.Range) -> types.Command:
    found = references(workspace, snapshot, snapshot.lines.offset(place.start), False)
    count = len(found)
    title = "not used" if not count else f"used {count} time{'s' if count != 1 else ''}"
    return types.Command(title, REFERENCES, arguments=[uri_of(snapshot.path), place.start, found])


@dataclass(slots=True)
class _Older:
    commit: str
    program: Program | None


class Breaking:
    """Compares with the main branch, for any thread: git may take long. Keeps the older programs of some
    files as long as the branch does not move.
    """

    def __init__(self) -> None:
        self._older: dict[str, _Older] = {}

    def lens(self, snapshot: Snapshot, import_paths: list[str]) -> types.Command | None:
        """None where there is no repository, or no older state of this file."""
        found = self.changes(snapshot, import_paths)
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

    def changes(self, snapshot: Snapshot, import_paths: list[str]) -> tuple[str, list[Diagnostic]] | None:
        """The branch, and what breaks against it."""
        program = snapshot.analysis.program
        if program is None:
            return None
        against = main_branch(os.path.dirname(snapshot.path))
        if against is None:
            return None
        branch, commit = against
        known = self._older.get(snapshot.path)
        if known is None or known.commit != commit:
            known = _Older(commit, _older(branch, snapshot.path, import_paths))
            self._older[snapshot.path] = known
            while len(self._older) > _KEPT:
                self._older.pop(next(iter(self._older)), None)
        if known.program is None:
            return None
        orders = rollouts(known.program, program)
        found = findings(known.program, program, orders, PROFILES["default"])
        return branch, as_diagnostics(found, lambda span: span)


def _older(branch: str, path: str, import_paths: list[str]) -> Program | None:
    try:
        with open_baseline(branch, [path], import_paths) as baseline:
            return check(baseline.files, baseline.import_paths).program if baseline.files else None
    except BaselineError:
        return None
