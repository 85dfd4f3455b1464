"""The folders of the editor, where imports are searched, and analyses of one file and of all.

Imports are searched beside the importing file, in the import paths of the settings, in the folder that the
name of the file's module implies (`sf1.search` in schemas/sf1/search.mfidl: schemas), and in the folders
from there up to the root of the workspace.
"""

import gc
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from mfidl import model
from mfidl.compiler import Analysis, analyse
from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.explain import Explainer, Types
from mfidl.lint import Settings, SettingsError, read_settings
from mfidl.lint.run import findings
from mfidl.lsp.store import KEPT_CHARACTERS, Store
from mfidl.lsp.text import Lines
from mfidl.semantics.loading import LoadedModule
from mfidl.semantics.symbols import Scope
from mfidl.semantics.uses import Use, uses
from mfidl.source import SIZE_LIMIT, SourceFile, UnreadableSource
from mfidl.syntax import ast

FILES_LIMIT = 10_000  # of all roots
BYTES_LIMIT = KEPT_CHARACTERS  # of their texts
_FACTS_KEPT = 8
_SKIPPED = frozenset(("node_modules", "__pycache__"))
_SETTINGS = "mfidl.toml"


@dataclass(eq=False)
class Facts:
    """What a valid program says of its types: taken from the last one where the present text is not valid."""

    program: model.Program
    explainers: dict[str, Explainer] = field(default_factory=dict)

    @cached_property
    def types(self) -> Types:
        return Types(self.program)

    def explainer(self, module: str) -> Explainer | None:
        """None: a module that the valid program did not have."""
        if module not in self.explainers:
            found = next((each for each in self.program.modules if each.name == module), None)
            if found is None:
                return None
            self.explainers[module] = Explainer(self.types, found)
        return self.explainers[module]


@dataclass(eq=False)
class Snapshot:
    """One analysis of one file, at one version of its text."""

    path: str
    version: int
    lines: Lines
    analysis: Analysis
    module: LoadedModule | None  # None: the file could not be read
    diagnostics: list[Diagnostic]
    facts: Facts | None
    encoding: str
    _lines: dict[int, Lines] = field(default_factory=dict)

    @property
    def file(self) -> ast.File | None:
        return None if self.module is None else self.module.file

    @property
    def is_valid(self) -> bool:
        return self.analysis.program is not None and not self.analysis.diagnostics

    @cached_property
    def scope(self) -> Scope | None:
        return next((each for each in self.analysis.context.scopes if each.module is self.module), None)

    @cached_property
    def uses(self) -> list[Use]:
        """Of all files that the analysis has."""
        return uses(self.analysis.context)

    @cached_property
    def own_uses(self) -> list[Use]:
        """Of its own file, in order."""
        if self.module is None:
            return []
        found = uses(self.analysis.context, self.module.file.source)
        return sorted(found, key=lambda each: each.span.start)

    def lines_of(self, source: SourceFile) -> Lines:
        """Of any file of the analysis."""
        if self.module is not None and source is self.module.file.source:
            return self.lines
        known = self._lines.get(id(source))
        if known is None:
            known = self._lines[id(source)] = Lines(source.text, self.encoding)
        return known


