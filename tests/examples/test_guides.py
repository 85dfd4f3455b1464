"""docs/guides and docs/from-zeromq.md show the programs of examples/12_guides and what they print."""

import re
import sys
from pathlib import Path

import pytest

from tests.conftest import TypeCheck
from tests.examples.programs import LANGUAGES, Example

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


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_prints_what_its_page_shows(name: str, language: str) -> None:
    command = [sys.executable, str(EXAMPLE.folder / f"{name}.py")]
    if language == "C++":
        command = EXAMPLE.program(name, language)

    done = EXAMPLE.run(command)

    assert (done.returncode, done.stdout) == (0, block(name, "text")), done.stderr


def test_each_program_has_a_page() -> None:
    programs = {path.stem for path in EXAMPLE.folder.glob("*.cpp")}

    assert programs == set(PAGES)
    assert programs | {"library"} == {path.stem for path in EXAMPLE.folder.glob("*.py")}


def test_the_python_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict(sorted(EXAMPLE.folder.glob("*.py")), EXAMPLE.path)
