"""F4. From the files of the command line to the closure of parsed modules, imported before importing.

Finds imports in the folder of the importing file and then in each import path. A file is known by its real
path, so it is read once however it is named. Reads and parses through `Sources` only.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mfidl.diagnostics import Diagnostics, Note
from mfidl.diagnostics.suggest import nearest
from mfidl.source import (
    Span,
    UnreadableSource,
    decode_source,
    described,
    first_unprintable,
    read_source,
)
from mfidl.syntax import ast
from mfidl.syntax.parser import parse

IMPORT_DEPTH_LIMIT = 100


@dataclass(slots=True, eq=False)
class LoadedModule:
    """A parsed file and what it imports. `imports` has None where the import failed and was reported."""

    name: str
    path: str
    file: ast.File
    requested: bool
    imports: list[tuple[ast.ImportDecl, "LoadedModule | None"]] = field(default_factory=list)

    @property
    def declaration(self) -> ast.ModuleDecl | None:
        return next((each for each in self.file.declarations if isinstance(each, ast.ModuleDecl)), None)


class Sources:
    """Where a loader finds its files: on disk."""

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def entries(self, folder: str) -> list[str]:
        """The names in a folder, for suggestions; none where it cannot be read."""
        try:
            return os.listdir(folder)
        except OSError:
            return []

    def parsed(self, path: str, name: str, diagnostics: Diagnostics) -> ast.File:
        """The tree of a file, its errors reported; raises UnreadableSource."""
        return parse(read_source(path, name), diagnostics)


class Texts(Sources):
    """Files in memory, by their paths: nothing is read from disk."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def is_file(self, path: str) -> bool:
        return path in self._texts

    def entries(self, folder: str) -> list[str]:
        plain = os.path.normpath(folder)
        below = "" if plain == "." else f"{plain}/"
        inside = [path.removeprefix(below) for path in self._texts if path.startswith(below)]
        return sorted({path.partition("/")[0] for path in inside})

    def parsed(self, path: str, name: str, diagnostics: Diagnostics) -> ast.File:
        return parse(decode_source(self._texts[path].encode(), path, name), diagnostics)


