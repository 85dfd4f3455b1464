"""F8. `mfidlc check FILE...`"""

import click

from mfidl.cli.common import finish, schema_options


@click.command("check")
@schema_options
def command(files: tuple[str, ...], import_paths: tuple[str, ...], style: str, color: str) -> None:
    """Look for mistakes in schemas and all that they import; write nothing."""
    from mfidl.compiler import check

    finish(check(files, import_paths), style, color)
