"""examples/5_failover: what a user of the BA sees while one role after another is killed and comes back."""

import re
import sys

import pytest

from tests.conftest import TypeCheck
from tests.examples.programs import Example

EXAMPLE = Example("5_failover")

ALL = "documents: books, news            related: books, news"
TIME_LINE = [
    "== all roles run; every query asks both collections for documents and for related words",
    ALL,
    "== SIA of news: killed",
    "documents: books, news skipped    related: books, news",
    "== SIA of news: started again",
    ALL,
    "== MIA of books: killed",
    "documents: books, news            related: news, books skipped",
    "== MIA of books: started again",
    ALL,
    "== controller: killed",
    "== controller: started again",
    "== BA: killed",
    "the BA does not answer",
    "== BA: started again",
    ALL,
]


@pytest.mark.parametrize("ba", ["cpp", "python"])
@pytest.mark.parametrize("agents", ["cpp", "python"])
def test_a_collection_is_skipped_while_it_is_down_and_asked_again_when_it_is_back(
    ba: str, agents: str
) -> None:
    demo = [sys.executable, str(EXAMPLE.folder / "demo.py"), "--ba", ba, "--agents", agents]
    done = EXAMPLE.run(demo, seconds=100)

    assert done.returncode == 0, done.stdout + done.stderr
    lines = [re.sub(r"^ *[0-9.]+ s  ", "", line) for line in done.stdout.splitlines()]
    assert [line for line in lines if not line.startswith(" ")] == TIME_LINE
    page = (EXAMPLE.folder / "README.md").read_text()
    assert [line for line in lines if line.startswith("   (UNAVAILABLE: ") and "sf1.Search" in line] == [
        re.sub(r"^ *[0-9.]+ s  ", "", line) for line in page.splitlines() if "(UNAVAILABLE: " in line
    ]


def test_the_python_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict([EXAMPLE.folder / name for name in ("agent.py", "ba.py", "demo.py")], EXAMPLE.path)
