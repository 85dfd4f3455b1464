"""F9. `import` of schemas, for notebooks and scripts:

    import mfidl.importer
    mfidl.importer.install(["schemas"])
    from sf1.search import IndexClient            # schemas/sf1/search.mfidl

The module `a.b` is the schema `a/b.mfidl` below one of the folders; its schemas import each other from there
too. It is compiled when it is imported, into `into` or else a folder of the cache, and only if it changed.
A schema with mistakes is an ImportError that shows them as mfidlc does. After an edit, `reload(sf1.search)`
gives the new module; objects of the old classes stay what they were.

A type checker does not run imports. Name a folder with `into=`, and name that to it: mypy_path, extraPaths.
"""

import contextlib
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

__all__ = ["Finder", "install", "reload"]


class Finder:
    """One entry of sys.meta_path: finds the modules that schemas below `folders` make."""

    def __init__(self, folders: Sequence[Path], into: Path | None) -> None:
        self.folders = tuple(folders)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.into = into or self._private()

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parts = name.split(".")
        made = self.into.joinpath(*parts)
        schema = self._schema(parts)
        if schema is not None:
            self._compile(schema, made, name)
            return PathFinder.find_spec(name, [str(made.parent)])
        folders = [path for path in self._folders(parts) if path.is_dir()]
        if not folders or PathFinder.find_spec(name, _path) is not None:
            return None
        if any(any(path.rglob("*.mfidl")) for path in folders):
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(made)]
            return spec
        return None

    def _private(self) -> Path:
        """A folder of the cache for these folders; without a cache one that ends with the finder."""
        from mfidl.cache import digest, folder
        from mfidl.private import make_folder

        cache = folder()
        if cache is not None:
            with contextlib.suppress(OSError):
                made = Path(cache, "import", digest("\0".join(map(str, self.folders)).encode()).hex())
                make_folder(str(made))
                return made
        self._temporary = tempfile.TemporaryDirectory(prefix="mfidl-")
        return Path(self._temporary.name)

    def _schema(self, parts: Sequence[str]) -> Path | None:
        """The first schema of this name. A module's name may have got underscores to become Python's."""
        names = ((folder, [*written[:-1], f"{written[-1]}.mfidl"]) for folder, written in self._ways(parts))
        candidates = (folder.joinpath(*written) for folder, written in names)
        return next((path for path in candidates if path.is_file()), None)

    def _folders(self, parts: Sequence[str]) -> list[Path]:
        return [folder.joinpath(*written) for folder, written in self._ways(parts)]

    def _ways(self, parts: Sequence[str]) -> Iterable[tuple[Path, list[str]]]:
        plain = [part.rstrip("_") or part for part in parts]
        for folder in self.folders:
            yield folder, list(parts)
            if plain != parts:
                yield folder, plain

    def _compile(self, schema: Path, made: Path, name: str) -> None:
        from mfidl.cache import recall

        path = os.path.relpath(schema)
        arguments = ("import", path, *map(str, self.folders), str(self.into))
        if recall(arguments, [str(self.into)]) is not None:
            return
        from mfidl.cli.remember import remember_run
        from mfidl.compiler import Targets, compile_files
        from mfidl.diagnostics.render import render_text
        from mfidl.emit.python.names import package_name

        targets = Targets(python=str(self.into))
        outcome = compile_files([path], [os.path.relpath(folder) for folder in self.folders], targets)
        if outcome.program is None:
            raise ImportError(f"\n{render_text(outcome.diagnostics, False)}", name=name, path=path)
        if not (made / "__init__.py").is_file():
            declared = outcome.program.requested[0].name
            imported = package_name(declared, "")
            message = (
                f"{path} declares `module {declared};`, which is imported as {imported}, not as {name}:"
                f" write `import {imported}`"
            )
            raise ImportError(message, name=name, path=path)
        # Python trusts bytecode by size and whole seconds; two edits may come within one.
        shutil.rmtree(made / "__pycache__", ignore_errors=True)
        importlib.invalidate_caches()
        remember_run(arguments, [path], targets, outcome, "text", "never")


def install(folders: Iterable[str | Path] = (".",), *, into: str | Path | None = None) -> Finder:
    """Let `import` find schemas below these folders, before other modules of the same name."""
    roots = [Path(folder).resolve() for folder in folders]
    for root in roots:
        if not root.is_dir():
            raise NotADirectoryError(f"mfidl.importer: {root} is not a folder with schemas")
    finder = Finder(roots, Path(into).resolve() if into is not None else None)
    sys.meta_path[:] = [each for each in sys.meta_path if not _same(each, finder)]
    sys.meta_path.insert(0, finder)
    return finder


def reload(module: ModuleType) -> ModuleType:
    """The module as its schema is now. Names bound by `from ... import` before keep the old classes."""
    below = module.__name__ + "."
    for name in [name for name in sys.modules if name == module.__name__ or name.startswith(below)]:
        del sys.modules[name]
    importlib.invalidate_caches()
    return importlib.import_module(module.__name__)


def _same(one: object, other: Finder) -> bool:
    return isinstance(one, Finder) and one.folders == other.folders
