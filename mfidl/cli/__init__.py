"""F8. The command line: one small module per command, loaded only when it is the one that runs.

Exit codes: 0 all is well, 1 errors in a schema, 2 wrong use of the command line, 3 a file could not be read
or written.
"""

import sys


def main() -> None:
    """The entry point `mfidlc`. Answers --version before importing anything at all."""
    if sys.argv[1:] == ["--version"]:
        from mfidl import __version__

        print(f"mfidlc {__version__}")
        return
    from mfidl.cli.group import cli

    cli(prog_name="mfidlc")
