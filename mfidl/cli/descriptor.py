"""F8. `mfidlc descriptor FILE... [--out FILE] [--format binary|json|text]`"""

import sys

import click

from mfidl.cli.common import finish, source_options


@click.command("descriptor")
@source_options
@click.option("--out", metavar="FILE", help="Write FILE instead of standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["binary", "json", "text"]),
    default="binary",
    help="binary: a protobuf message, mfidl.descriptor.Program; json and text: the same, to be read.",
)
def command(
    files: tuple[str, ...], import_paths: tuple[str, ...], color: str, out: str | None, form: str
) -> None:
    """Write the resolved program as a protobuf message, for tools of your own.

    It holds the schemas and all that they import: types, values, layouts, fingerprints, documentation. The
    message is described field by field in mfidl/descriptor/descriptor.proto, beside this program.
    """
    if out is None and form == "binary" and sys.stdout.isatty():
        raise click.UsageError("A binary descriptor is not for a terminal. Give --out FILE or --format text.")
    from mfidl.compiler import Exit, Outcome, check

    outcome = check(files, import_paths)
    if outcome.program is None or outcome.exit is not Exit.OK:
        finish(outcome, "text", color)
    assert outcome.program is not None
    from mfidl.descriptor.formats import formatted
    from mfidl.descriptor.write import to_message

    data = formatted(to_message(outcome.program), form)
    if out is None:
        sys.stdout.buffer.write(data)
        finish(outcome, "text", color)
    from mfidl.diagnostics import Diagnostics
    from mfidl.emit.write import write_file

    assert out is not None
    diagnostics = Diagnostics()
    if not write_file(out, data, diagnostics):
        outcome = Outcome(Exit.IO, [*outcome.diagnostics, *diagnostics.sorted()], None)
    finish(outcome, "text", color)
