"""`mf context`: named addresses with their credentials."""

import os
import sys

import click

from mf_tools import contexts
from mf_tools.contexts import FIELDS, Context
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import emit, line, table


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in contexts.names() if name.startswith(incomplete)]


_name = click.argument("name", shell_complete=_complete)


@click.group()
def command() -> None:
    """Named addresses with their credentials, in files that only their user reads."""


@command.command()
@click.argument("name")
@click.argument("where", metavar="ADDRESS")
@click.option("--ca", type=click.Path(exists=True, dir_okay=False), help="The authorities that are accepted.")
@click.option("--crl", type=click.Path(exists=True, dir_okay=False), help="Lists of revoked certificates.")
@click.option("--certificate", type=click.Path(exists=True, dir_okay=False), help="What this side shows.")
@click.option("--key", type=click.Path(exists=True, dir_okay=False), help="The key of --certificate.")
@click.option("--server-name", help="The name that the server's certificate must be for.")
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False), help="A file with a token.")
@click.option("--token-stdin", is_flag=True, help="Read a token from standard input, and keep it.")
@click.option("--replace", is_flag=True, help="In the place of the context of this name.")
@click.option("--use", is_flag=True, help="Use it from now on.")
def add(
    name: str,
    where: str,
    token_file: str | None,
    token_stdin: bool,
    replace: bool,
    use: bool,
    **given: str | None,
) -> None:
    """Make a context. No secret is an argument: all users of a host can see those."""
    _check(where)
    made = Context(where=where)
    for field, value in given.items():
        if value is not None:
            made[field] = value if field == "server_name" else os.path.abspath(value)  # type: ignore[literal-required]
    token = ""
    if token_stdin:
        token = (
            click.prompt("token", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.read(4096)
        )
        token = token.strip()
        if not token:
            raise CommandError("standard input holds no token", USAGE)
    elif token_file is not None:
        made["token"] = os.path.abspath(token_file)
    contexts.save(name, made, token, replace=replace)
    if use or not contexts.current():
        contexts.use(name)


@command.command("ls")
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")
def list_(as_json: bool) -> None:
    """List the contexts; a star is at the one in use."""
    used = contexts.current()
    found = {name: contexts.load(name) for name in contexts.names()}
    if as_json:
        emit([{"name": name, "current": name == used, **each} for name, each in found.items()])
        return
    rows = [
        [
            name,
            "*" if name == used else "",
            each.get("where", ""),
            ", ".join(f for f in FIELDS[1:] if f in each),
        ]
        for name, each in found.items()
    ]
    table(("name", "", "where", "with"), rows)


@command.command()
@click.argument("name", required=False, shell_complete=_complete)
def show(name: str | None) -> None:
    """Print a context, or the one in use, as JSON; of a token its path."""
    name = name or contexts.current()
    if not name:
        raise CommandError("no context is in use: mf context use NAME", USAGE)
    emit({"name": name, **contexts.load(name)})


@command.command()
@_name
def use(name: str) -> None:
    """Use a context wherever no other is named."""
    contexts.use(name)


@command.command()
@_name
def remove(name: str) -> None:
    """Remove a context, and the token that was kept for it."""
    contexts.remove(name)
    line(f"removed {name}")


def _check(where: str) -> None:
    from mf_tools.addresses import parsed

    parsed(where)
