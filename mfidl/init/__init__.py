"""F7. A starting project: a schema, and a server, a client and a test in each language, which build and run
unchanged. Writes new files only, all or none, beside what a project has already.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from mfidl import __version__
from mfidl.emit.installed import installed_header, installed_package
from mfidl.emit.naming import CPP_RESERVED, PYTHON_KEYWORDS, PYTHON_RESERVED
from mfidl.emit.render import render

__all__ = ["Project", "RefusedError", "suggested_name", "why_not", "write"]

_OURS = frozenset({"mf", "mfidl", "std", "server", "client", "greeter", "test_greeter", "test"})
_DISTRIBUTIONS = frozenset({"mf-runtime", "mf-runtime-native", "mf-controller", "mfidl-tools"})
_OF = {
    "cpp": ("cpp/greeter.hpp", "cpp/server.cpp", "cpp/client.cpp", "cpp/test.cpp"),
    "python": ("python/greeter.py", "python/server.py", "python/client.py", "python/test_greeter.py"),
}
_BACKEND = re.compile(r"^\s*build-backend\s*=\s*[\"']([\w.:]+)", re.MULTILINE)


class RefusedError(Exception):
    """Nothing was written; the text says why and what to do."""


def suggested_name(folder: Path) -> str:
    """A name for the project in this folder, made of the folder's own; "" if nothing comes of it."""
    words = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    return re.sub(r"^[0-9_]+", "", words)


def why_not(name: str, folder: Path) -> str | None:
    """Why a schema's module, and so a C++ namespace and a Python package of a project in this folder, cannot
    have this name.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or "__" in name or name.endswith("_"):
        return "a name is small letters, digits and single underscores, and begins with a letter"
    reserved = CPP_RESERVED | PYTHON_KEYWORDS | PYTHON_RESERVED | sys.stdlib_module_names | _OURS
    if name in reserved:
        return "it already means something in C++ or in Python"
    if name.replace("_", "-") in _DISTRIBUTIONS:
        return "a distribution of MF/IDL has that name, and pip would install one in place of the other"
    own = next((path for path in (f"src/{name}", name) if (folder / path / "__init__.py").exists()), None)
    if own is not None:
        return f"the project has a package of this name in {own}, which the generated one would hide"
    found = installed_package(name) or installed_header(f"{name}.hpp")
    return None if found is None else f"{found.owner} has that name already, and would hide it or be hidden"


class Project:
    """What `init` writes into a folder, and what it leaves to the project that is there already.

    That project keeps its build files, README.md and .gitignore: `to_add` says which lines they need.
    """

    def __init__(self, folder: Path, name: str, languages: Sequence[str]) -> None:
        self._folder = folder
        self._name = name
        self._languages = languages
        schema = f"schema/{name}.mfidl"
        self.readme = "schema/README.md" if self._has("README.md") else "README.md"
        self._values = {
            "name": name,
            "distribution": name.replace("_", "-"),
            "version": ".".join(__version__.split(".")[:2]),
            "cpp": "cpp" in languages,
            "python": "python" in languages,
            "schema": f"{name}.mfidl" if self.readme != "README.md" else schema,
            "installed": self._installed(),
        }
        self.files = {schema: self._text("schema.mfidl"), self.readme: self._text("README.md")}
        self.to_add: list[tuple[str, list[str]]] = []
        self._own(".gitignore", "gitignore")
        if "cpp" in languages:
            self._cpp()
        if "python" in languages:
            self._python()
        for language in languages:
            for path in _OF[language]:
                self.files[path] = self._text(f"{language}/{path.removeprefix(f'{language}/')}")

    @property
    def commands(self) -> list[str]:
        """What to type to build, test and run the project; README.md says the same."""
        lines = []
        if "cpp" in self._languages:
            lines += ["cmake -B build && cmake --build build && ctest --test-dir build"]
            lines += [f"build/{self._name}_server & build/{self._name}_client Ada; kill %%"]
        if "python" in self._languages:
            lines += ["python3 -m venv .venv && . .venv/bin/activate"]
            lines += [self._installed(), "pytest python"]
            lines += ["python python/server.py & python python/client.py Ada; kill %%"]
        return lines

    def _has(self, path: str) -> bool:
        return os.path.lexists(self._folder / path)

    def _text(self, template: str) -> str:
        return render(f"init/{template}.j2", **self._values)

    def _own(self, path: str, template: str) -> None:
        """A file of the project's own, of which this one needs all lines."""
        if self._has(path):
            self.to_add.append((f"Add to {path}", self._text(template).split("\n")[:-1]))
        else:
            self.files[path] = self._text(template)

    def _cpp(self) -> None:
        if not self._has("CMakeLists.txt"):
            self.files["CMakeLists.txt"] = self._text("cpp/CMakeLists.txt")
            return
        included = f"cmake/{self._name}.cmake"
        self.files[included] = self._text("cpp/stubs.cmake")
        self.to_add.append(("Add to CMakeLists.txt", ["enable_testing()", f"include({included})"]))

    def _python(self) -> None:
        if not self._has("pyproject.toml"):
            self.files["pyproject.toml"] = self._text("python/pyproject.toml")
        elif self._backend() == "hatchling.build":
            self.to_add.append(("Add to pyproject.toml", self._text("python/hatch.toml").split("\n")[:-1]))
        else:
            self.to_add.append(("Add to pyproject.toml", self._text("python/other.toml").split("\n")[:-1]))
            self.to_add.append(
                ("Before the project is built, and after each edit of the schema", [self._generate()])
            )

    def _backend(self) -> str:
        """The build backend that pyproject.toml names, if it has a line for it."""
        try:
            found = _BACKEND.search((self._folder / "pyproject.toml").read_text(encoding="utf-8"))
        except (OSError, UnicodeError):
            return ""
        return found.group(1) if found else ""

    def _generate(self) -> str:
        """The command for build backends without a hook: generated packages beside the project's own."""
        return f"mfidlc compile --python {'src' if self._has('src') else '.'} schema/{self._name}.mfidl"

    def _installed(self) -> str:
        return "pip install . pytest" if self._has("pyproject.toml") else "pip install '.[test]'"


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
