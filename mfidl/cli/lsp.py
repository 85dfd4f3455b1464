"""F8. `mfidlc lsp`"""

from pathlib import Path

import click


@click.command("lsp")
@click.option(
    "--import-path",
    "-I",
    "import_paths",
    metavar="DIR",
    multiple=True,
    help="Search imports here, after the folder of the importing file. May be repeated.",
)
@click.option("--stdio", is_flag=True, expose_value=False, help="There is no other way; some editors say so.")
def command(import_paths: tuple[str, ...]) -> None:
    """Serve one editor over standard input and output: the language server.

    Editors start it themselves; docs/editors.md has their settings. Needs pygls: pip install 'mfidl[lsp]'.
    """
    try:
        from mfidl.lsp.server import run
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in ("pygls", "lsprotocol", "attrs"):
            raise
        raise click.ClickException(
            f"the language server needs {missing.name}: pip install 'mfidl[lsp]'"
        ) from None
    run([str(Path(each).absolute()) for each in import_paths])
