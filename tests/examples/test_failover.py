"""examples/5_failover: what a user of the BA sees while one role after another is killed and comes back."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/5_failover"
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "examples/5_failover"
PATH = os.pathsep.join(map(str, (BUILT / "python", ROOT / "runtime/python")))

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
    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "demo.py"), "--ba", ba, "--agents", agents],
        env=os.environ | {"PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    lines = [re.sub(r"^ *[0-9.]+ s  ", "", line) for line in done.stdout.splitlines()]
    assert [line for line in lines if not line.startswith(" ")] == TIME_LINE


def test_the_python_programs_pass_mypy_strict(tmp_path: Path) -> None:
    flags = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    for source in ("agent.py", "ba.py", "demo.py"):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *flags, str(EXAMPLE / source)],
            env=os.environ | {"MYPYPATH": PATH},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
