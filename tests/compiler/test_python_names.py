"""Schemas that name everything after words of Python and of the generators: each type and method works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.mypy import mypy_cache

ROOT = Path(__file__).parents[2]
NAMES = ROOT / "tests/names"
RUNTIME = ROOT / "runtime/python"

USE = Path(__file__).parent / "use_generated.py"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("names")
    schemas = [str(each) for each in sorted(NAMES.glob("*.mfidl"))]
    assert compile_files(schemas, [str(NAMES)], Targets(python=str(out))).exit is Exit.OK
    return out


def _run(*command: str, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{RUNTIME}:{path}", "MYPYPATH": f"{RUNTIME}:{path}"}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=110
    )


def test_every_name_can_be_used(generated: Path, tmp_path: Path) -> None:
    ran = _run("-W", "error", str(USE), str(generated), path=generated, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 1000


def test_mypy_finds_no_name_that_hides_another(generated: Path, tmp_path: Path) -> None:
    options = ("--strict", "--explicit-package-bases", "--cache-dir", mypy_cache("bases"))
    typed = _run("-m", "mypy", *options, str(generated), path=generated, cwd=tmp_path)
    assert typed.returncode == 0, typed.stdout


def test_pyright_finds_no_name_that_hides_another(generated: Path, tmp_path: Path) -> None:
    """Of every word as a type, and the generator's own. Not in strict mode: it objects to names that begin
    with an underscore.
    """
    folders = [str(generated / "names" / each) for each in ("helpers", "types")]
    settings = {
        "include": folders,
        "extraPaths": [str(RUNTIME), str(generated)],
        "typeCheckingMode": "standard",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    ran = _run("-m", "basedpyright", "-p", str(tmp_path), path=generated, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
