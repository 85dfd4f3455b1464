"""docs/api.md names what is public: all of it, and nothing that does not exist."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import mf
from mf import controller, described, flex
from mf.flex.process import ProcessFields

ROOT = Path(__file__).parents[2]
HEADERS = ROOT / "runtime" / "cpp" / "include"
PAGE = (ROOT / "docs" / "api.md").read_text()
NAMED = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", " ".join(re.findall(r"`([^`]*)`", PAGE))))


def fields(header: str, struct: str) -> list[str]:
    """The names of the members of a struct of options."""
    text = (HEADERS / header).read_text()
    body = re.search(rf"struct {struct} {{\n(.*?)\n}};", text, re.DOTALL)
    assert body is not None
    lines = [line.split("//")[0].strip() for line in body.group(1).splitlines()]
    members = [re.match(r"[\w:<>, *]+ (\w+)(?: =.*|\{.*)?;$", line) for line in lines if line]
    return [member.group(1) for member in members if member]


def test_every_public_name_of_python_is_there() -> None:
    assert [
        name
        for name in (*mf.__all__, *flex.__all__, *described.__all__, *controller.__all__)
        if name not in NAMED
    ] == []


@pytest.mark.parametrize("made", [flex.Node, flex.AsyncNode, flex.Node.process, flex.AsyncNode.process])
def test_every_option_of_nodes_and_processes_is_there(made: Callable[..., object]) -> None:
    options = [name for name in inspect.signature(made).parameters if name not in ("self", "name", "options")]
    if "process" in made.__name__:
        options += ProcessFields.__annotations__
    assert len(options) >= 5
    assert [name for name in options if name not in NAMED] == []


@pytest.mark.parametrize("made", [mf.ClientOptions, mf.ServerOptions])
def test_every_option_of_python_is_there(made: type) -> None:
    options = list(inspect.signature(made).parameters)
    assert len(options) > 5
    assert [name for name in options if name not in NAMED] == []


@pytest.mark.parametrize(
    ("header", "struct"),
    [
        ("mf/client/client.hpp", "ClientOptions"),
        ("mf/server/server.hpp", "ServerOptions"),
        ("mf/server/server.hpp", "OfferOptions"),
        ("mf/core/options.hpp", "CallOptions"),
        ("mf/core/options.hpp", "BatchOptions"),
    ],
)
def test_every_option_of_cpp_is_there(header: str, struct: str) -> None:
    options = fields(header, struct)
    assert len(options) >= 3
    assert [name for name in options if name not in NAMED] == []


def test_every_cpp_name_is_in_the_header_beside_it() -> None:
    missing = []
    header = ""
    for cell in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE):
        place = re.search(r"\(`(mf/[\w/]+\.hpp)`\)", cell)
        header = place.group(1) if place else header
        if not place:
            continue
        text = (HEADERS / header).read_text()
        names = re.findall(r"`(\w+)", cell.split("(`mf/")[0])
        missing += [f"{header}: {name}" for name in names if not re.search(rf"\b{name}\b", text)]
    assert missing == []
