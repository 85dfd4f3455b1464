"""The group of commands, which imports a command's module when it is asked for. Distributions add commands by
entry points of the group `mf_tools.commands`, each a click.Command.
"""

import os
import sys
from functools import cache
from importlib import import_module
from typing import Any

import click

from mf_tools import __version__

_COMMANDS = {
    "access": "Ask an access file what it allows.",
    "audit": "Gather what a report of a fault needs.",
    "bench": "Call at a rate, and measure latencies.",
    "call": "Call a method with JSON.",
    "certs": "Test authorities, certificates, days left.",
    "cheat": "Recipes: what to type for a task.",
    "completion": "Print the completion of bash, zsh or fish.",
    "context": "Named addresses with their credentials.",
    "dash": "Serve a page about all that is registered.",
    "describe": "Show a service or topic as a schema.",
    "doctor": "Find out why an address does not work.",
    "drain": "Stop servers after the calls that they run.",
    "errors": "Explain a code of a failed call.",
    "groups": "Show flexible processes and their groups.",
    "latency": "Measure round trips to servers.",
    "lead": "Run a command in one place at a time.",
    "log-level": "Show or set how much servers log.",
    "ls": "List what is registered at a controller.",
    "pub": "Publish messages to a topic.",
    "record": "Write a topic's messages to a file.",
    "recv": "Receive flexible messages.",
    "replay": "Publish the messages of a file again.",
    "send": "Send a flexible message.",
    "sub": "Subscribe to a topic.",
    "tap": "Show the calls that pass servers.",
    "top": "Watch services, instances and monitors.",
    "token": "Keys and tokens.",
}
ENTRY_POINTS = "mf_tools.commands"


class LazyGroup(click.Group):
    """A group that has the names of its commands, and imports one when it runs. Plugins are looked for if no
    command of the tool has the name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*_COMMANDS, *_plugins()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            command = import_module(f"mf_tools.commands.{cmd_name.replace('-', '_')}").command
            assert isinstance(command, click.Command)
            return command
        found = _plugins().get(cmd_name)
        return None if found is None else _loaded(found)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in _COMMANDS and name not in _plugins():
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), 1)
            ctx.fail(f"there is no command '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))
        plugins = _plugins()
        if plugins:
            with formatter.section("Commands of plugins"):
                formatter.write_dl([(name, f"of {found.value}") for name, found in sorted(plugins.items())])


@cache
def _plugins() -> dict[str, Any]:
    """By name; none can take the place of a command of the tool's own."""
    if not any(map(_has_plugins, sys.path)):
        return {}
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=ENTRY_POINTS) if each.name not in _COMMANDS}


def _has_plugins(folder: str) -> bool:
    """Whether a distribution there names a plugin: importlib.metadata takes a third of the time of --help."""
    try:
        found = [each for each in os.listdir(folder or ".") if each.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    return any(map(_names_plugins, (os.path.join(folder, each, "entry_points.txt") for each in found)))


def _names_plugins(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return f"[{ENTRY_POINTS}]".encode() in file.read()
    except OSError:
        return False


def _loaded(found: Any) -> click.Command:
    try:
        command = found.load()
    except Exception as error:
        text = f"the plugin '{found.name}' ({found.value}) cannot be loaded: {type(error).__name__}: {error}"
        raise click.ClickException(text) from None
    if not isinstance(command, click.Command):
        raise click.ClickException(f"the plugin '{found.name}' ({found.value}) is no click.Command")
    return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mf", message="%(prog)s %(version)s")
def cli() -> None:
    """Ask, call, watch and measure services of MF/IDL.

    Where: --where ADDRESS, else --context NAME, else $MF_WHERE, else $MF_CONTEXT, else the context in use.
    `mf cheat` shows recipes.
    """
