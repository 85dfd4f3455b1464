"""F8. What commands share: the options about files and messages, and how an outcome is shown."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import click

from mfidl.compiler import Outcome
from mfidl.diagnostics import Diagnostic
from mfidl.diagnostics.render import render_github, render_gitlab, render_json, render_text

_ANNOTATIONS = {"github": render_github, "gitlab": render_gitlab}
_MANY = 10  # from this number on, findings of lint are counted by rule


def schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """FILE..., --import-path, --format and --color, for commands that read schemas."""
    style = click.option(
        "--format",
        "style",
        type=click.Choice(["text", "json", "github", "gitlab"]),
        default="text",
        help="text for people, on standard error; json for editors, on standard output; github or gitlab: "
        "both text, and annotations for that service on standard output.",
    )
    return source_options(style(command))


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same without --format, for commands whose --format is that of their own output."""
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
    """Shows the diagnostics and exits with the outcome's exit code."""
    show(outcome.diagnostics, style, color)
    raise SystemExit(int(outcome.exit))


def show(diagnostics: Sequence[Diagnostic], style: str, color: str) -> None:
    """The diagnostics in the form of `style` on standard output, and but for JSON as text and a count on
    standard error.
    """
    output, messages = told(diagnostics, style, style != "json" and painted(color))
    if output:
        click.echo(output, nl=False)
    if messages:
        sys.stderr.write(_encodable(messages, sys.stderr.encoding))


def told(diagnostics: Sequence[Diagnostic], style: str, in_colour: bool) -> tuple[str, str]:
    """The texts for standard output and standard error of a run with these diagnostics."""
    if style == "json":
        return render_json(diagnostics), ""
    output = _ANNOTATIONS[style](diagnostics) if style in _ANNOTATIONS else ""
    return output, render_text(diagnostics, in_colour) + _summary(diagnostics) if diagnostics else ""


def painted(color: str) -> bool:
    """Whether messages are in colour: when asked for, or on a terminal that can, unless NO_COLOR is set."""
    if color != "auto":
        return color == "always"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain


def _summary(diagnostics: Sequence[Diagnostic]) -> str:
    counts = {
        severity: sum(each.counts for each in diagnostics if each.severity == severity)
        for severity in ("error", "warning")
    }
    told = [f"{count} {word}{'s' if count != 1 else ''}" for word, count in counts.items() if count]
    summary = f"{' and '.join(told)}; see: mfidlc help {diagnostics[0].code}\n"
    return _by_code(diagnostics) + summary


def _by_code(diagnostics: Sequence[Diagnostic]) -> str:
    """How often each rule of lint found something, if there is much; the most frequent first."""
    found = Counter(each.code for each in diagnostics if each.code.startswith("L"))
    if len(found) < 2 or found.total() < _MANY:
        return ""
    from mfidl.lint import CATALOGUE

    rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    return "".join(f"{code}  {count:>5}  {CATALOGUE[code].title}\n" for code, count in rows) + "\n"


def _encodable(text: str, encoding: str | None) -> str:
    """A terminal that is not UTF-8 gets question marks instead of a traceback."""
    name = encoding or "ascii"
    return text.encode(name, "replace").decode(name)
