"""F7. A starting project: a schema, and a server and a client in each language, which build and run
unchanged. Writes new files only, all or none.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from mfidl import __version__
from mfidl.emit.naming import CPP_RESERVED, PYTHON_KEYWORDS, PYTHON_RESERVED
from mfidl.emit.render import render

__all__ = ["LANGUAGES", "RefusedError", "project", "suggested_name", "why_not", "write"]

LANGUAGES = {"cpp": ("cpp",), "python": ("python",), "both": ("cpp", "python")}
_OURS = frozenset({"mf", "mfidl", "std", "server", "client"})
_EVERY = {"README.md": "README.md", ".gitignore": "gitignore"}
_OF = {
    "cpp": ("CMakeLists.txt", "cpp/server.cpp", "cpp/client.cpp"),
    "python": ("pyproject.toml", "python/server.py", "python/client.py"),
}


class RefusedError(Exception):
    """Nothing was written; the text says why and what to do."""


def suggested_name(folder: Path) -> str:
    """A name for the project in this folder, made of the folder's own; "" if nothing comes of it."""
    words = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    return re.sub(r"^[0-9_]+", "", words)


def why_not(name: str) -> str | None:
    """Why a schema's module, and so a C++ namespace and a Python package, cannot have this name."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or "__" in name or name.endswith("_"):
        return "a name is small letters, digits and single underscores, and begins with a letter"
    reserved = CPP_RESERVED | PYTHON_KEYWORDS | PYTHON_RESERVED | sys.stdlib_module_names | _OURS
    return "it already means something in C++ or in Python" if name in reserved else None


def project(name: str, languages: Sequence[str]) -> dict[str, str]:
    """The files of a project, by their paths below its folder."""
    values = {
        "name": name,
        "distribution": name.replace("_", "-"),
        "version": ".".join(__version__.split(".")[:2]),
        "cpp": "cpp" in languages,
        "python": "python" in languages,
    }
    templates = {f"schema/{name}.mfidl": "schema.mfidl", **_EVERY}
    for language in languages:
        for path in _OF[language]:
            templates[path] = f"{language}/{path.removeprefix(f'{language}/')}"
    return {path: render(f"init/{template}.j2", **values) for path, template in templates.items()}


def write(folder: Path, files: dict[str, str]) -> None:
    """Writes all files; or none, and raises RefusedError: one is there already, or cannot be written."""
    there = [path for path in files if os.path.lexists(folder / path)]
    if there:
        raise RefusedError(
            f"{folder} has {', '.join(there)} already; choose another folder, or move them away"
        )
    made: list[Path] = []
    try:
        for path, text in files.items():
            _make_folders((folder / path).parent, made)
            with (folder / path).open("x", encoding="utf-8", newline="\n") as stream:
                made.append(folder / path)
                stream.write(text)
    except OSError as error:
        for each in reversed(made):
            each.rmdir() if each.is_dir() else each.unlink()
        raise RefusedError(f"cannot write {error.filename or folder}: {error.strerror}") from None


def _make_folders(folder: Path, made: list[Path]) -> None:
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            each.mkdir()
            made.append(each)
