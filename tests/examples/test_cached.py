"""examples/6_cached: how many requests the same calls make without and with a cache, crosswise."""

import re

import pytest

from tests.conftest import TypeCheck
from tests.examples.programs import LANGUAGES, Example

EXAMPLE = Example("6_cached", "ids")


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_what_is_cached_makes_a_request_a_name_and_one_after_it_was_forgotten(
    client: str, server: str
) -> None:
    with EXAMPLE.serving(server) as address:
        done = EXAMPLE.run([*EXAMPLE.program("client", client), "1000", address])

    assert (done.returncode, done.stderr) == (0, "")
    assert [re.sub(r" +[0-9.]+$", "", line) for line in done.stdout.splitlines()] == [
        "1000 calls                 requests   us a call",
        "look_up                       1000",
        "collection_id, cached            4",
        "books was forgotten              1",
        "1995 hits, 5 misses, 4 entries",
    ]


def test_the_python_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict([EXAMPLE.folder / name for name in ("server.py", "client.py")], EXAMPLE.path)
