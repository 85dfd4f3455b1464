"""F8. `mfidlc doc FILE... --out DIR`"""

import click

from mfidl.cli.common import finish, schema_options


@click.command("doc")
@schema_options
@click.option("--out", metavar="DIR", required=True, help="Write the pages below this folder.")
def command(files: tuple[str, ...], import_paths: tuple[str, ...], style: str, color: str, out: str) -> None:
    """Write one HTML page per module, complete in itself, and an index page of several.

    Imported modules are linked only where they are named as FILE too.
    """
    from dataclasses import replace

    from mfidl.compiler import Exit, check

    outcome = check(files, import_paths)
    if outcome.program is None or outcome.exit:
        finish(outcome, style, color)
    assert outcome.program is not None
    from mfidl.diagnostics import Diagnostics
    from mfidl.doc import generate
    from mfidl.emit.write import OutputTree, write_trees

    diagnostics = Diagnostics()
    tree = OutputTree("doc", out, generate(outcome.program))
    names = [module.name for module in outcome.program.requested]
    write_trees([tree], names, diagnostics)  # compares first: unchanged pages keep their times
    told = [*outcome.diagnostics, *diagnostics.sorted()]
    finish(replace(outcome, exit=Exit.IO if diagnostics else Exit.OK, diagnostics=told), style, color)