class Workspace:
    """One per server; the worker's."""

    def __init__(self, store: Store, encoding: str = "utf-16") -> None:
        self.store = store
        self.encoding = encoding
        self.roots: list[str] = []
        self.import_paths: list[str] = []
        self._facts: dict[str, Facts] = {}
        self._files: list[str] | None = None
        self._whole: dict[str, tuple[object, Analysis]] = {}
        self._uses: tuple[Analysis, list[Use]] | None = None  # of the last one that was asked for
        self._changes = 0

    def forget_files(self) -> None:
        """To be called when files came or went."""
        self._files = None

    def changed(self) -> None:
        """To be called when any text changed: an analysis of all files no longer holds."""
        self._changes += 1

    def closed(self, path: str) -> None:
        self._facts.pop(path, None)

    # One file -----------------------------------------------------------------------------------------------

    def snapshot(
        self, path: str, version: int, text: str | None, is_wanted: Callable[[], bool] = lambda: True
    ) -> Snapshot | None:
        """`text` None: as it is on disk. None is the answer when it is no longer wanted. No garbage is
        collected meanwhile: an analysis makes a million objects, and hardly any garbage.
        """
        collecting = gc.isenabled()
        gc.disable()
        try:
            return self._snapshot(path, version, text, is_wanted)
        finally:
            if collecting:
                gc.enable()

    def _snapshot(
        self, path: str, version: int, text: str | None, is_wanted: Callable[[], bool]
    ) -> Snapshot | None:
        analysis = analyse([path], self.searched(path), self.store)
        module = next((each for each in analysis.modules if each.requested), None)
        if not is_wanted():
            return None
        found = analysis.diagnostics.sorted()
        program = analysis.program
        if program is not None and not analysis.diagnostics:
            self._facts.pop(path, None)
            self._facts[path] = Facts(program)
            while len(self._facts) > _FACTS_KEPT:
                del self._facts[next(iter(self._facts))]
            found += self._lint(path, analysis, program)
        if text is None:
            text = "" if module is None else module.file.source.text
        lines = Lines(text, self.encoding)
        return Snapshot(path, version, lines, analysis, module, found, self._facts.get(path), self.encoding)

    def _lint(self, path: str, analysis: Analysis, program: model.Program) -> list[Diagnostic]:
        settings = self._settings(path)
        return [] if settings is None else findings(analysis.modules, program, settings)

    def _settings(self, path: str) -> Settings | None:
        """Of the nearest mfidl.toml between the file and its root; None if that is not valid."""
        for folder in self._up(path):
            try:
                with open(os.path.join(folder, _SETTINGS), encoding="utf-8") as stream:
                    return read_settings(stream.read(SIZE_LIMIT), _SETTINGS)
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError, SettingsError, tomllib.TOMLDecodeError):
                return None
        return Settings()

    def searched(self, path: str) -> list[str]:
        """Where the imports of a file are searched, after its own folder."""
        implied = self._implied(path)
        above = [*self._up(path)][::-1]
        return list(dict.fromkeys((*self.import_paths, *implied, *above)))

    def _up(self, path: str) -> Iterator[str]:
        """The folder of a file and those above it, up to the root that it is in."""
        folder = os.path.dirname(path)
        root = self.root_of(path)
        yield folder
        while root is not None and folder != root and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
            yield folder

    def root_of(self, path: str) -> str | None:
        """The innermost root that has the file."""
        holding = [root for root in self.roots if path.startswith(root.rstrip(os.sep) + os.sep)]
        return max(holding, key=len, default=None)

    def _module_name(self, path: str) -> str | None:
        """As the file declares it."""
        try:
            file = self.store.parsed(path, path, Diagnostics())
        except UnreadableSource:
            return None
        declared = next((each for each in file.declarations if isinstance(each, ast.ModuleDecl)), None)
        return None if declared is None else declared.path.text

    def _implied(self, path: str) -> list[str]:
        """The folder from which a file is imported by the name of its module."""
        name = self._module_name(path)
        if name is None:
            return []
        below = os.sep + name.replace(".", os.sep) + ".mfidl"
        return [path.removesuffix(below) or os.sep] if path.endswith(below) else []

    def importable(self, path: str, name: str) -> list[str]:
        """What a file would write to import a module of that name, full or its last part, by where imports
        are searched.
        """
        last = name.rpartition(".")[2]
        searched = [os.path.dirname(path), *self.searched(path)]
        found: dict[str, None] = {}
        for each in self.files():
            declared = self._module_name(each) if os.path.basename(each) == f"{last}.mfidl" else None
            if declared is None or each == path or not f".{declared}".endswith(f".{name}"):
                continue
            targets = [each.removeprefix(folder.rstrip(os.sep) + os.sep) for folder in searched]
            shorter = [target for target in targets if target != each]
            implied = declared.replace(".", "/") + ".mfidl"
            if shorter:
                found[implied if implied in shorter else min(shorter, key=len)] = None
        return list(found)

    # All files ----------------------------------------------------------------------------------------------

    def files(self) -> list[str]:
        """The schemas below the roots, as many as the limits allow; links to folders are not followed."""
        if self._files is None:
            found: dict[str, None] = {}
            room = BYTES_LIMIT
            for path, size in chain.from_iterable(map(_schemas, self.roots)):
                room -= size if path not in found else 0
                if len(found) >= FILES_LIMIT or room < 0:
                    break
                found[path] = None
            self._files = list(found)
        opened = [entry[0].path for entry in self.store.documents.values()]
        return list(dict.fromkeys((*self._files, *opened)))

    def whole(self) -> Iterator[Analysis]:
        """An analysis of the files of each root, and of those that are in none."""
        groups: dict[str, list[str]] = {}
        for path in self.files():
            groups.setdefault(self.root_of(path) or "", []).append(path)
        for root, paths in groups.items():
            key = (self._changes, tuple(paths), tuple(self.import_paths))
            known = self._whole.get(root)
            if known is None or known[0] != key:
                searched = dict.fromkeys(self.import_paths)
                for path in paths:
                    searched.update(dict.fromkeys(self._implied(path)))
                searched[root or os.sep] = None
                known = key, analyse(paths, list(searched), self.store)
                self._whole = {root: known}  # of one root at a time: memory is bounded
            yield known[1]

    def uses_of(self, analysis: Analysis) -> list[Use]:
        if self._uses is None or self._uses[0] is not analysis:
            self._uses = analysis, uses(analysis.context)
        return self._uses[1]


def _schemas(root: str) -> Iterator[tuple[str, int]]:
    """With their sizes."""
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(each for each in inner if not each.startswith(".") and each not in _SKIPPED)
        for path in (os.path.join(folder, each) for each in sorted(names) if each.endswith(".mfidl")):
            with suppress(OSError):  # a link that leads nowhere
                yield path, os.stat(path).st_size
