"""F8. `mfidlc fmt FILE...`"""

import difflib
import sys

import click

from mfidl.cli.common import show


@click.command("fmt")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option(
    "--check", is_flag=True, help="Write nothing; name the files that are not formatted, and exit with 1."
)
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option(
    "--stdin", metavar="NAME", help="Format standard input to standard output; NAME is for messages."
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour in messages; auto: on a terminal, unless NO_COLOR is set.",
)
def command(files: tuple[str, ...], check: bool, diff: bool, stdin: str | None, color: str) -> None:
    """Put schemas in their one canonical style. Comments stay; what a schema means does not change.

    A file with syntax errors is left as it is.
    """
    if (stdin is None) == (not files):
        raise click.UsageError("Give the files to format, or --stdin NAME, and not both.")
    if stdin is not None and sys.stdin is None:
        raise click.UsageError("Standard input is closed.")
    from mfidl.fmt import format_files, format_stream

    if stdin is None:
        outcome = format_files(files, write=not (check or diff))
    else:
        outcome = format_stream(sys.stdin.buffer, stdin)
    changed = [each for each in outcome.results if each.changed]
    if diff:
        _print("".join(_difference(each.name, each.before, each.after or "") for each in changed))
    elif check:
        _print("".join(f"{each.name}\n" for each in changed))
    elif stdin is not None:
        _print("".join(each.after or "" for each in outcome.results))
    show(outcome.diagnostics, "text", color)
    if outcome.unusable:
        raise SystemExit(3)
    raise SystemExit(1 if outcome.diagnostics or (check and changed) else 0)


def _difference(name: str, before: str, after: str) -> str:
    """A unified difference that `git apply -p0` takes."""
    return "".join(difflib.unified_diff(_lines(before), _lines(after), name, name))


def _lines(text: str) -> list[str]:
    """Lines end at `\\n` alone, whatever else that is like a line end is in a comment."""
    *whole, rest = text.split("\n")
    lines = [line + "\n" for line in whole]
    return [*lines, rest + "\n\\ No newline at end of file\n"] if rest else lines


def _print(text: str) -> None:
    """To standard output as it is: no translation of line ends, and UTF-8 like the schema."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
