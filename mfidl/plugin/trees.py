"""F6. The output of all external generators and templates of one run, and the files that they read."""

from collections.abc import Sequence

from mfidl import model
from mfidl.diagnostics import Diagnostics
from mfidl.emit.write import OutputTree
from mfidl.plugin import Generator, Templates


def foreign_trees(
    generators: Sequence[Generator],
    templates: Templates | None,
    program: model.Program,
    version: str,
    diagnostics: Diagnostics,
) -> tuple[list[OutputTree], list[str]]:
    """The trees, and the paths of programs and templates. Stops at the first that fails."""
    trees: list[OutputTree] = []
    inputs: list[str] = []
    for each in generators:
        from mfidl.plugin.run import generate  # imports protobuf

        trees.append(OutputTree(each.name, each.out, generate(each, program, version, diagnostics)))
        inputs.append(each.program)
        if diagnostics:
            return [], []
    if templates is not None:
        from mfidl.plugin.template import render_folder  # imports jinja2

        rendered = render_folder(templates, program, diagnostics)
        trees.append(OutputTree("template", templates.out, rendered.files))
        inputs += rendered.inputs
    return trees, inputs
