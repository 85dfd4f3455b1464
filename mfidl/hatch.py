"""F9. A build hook for hatchling: schemas become Python packages of the wheel.

    [build-system]
    requires = ["hatchling", "mfidl"]
    build-backend = "hatchling.build"

    [tool.hatch.build.hooks.mfidl]
    files = ["schemas/**/*.mfidl"]      # patterns, from the project's folder
    import-paths = ["schemas"]          # where schemas import each other from
    python-package = "acme.generated"   # optional: import everything below this package
    python-relative = true              # optional: generated code imports itself relatively
    out = "src"                         # optional: keep the code there, for editors and type checkers

The wheel gets the generated packages at its root, whatever else it selects; so does an editable install,
where they are as old as the last `pip install -e .`. With `python-package` inside a package of the project,
an editable install needs `out`. A source distribution carries the schemas alone.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

_TABLE = "tool.hatch.build.hooks.mfidl"
_KEYS = (
    "files",
    "import-paths",
    "python-package",
    "python-relative",
    "out",
    "dependencies",
    "enable-by-default",
)


class MfidlBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles before the wheel is made, and gives hatchling the files."""

    PLUGIN_NAME = "mfidl"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        out = self._out()
        generated = self._compile(out)
        included = {str(out / name): name for name in generated}
        if version != "editable":
            build_data["force_include"].update(included)
        elif not self._text(
            "out"
        ):  # kept code is found in the source tree, like all else that is installed so
            build_data["force_include_editable"].update(included)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()

    _temporary: "tempfile.TemporaryDirectory[str] | None" = None

    def _out(self) -> Path:
        chosen = self._text("out")
        if chosen:
            return Path(self.root, chosen)
        self._temporary = tempfile.TemporaryDirectory(prefix="mfidl-")
        return Path(self._temporary.name)

    def _compile(self, out: Path) -> list[str]:
        """The generated files, relative to `out`."""
        from mfidl.compiler import Targets, compile_files
        from mfidl.diagnostics.render import render_text

        # Banners name schemas as they are named here: from where the build runs, the project's folder.
        files = [os.path.relpath(path) for path in self._files()]
        folders = [os.path.relpath(Path(self.root, folder)) for folder in self._texts("import-paths")]
        targets = Targets(
            python=str(out),
            python_package=self._text("python-package"),
            is_relative=self._flag("python-relative"),
        )
        outcome = compile_files(files, folders, targets)
        if outcome.diagnostics:
            self.app.display_error(render_text(outcome.diagnostics, False))
        if outcome.program is None:
            self.app.abort("mfidl: the schemas have mistakes; nothing was built")
        made = [each for tree in outcome.trees for each in tree.files]
        theirs = self._selected() if any(not each.module for each in made) else set()
        return sorted({each.path for each in made if each.module or each.path not in theirs})

    def _selected(self) -> set[str]:
        """The files that the project itself puts into the wheel: its `__init__.py` above generated packages
        stays."""
        try:
            selected = self.build_config.builder.recurse_selected_project_files()
            return {each.distribution_path.replace(os.sep, "/") for each in selected}
        except ValueError:  # it selects nothing: the generated files are all
            return set()

    def _files(self) -> list[Path]:
        unknown = sorted(set(self.config) - set(_KEYS))
        if unknown:
            self._refuse(f"there is no option {unknown[0]}; there are {', '.join(_KEYS[:5])}")
        patterns = self._texts("files")
        if not patterns:
            self._refuse('name the schemas, for instance files = ["schemas/**/*.mfidl"]')
        found: dict[Path, None] = {}
        for pattern in patterns:
            matches = sorted(Path(self.root).glob(pattern))
            if not matches:
                self._refuse(f"files has {pattern!r}, and no schema matches it")
            found |= dict.fromkeys(matches)
        return list(found)

    def _text(self, key: str) -> str:
        value = self.config.get(key, "")
        if not isinstance(value, str):
            self._refuse(f"{key} is one text")
        return str(value)

    def _flag(self, key: str) -> bool:
        value = self.config.get(key, False)
        if not isinstance(value, bool):
            self._refuse(f"{key} is true or false")
        return bool(value)

    def _texts(self, key: str) -> list[str]:
        value = self.config.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self._refuse(f"{key} is a list of texts")
        return list(value)

    def _refuse(self, why: str) -> None:
        self.app.abort(f"{_TABLE}: {why}")


@hookimpl
def hatch_register_build_hook() -> type[MfidlBuildHook]:
    return MfidlBuildHook
