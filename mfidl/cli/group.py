"""F8. The group of commands, which imports a command's module on demand."""

from importlib import import_module

import click

from mfidl import __version__

_COMMANDS = {
    "annotate": "mfidl.cli.annotate",
    "decode": "mfidl.cli.decode",
    "encode": "mfidl.cli.encode",
    "vectors": "mfidl.cli.vectors",
    "doc": "mfidl.cli.doc",
    "explain": "mfidl.cli.explain",
    "proto": "mfidl.cli.proto",
    "breaking": "mfidl.cli.breaking",
    "check": "mfidl.cli.check",
    "compile": "mfidl.cli.compile",
    "descriptor": "mfidl.cli.descriptor",
    "fmt": "mfidl.cli.fmt",
    "help": "mfidl.cli.help",
    "import": "mfidl.cli.import_",
    "init": "mfidl.cli.init",
    "lint": "mfidl.cli.lint",
    "lsp": "mfidl.cli.lsp",
    "migrate": "mfidl.cli.migrate",
    "serve": "mfidl.cli.serve",
    "show": "mfidl.cli.show",
}
_HELP = {
    "annotate": "Label every byte of a value.",
    "decode": "Bytes of a value to JSON.",
    "encode": "A value as JSON to its bytes.",
    "vectors": "Write golden values and their bytes.",
    "doc": "Write documentation: one HTML page per module.",
    "lsp": "Serve an editor: completion, hover, diagnostics.",
    "lint": "Look for what a schema may say, but better should not.",
    "explain": "Show tiers with reasons, layouts, bytes on the wire.",
    "proto": "Print proto2 files for the archive tier.",
    "breaking": "Show what a change of schemas breaks.",
    "check": "Look for mistakes in schemas; write nothing.",
    "compile": "Generate C++ and Python from schemas.",
    "descriptor": "Write the resolved program as a protobuf message.",
    "fmt": "Put schemas in their one canonical style.",
    "import": "Turn .proto, .thrift and Slice files into schemas.",
    "init": "Begin a project that builds and runs at once.",
    "migrate": "Rewrite files of values to another schema.",
    "serve": "Open a page where a schema is tried out.",
    "show": "Print the values of a file as JSON.",
    "help": "Explain a command, a code (E0301), or a topic.",
}


class LazyGroup(click.Group):
    """Has the names of the commands, and loads the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            from mfidl.diagnostics.suggest import nearest

            found = "mfidlc check " + args[0] if args[0].endswith(".mfidl") else nearest(args[0], _COMMANDS)
            ctx.fail(f"No such command '{args[0]}'." + (f" Did you mean `{found}`?" if found else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_HELP.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mfidlc", message="%(prog)s %(version)s")
def cli() -> None:
    """The compiler of MF/IDL: one interface file in, C++ and Python out.

    Exit codes: 0 all is well, 1 errors in a schema or value, 2 wrong use of the command line, 3 a file could
    not be read or written. `mfidlc help exit-codes` lists all.
    """
