"""examples/4_streams: a file of the corpus is uploaded, and what is found in it followed, crosswise."""

from pathlib import Path

import pytest

from tests.conftest import TypeCheck
from tests.examples.programs import LANGUAGES, Example

EXAMPLE = Example("4_streams", "glosses")
NOUNS = Path("/usr/share/wordnet/data.noun")


def run(client: str, *arguments: str) -> str:
    done = EXAMPLE.run([*EXAMPLE.program("client", client), *arguments])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expected(letters: str, count: int, *, stopped: bool) -> str:
    text = NOUNS.read_text()
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if letters in line]
    shown = "".join(f"{number}: {line.partition(' | ')[0]}\n" for number, line in lines[:count])
    stored = f"stored {len(text)} bytes in {text.count(chr(10))} lines, as they were sent\n"
    searched = "the search was stopped\n" if stopped else "the whole file was searched\n"
    return f"{stored}{shown}{searched}no file verbs\n"


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_a_file_is_uploaded_and_matches_are_followed_until_there_are_enough(client: str, server: str) -> None:
    with EXAMPLE.serving(server) as address:
        some = run(client, str(NOUNS), " water", "3", address)
        everything = run(client, str(NOUNS), "congener", "100", address)

    assert some == expected(" water", 3, stopped=True)
    assert everything == expected("congener", 100, stopped=False)


def test_the_python_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict([EXAMPLE.folder / name for name in ("server.py", "client.py")], EXAMPLE.path)
