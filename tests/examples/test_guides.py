"""docs/guides and docs/from-zeromq.md show the programs of examples/12_guides and what they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TypeCheck
from tests.examples.programs import LANGUAGES, Example
from tests.interop.peers import Peers, peers, stubs

__all__ = ["peers", "stubs"]

EXAMPLE = Example("12_guides", "guide")
ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs/guides").glob("*.md"))}
PAGES["zeromq"] = (ROOT / "docs/from-zeromq.md").read_text()


def block(name: str, language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGES[name], re.MULTILINE | re.DOTALL)
    return str(text)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("language", "suffix"), [("python", ".py"), ("cpp", ".cpp")])
def test_a_page_shows_its_program_in_less_than_60_lines(name: str, language: str, suffix: str) -> None:
    text = block(name, language)

    assert text == (EXAMPLE.folder / f"{name}{suffix}").read_text()
    assert text.count("\n") < 60


ALONE = sorted(PAGES.keys() - {"identity", "relays", "replicas", "upgrades"})
"""Those that need no argument."""


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_prints_what_its_page_shows(name: str, language: str) -> None:
    done = EXAMPLE.run(EXAMPLE.program(name, language))

    assert (done.returncode, done.stdout) == (0, block(name, "text")), done.stderr


@pytest.mark.parametrize("name", ["relays", "replicas"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_with_a_controller_prints_what_its_page_shows(
    name: str, language: str, peers: Peers
) -> None:
    controller = peers.controller_at("tcp://127.0.0.1:0", "--relay").address

    done = EXAMPLE.run([*EXAMPLE.program(name, language), controller])

    assert (done.returncode, done.stdout) == (0, block(name, "text")), done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_identities_may_do_what_the_page_says(language: str, tmp_path: Path) -> None:
    commands = block("identity", "sh")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["sh", "-euc", commands], cwd=tmp_path, env=os.environ | {"PATH": path}, timeout=60, check=True
    )

    done = EXAMPLE.run([*EXAMPLE.program("identity", language), str(tmp_path)])

    assert (done.returncode, done.stdout) == (0, block("identity", "text")), done.stderr


def _environment(schema: str) -> dict[str, str]:
    """With the package `loans` of the older or the newer schema."""
    path = (EXAMPLE.built / schema, ROOT / "runtime/python")
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("served_by", LANGUAGES)
def test_a_client_of_the_newer_schema_calls_a_server_of_the_older_one(language: str, served_by: str) -> None:
    command = [sys.executable, str(EXAMPLE.folder / "older/server.py")]
    if served_by == "C++":
        command = EXAMPLE.program("older-server", served_by)
    with subprocess.Popen(
        command, env=_environment("older"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        done = subprocess.run(
            [*EXAMPLE.program("upgrades", language), server.stdout.readline().strip()],
            env=_environment("newer"),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        server.communicate(timeout=60)

    assert server.returncode == 0
    assert (done.returncode, done.stdout) == (0, block("upgrades", "text")), done.stderr


def test_each_program_has_a_page() -> None:
    programs = {path.stem for path in EXAMPLE.folder.glob("*.cpp")}

    assert programs == set(PAGES)
    assert programs | {"library"} == {path.stem for path in EXAMPLE.folder.glob("*.py")}


def test_the_python_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    programs = sorted(EXAMPLE.folder.glob("*.py"))
    passes_mypy_strict([each for each in programs if each.stem != "upgrades"], EXAMPLE.path)


@pytest.mark.parametrize(("schema", "program"), [("older", "older/server.py"), ("newer", "upgrades.py")])
def test_the_python_programs_of_both_schemas_pass_mypy_strict(
    passes_mypy_strict: TypeCheck, schema: str, program: str
) -> None:
    passes_mypy_strict([EXAMPLE.folder / program], (EXAMPLE.built / schema, ROOT / "runtime/python"))
