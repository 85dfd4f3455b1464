"""F8. What commands share: the options about files and messages, and how an outcome is shown."""

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from mfidl.compiler import Outcome
from mfidl.diagnostics.render import render_json, render_text


def schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """FILE..., --import-path, --format and --color, for commands that read schemas."""
    decorators = (
        click.argument("files", metavar="FILE...", nargs=-1, required=True),
        click.option(
            "--import-path",
            "-I",
            "import_paths",
            metavar="DIR",
            multiple=True,
            help="Search imports here, after the folder of the importing file. May be repeated.",
        ),
        click.option(
            "--format",
            "style",
            type=click.Choice(["text", "json"]),
            default="text",
            help="text for people, on standard error; json for editors, on standard output.",
        ),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colour in messages; auto: on a terminal, unless NO_COLOR is set.",
        ),
    )
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def finish(outcome: Outcome, style: str, color: str) -> None:
    """Show the diagnostics and leave with the outcome's exit code."""
    if style == "json":
        click.echo(render_json(outcome.diagnostics), nl=False)
    elif outcome.diagnostics:
        painted = color == "always" or (
            color == "auto" and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        )
        count = len(outcome.diagnostics)
        summary = f"{count} error{'s' if count != 1 else ''}\n"
        sys.stderr.write(_encodable(render_text(outcome.diagnostics, painted) + summary, sys.stderr.encoding))
    raise SystemExit(int(outcome.exit))


def _encodable(text: str, encoding: str | None) -> str:
    """A terminal that is not UTF-8 gets question marks instead of a traceback."""
    name = encoding or "ascii"
    return text.encode(name, "replace").decode(name)
