"""F8. `mfidlc import FILE... [--out DIR]`"""

import click

from mfidl.cli.common import finish, schema_options


@click.command("import")
@schema_options
@click.option("--out", metavar="DIR", help="Write a schema for each file below this folder.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace schemas below DIR that were edited since they were imported, or that were not imported.",
)
@click.option(
    "--protoc", metavar="PATH", help="The protoc to run; the one of PATH, or of grpcio-tools, if not given."
)
@click.option(
    "--protoc-timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True, max=86400),
    help="Time that protoc has; if not given, a minute and a tenth of a second for each file.",
)
@click.option("--archive", is_flag=True, help="Messages of .proto files keep their bytes: tier archive.")
def command(
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    style: str,
    color: str,
    out: str | None,
    overwrite: bool,
    protoc: str | None,
    protoc_timeout: float | None,
    archive: bool,
) -> None:
    """Turn interfaces of others, .proto, .thrift and Slice (.ice), into schemas.

    On standard output, one behind the other, unless --out names a folder; what a file includes is turned too.
    A warning reports each thing that has no equivalent here. What is written compiles, and replaces no schema
    that was edited. docs/import.md describes how everything else is mapped.
    """
    from mfidl.compiler import Exit, Outcome
    from mfidl.diagnostics import Diagnostics
    from mfidl.emit.output import GeneratedFile
    from mfidl.emit.write import OutputTree, write_trees
    from mfidl.foreign import Options, import_files

    result = import_files(files, Options(import_paths, protoc, protoc_timeout, archive))
    if result.failed:
        unusable = any(each.code in ("E0001", "E1001") for each in result.diagnostics)
        finish(Outcome(Exit.IO if unusable else Exit.SCHEMA, result.diagnostics, None), style, color)
    if out is None:
        click.echo("\n".join(each.text for each in result.schemas), nl=False)
        finish(Outcome(Exit.OK, result.diagnostics, None), "text", color)
    assert out is not None
    diagnostics = Diagnostics()
    made = result.schemas
    tree = OutputTree(
        "import", out, [GeneratedFile(each.path, each.text, each.module) for each in made], True
    )
    done = write_trees([tree], [each.module for each in made], diagnostics, overwrite)
    messages = [*result.diagnostics, *diagnostics.sorted()]
    finish(Outcome(Exit.OK if done else Exit.IO, messages, None), style, color)
