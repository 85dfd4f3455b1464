"""What the examples and the documents show compiles, and is what a type checker accepts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mypy import mypy_cache

ROOT = Path(__file__).resolve().parents[2]
TESTBED = ROOT / "examples" / "testbed"


def compile_python(out: Path, schema_folder: Path, *schemas: Path) -> None:
    command = [sys.executable, "-m", "mfidl", "compile", "--import-path", str(schema_folder)]
    done = subprocess.run(
        [*command, "--python", str(out), *map(str, schemas)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", ["README.md", "docs/from-macros.md"])
def test_the_schema_of_a_document_compiles(tmp_path: Path, document: str) -> None:
    blocks = re.findall(r"```mfidl\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert len(blocks) == 1
    module = re.findall(r"^module ([\w.]+);", blocks[0], re.MULTILINE)[0]
    schema = tmp_path / (module.replace(".", "/") + ".mfidl")
    schema.parent.mkdir(parents=True, exist_ok=True)
    schema.write_text(blocks[0])

    compile_python(tmp_path / "out", tmp_path, schema)


def test_the_examples_pass_mypy_strict(tmp_path: Path) -> None:
    stubs = tmp_path / "stubs"
    compile_python(stubs, TESTBED / "schema", *(TESTBED / "schema").rglob("*.mfidl"))
    compile_python(stubs, TESTBED, ROOT / "examples" / "1_hello" / "hello.mfidl")
    hello = [ROOT / "examples" / "1_hello" / name for name in ("server.py", "client.py")]
    sources = [TESTBED / name for name in ("demo.py", "driver", "services")]

    flags = ["--strict", "--config-file=", "--cache-dir", mypy_cache("bases"), "--explicit-package-bases"]
    path = os.pathsep.join(map(str, (stubs, TESTBED, ROOT / "runtime" / "python")))
    for files in (sources, hello):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *flags, *map(str, files)],
            env=os.environ | {"MYPYPATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=110,
        )
        assert done.returncode == 0, done.stdout + done.stderr