class Loader:
    """Loads the closure of a set of files. One per run; `modules` is in dependency order."""

    def __init__(
        self, import_paths: Sequence[str], diagnostics: Diagnostics, sources: Sources | None = None
    ) -> None:
        self.modules: list[LoadedModule] = []
        self.unreadable = False
        self.absent: list[str] = []  # where imports were looked for in vain
        self._import_paths = list(import_paths)
        self._diagnostics = diagnostics
        self._sources = sources or Sources()
        self._by_real_path: dict[str, LoadedModule | None] = {}
        self._by_name: dict[str, LoadedModule] = {}
        self._open: list[LoadedModule] = []

    def load(self, paths: Sequence[str]) -> list[LoadedModule]:
        """All modules needed for the given files; what cannot be loaded is reported."""
        requested = {os.path.realpath(path) for path in paths}
        for path in paths:
            if os.path.realpath(path) not in self._by_real_path:
                self._load_file(path, path, self._module_path(path), requested, None)
        return self.modules

    def _module_path(self, path: str) -> str:
        """How a file of the command line would be imported: below an import path, or else its bare name."""
        real = os.path.realpath(path)
        for folder in self._import_paths:
            root = os.path.realpath(folder)
            if real.startswith(root + os.sep):
                return os.path.relpath(real, root).replace(os.sep, "/")
        return os.path.basename(path)

    def _load_file(
        self, path: str, name: str, module_path: str, requested: set[str], importer: Span | None
    ) -> LoadedModule | None:
        real = os.path.realpath(path)
        self._by_real_path[real] = None
        try:
            _check_name(module_path, path)
            file = self._sources.parsed(path, name, self._diagnostics)
        except UnreadableSource as problem:
            self.unreadable = self.unreadable or problem.code == "E0001"
            self._diagnostics.error(problem.code, importer, **problem.values)
            return None
        module = self._module_of(file, module_path, real in requested)
        self._by_real_path[real] = module
        self._open.append(module)
        self._follow_imports(module, requested)
        self._open.pop()
        self.modules.append(module)
        return module

    def _module_of(self, file: ast.File, module_path: str, requested: bool) -> LoadedModule:
        module = LoadedModule("", module_path, file, requested)
        declared = module.declaration
        self._check_module_lines(module, declared)
        if declared is None:
            module.name = os.path.basename(module_path).removesuffix(".mfidl")
            return module
        module.name = declared.path.text
        first = self._by_name.setdefault(module.name, module)
        if first is not module and first.declaration is not None:
            notes = [Note("the other file", first.declaration.path.span)]
            self._diagnostics.error("E0205", declared.path.span, notes=notes, name=module.name)
        return module

    def _check_module_lines(self, module: LoadedModule, declared: ast.ModuleDecl | None) -> None:
        declarations = module.file.declarations
        if declared is None:
            if not (module.file.lost_declarations or module.file.broken_names):
                start = declarations[0].span if declarations else Span(module.file.source, 0, 0)
                spot = Span(start.file, start.start, start.start)
                self._diagnostics.error("E0201", spot, help="begin the file with `module name;`")
            return
        if declarations[0] is not declared:
            self._diagnostics.error("E0202", declared.span, problem="`module` comes before everything else")
        for extra in declarations:
            if isinstance(extra, ast.ModuleDecl) and extra is not declared:
                notes = [Note("first here", declared.span)]
                self._diagnostics.error("E0202", extra.span, notes=notes, problem="a file is one module")

    def _follow_imports(self, module: LoadedModule, requested: set[str]) -> None:
        for declaration in module.file.declarations:
            if isinstance(declaration, ast.ImportDecl):
                module.imports.append((declaration, self._import(module, declaration, requested)))

    def _import(
        self, module: LoadedModule, declaration: ast.ImportDecl, requested: set[str]
    ) -> LoadedModule | None:
        span = declaration.target.span
        target = declaration.target.data.decode("utf-8", "replace")
        if (
            not target
            or "\0" in target
            or "\\" in target
            or target.startswith("/")
            or ".." in target.split("/")
        ):
            self._diagnostics.error("E0207", span)
            return None
        found = self._find(module, target)
        if found is None:
            self._not_found(module, target, span)
            return None
        path, module_path = found
        real = os.path.realpath(path)
        if real in self._by_real_path:
            known = self._by_real_path[real]
            if known is not None and known in self._open:
                self._cycle(known, span)
                return None
            return known
        if len(self._open) >= IMPORT_DEPTH_LIMIT:
            self._diagnostics.error("E0108", span, limit=IMPORT_DEPTH_LIMIT)
            return None
        return self._load_file(path, path, module_path, requested, span)

    def _folders(self, module: LoadedModule) -> list[str]:
        return [os.path.dirname(module.file.source.path), *self._import_paths]

    def _find(self, module: LoadedModule, target: str) -> tuple[str, str] | None:
        """(file to open, path by which the module is known)."""
        for folder in self._folders(module):
            path = os.path.normpath(os.path.join(folder, target))
            if self._sources.is_file(path):
                below_import_path = self._module_path(path)
                beside = os.path.join(os.path.dirname(module.path), target)
                known = below_import_path if "/" in below_import_path else os.path.normpath(beside)
                return path, target if folder in self._import_paths else known
            self.absent.append(path)
        return None

    def _not_found(self, module: LoadedModule, target: str, span: Span) -> None:
        folders = [folder or "." for folder in dict.fromkeys(self._folders(module))]
        looked = Note("searched in " + ", ".join(f"`{folder}`" for folder in folders))
        hint = next(filter(None, (self._near_file(folder, target) for folder in folders)), None)
        fix = None if hint is None else f'"{hint}"'
        if hint is not None:
            hint = f"did you mean `{hint}`?"
        elif not target.endswith(".mfidl"):
            hint = "schemas are files whose names end with `.mfidl`"
        self._diagnostics.error("E0203", span, notes=[looked], help=hint, fix=fix, path=target)

    def _near_file(self, folder: str, target: str) -> str | None:
        """The path below a folder that may have been meant: each part exists, or resembles one that does."""
        found: list[str] = []
        for part in target.split("/"):
            entries = self._sources.entries(os.path.join(folder, *found))
            if part in entries:
                near: str | None = part
            else:
                near = f"{part}.mfidl" if f"{part}.mfidl" in entries else nearest(part, entries)
            if near is None:
                return None
            found.append(near)
        path = "/".join(found)
        return path if path.endswith(".mfidl") and path != target else None

    def _cycle(self, known: LoadedModule, span: Span) -> None:
        names = [each.name for each in self._open[self._open.index(known) :]]
        notes = []
        for importing, imported in zip(self._open[self._open.index(known) :], names[1:], strict=False):
            pending = [each for each in importing.file.declarations if isinstance(each, ast.ImportDecl)]
            last = pending[len(importing.imports)]
            notes.append(Note(f"`{importing.name}` imports `{imported}` here", last.target.span))
        self._diagnostics.error("E0204", span, notes=notes, cycle=" -> ".join([*names, names[0]]))


def _check_name(module_path: str, path: str) -> None:
    """Refuses file names that are not text of one line, read from left to right: they are written into
    banners, documents, descriptors and depfiles.
    """
    try:
        module_path.encode("utf-8")
    except UnicodeEncodeError:
        raise UnreadableSource("E0001", path=path, reason="its name is not UTF-8") from None
    for name in (module_path, path):
        character = first_unprintable(name)
        if character is not None:
            reason = f"its name holds U+{ord(character):04X}, {described(character)}"
            raise UnreadableSource("E0001", path=path, reason=reason)
