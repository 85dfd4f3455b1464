"""docs/interceptors.md, followed from top to bottom: its schema compiles, its program passes mypy and prints
what the page says.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from tests.compiler.cpp import ROOT
from tests.mypy import mypy_cache

_BLOCK = re.compile(r"^```([\w ]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> str:
    page = (ROOT / "docs/interceptors.md").read_text()
    return "\n\n".join(text for which, text in _BLOCK.findall(page) if which == language)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interceptors")
    (folder / "words.mfidl").write_text(blocks("mfidl"))
    outcome = check([str(folder / "words.mfidl")], [str(folder)])
    assert outcome.program is not None, outcome.diagnostics
    for each in generate(outcome.program, EmitOptions("", "0")):
        (folder / each.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / each.path).write_text(each.text)
    (folder / "page.py").write_text(blocks("python"))
    (folder / "tracing.py").write_text(blocks("python tracing"))
    return folder / "page.py"


def run(program: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{program.parent}:{ROOT / 'runtime/python'}"
    all_paths = f"{path}:{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, *command],
        env={"PYTHONPATH": all_paths, "MYPYPATH": path, "PATH": "/usr/bin"},
        cwd=program.parent,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def test_the_program_of_the_page_prints_what_the_page_says(program: Path) -> None:
    done = run(program, str(program))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == blocks("")


def test_the_program_of_the_page_passes_mypy_strict(program: Path) -> None:
    done = run(program, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", mypy_cache(), str(program))

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_of_tracing_prints_what_the_page_says(program: Path) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk of packaging/pip-test.txt is missing")

    done = run(program, str(program.with_name("tracing.py")))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == blocks("tracing")
