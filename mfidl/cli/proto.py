"""F8. `mfidlc proto FILE... [--out DIR]`"""

import click

from mfidl.cli.common import finish, schema_options


@click.command("proto")
@schema_options
@click.option("--out", metavar="DIR", help="Write a .proto file for each module below this folder.")
def command(
    files: tuple[str, ...], import_paths: tuple[str, ...], style: str, color: str, out: str | None
) -> None:
    """Print the proto2 files whose messages the archive tier's bytes are.

    On standard output, one behind the other, unless --out names a folder. What is imported is printed too.
    """
    from mfidl import __version__
    from mfidl.compiler import Exit, Outcome, check
    from mfidl.diagnostics import Diagnostics
    from mfidl.emit import proto
    from mfidl.emit.output import EmitOptions
    from mfidl.emit.write import OutputTree, write_trees

    outcome = check(files, import_paths)
    if outcome.program is None:
        finish(outcome, style, color)
    assert outcome.program is not None
    made = proto.generate(outcome.program, EmitOptions(compiler_version=__version__))
    if not any("message " in each.text for each in made):
        click.echo("mfidlc: none of these modules has a type of the tier archive", err=True)
    if out is None:
        click.echo("\n".join(each.text for each in made), nl=False)
        finish(outcome, "text", color)
    diagnostics = Diagnostics()
    assert out is not None
    write_trees([OutputTree("proto", out, made)], [each.module for each in made], diagnostics)
    if diagnostics:
        outcome = Outcome(Exit.IO, diagnostics.sorted(), None, outcome.sources)
    finish(outcome, style, color)
