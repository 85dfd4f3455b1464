"""F6. `--template DIR`: a folder of the user's own Jinja2 templates, rendered over the model.

Every `*.j2` below DIR gives a file of its name without `.j2`; those whose name, or folder, begins with an
underscore are there for `include`, `import` and `extends`. A name with a placeholder,
`{{ module.name }}.md.j2`, is rendered once for each requested module, with `module` in reach; any other once
for the program.

Templates run in Jinja2's sandbox: they read the model and change nothing.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mfidl import model
from mfidl.diagnostics import Diagnostics
from mfidl.emit.output import GeneratedFile
from mfidl.plugin import Templates
from mfidl.plugin.environment import environment, known_names
from mfidl.plugin.mistake import report_mistake
from mfidl.plugin.paths import Paths, bad_path
from mfidl.source import SourceFile, UnreadableSource, read_source

SUFFIX = ".j2"


@dataclass(frozen=True, slots=True)
class Rendered:
    """The files of a folder of templates, and the templates that were read."""

    files: list[GeneratedFile] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)


def render_folder(asked: Templates, program: model.Program, diagnostics: Diagnostics) -> Rendered:
    """All files; none, and errors among the diagnostics, if a template has a mistake."""
    sources = _read(asked.folder, diagnostics)
    if diagnostics:
        return Rendered()
    rendered = [name for name in sources if not any(part.startswith("_") for part in name.split("/"))]
    if not rendered:
        diagnostics.error("E0910", None, path=asked.folder)
        return Rendered()
    renderer = _Renderer(sources, program, diagnostics)
    for name in rendered:
        renderer.render(name)
    return Rendered(renderer.files, [each.path for each in sources.values()])


def _read(folder: str, diagnostics: Diagnostics) -> dict[str, SourceFile]:
    """All templates below the folder, in the order of their names."""
    found: dict[str, SourceFile] = {}

    def unreadable(error: OSError) -> None:
        path = str(error.filename or folder)
        diagnostics.error("E0001", None, path=path, reason=error.strerror or str(error))

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders.sort()
        for name in sorted(each for each in names if each.endswith(SUFFIX)):
            path = Path(parent, name)
            try:
                found[path.relative_to(folder).as_posix()] = read_source(str(path), str(path))
            except UnreadableSource as problem:
                diagnostics.error(problem.code, None, **problem.values)
    return dict(sorted(found.items()))


class _Renderer:
    def __init__(
        self, sources: Mapping[str, SourceFile], program: model.Program, diagnostics: Diagnostics
    ) -> None:
        self.files: list[GeneratedFile] = []
        self._environment = environment(sources)
        self._sources = sources
        self._program = program
        self._diagnostics = diagnostics
        self._paths = Paths()
        self._makers: dict[str, str] = {}

    def render(self, name: str) -> None:
        """The file or files of one template."""
        each_module = "{{" in name
        modules: Sequence[model.Module | None] = self._program.requested if each_module else (None,)
        for module in modules:
            variables: dict[str, object] = {"program": self._program}
            if module is not None:
                variables["module"] = module
            if not self._render(name, module, variables):
                return  # the next module would repeat the mistake

    def _render(self, name: str, module: model.Module | None, variables: Mapping[str, object]) -> bool:
        try:
            path = self._environment.from_string(name.removesuffix(SUFFIX)).render(variables)
            text = self._environment.get_template(name).render(variables)
        except (
            Exception
        ) as error:  # a template is the user's program: every exception of it is reported as its error
            known = known_names(self._environment)
            report_mistake(error, f"template `{name}`", self._sources, known, self._diagnostics)
            return False
        if path in self._paths:
            first = self._makers[path]
            self._diagnostics.error("E0005", None, path=path, first=first, second=name)
            return False
        problem = bad_path(path) or self._paths.clash(path)
        if problem is not None:
            message = f"the name of template `{name}` becomes `{path}`, which {problem}"
            self._diagnostics.error("E0909", None, message=message)
            return False
        self._makers[path] = name
        self.files.append(GeneratedFile(path, text, "" if module is None else module.name))
        return True
