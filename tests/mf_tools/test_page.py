"""docs/tools.md: each command is run in the order of the page, and prints what the page shows under it."""

import os
import re
import stat
import subprocess
import sys

import pytest

from mf_tools.commands.cheat import RECIPES
from mf_tools.group import _COMMANDS
from tests.interop.peers import Server
from tests.mf_tools.conftest import ROOT, Tool

PAGE = (ROOT / "docs/tools.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Each command with its output."""
    found: list[tuple[str, str]] = []
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            found.append((line, shown))
    return found


def as_pattern(shown: str) -> str:
    """`…` matches anything, at the end of its line and alone for lines, too; blanks may be wider."""
    pattern = ""
    for line in shown.splitlines():
        if line == "…":
            pattern += r"(?:.*\n)*?"
            continue
        words = [re.escape(word).replace("…", ".*") for word in line.split()]
        pattern += r"\s*" + r"[ \t]+".join(words) + r"[ \t]*\n"
    return pattern + r"\Z"


@pytest.mark.timeout(600)  # dozens of processes, one after the other
def test_the_page_does_as_it_says(tool: Tool, controller: Server, registered: Server) -> None:
    folder = tool.folder / "bin"
    folder.mkdir()
    program = folder / "mf"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m mf_tools "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = os.pathsep.join(map(str, (ROOT / "cli", ROOT / "runtime" / "python")))
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": path}
    places = {"127.0.0.1:7400": controller.address, "127.0.0.1:7401": registered.address}
    assert len(commands()) > 30
    for line, shown in commands():
        for stands_for, address in places.items():
            line = line.replace(stands_for, address.partition("://")[2])
            port, other = stands_for.rpartition(":")[2], address.rpartition(":")[2]
            shown = shown.replace(stands_for, address.partition("://")[2]).replace(
                f"port {port}", f"port {other}"
            )
        done = subprocess.run(
            ["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        said = done.stdout + done.stderr
        if done.returncode:
            said += f"[exit code {done.returncode}]\n"
        assert re.match(as_pattern(shown), said), f"{line}\n{said}\ninstead of\n{shown}"


def test_each_command_is_on_the_page() -> None:
    assert [
        name for name in _COMMANDS if not re.search(rf"\bmf {name}\b|^`{name}`", PAGE, re.MULTILINE)
    ] == []


@pytest.mark.parametrize("command", [command for _, command in RECIPES])
def test_each_recipe_is_a_command_with_options_that_exist(tool: Tool, command: str) -> None:
    """As far as it can be seen without doing it."""
    import shlex

    import click

    from mf_tools.group import cli

    words = shlex.split(re.search(r"mf [^)]*", command)[0])  # type: ignore[index]
    at: click.Command = cli
    words = words[1:]
    while isinstance(at, click.Group):
        at = at.get_command(click.Context(at), words.pop(0))  # type: ignore[assignment]
        assert at is not None, command
    known = {option for each in at.params for option in each.opts}
    ours = words[: words.index("--")] if "--" in words else words
    assert [word for word in ours if word.startswith("--") and word not in known] == []
    del tool


def test_the_exit_codes_of_the_page_are_those_of_the_tool() -> None:
    from mf_tools import guard

    table = PAGE.split("## Exit codes")[1].split("\n## ")[0]
    codes = {int(each) for each in re.findall(r"\d+", " ".join(re.findall(r"^\| ([\d, ]+) \|", table, re.M)))}
    assert codes == {
        0,
        guard.FAILED,
        guard.USAGE,
        guard.FILES,
        guard.NO_ANSWER,
        guard.DENIED,
        guard.DECLARED,
        guard.INTERNAL,
        guard.INTERRUPTED,
        guard.BROKEN_PIPE,
    }
