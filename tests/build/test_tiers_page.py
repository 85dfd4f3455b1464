"""docs/tiers.md: its schema is compiled, its C++ and its Python program run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tiers.md").read_text()


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert isinstance(text, str)
    return text


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tiers")
    (out / "tiers_page.mfidl").write_text(block("mfidl"))
    command = [sys.executable, "-m", "mfidl", "compile", "tiers_page.mfidl", "--cpp", ".", "--python", "."]
    subprocess.run(command, cwd=out, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)
    return out


def test_the_python_program_runs(out: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{out}{os.pathsep}{ROOT / 'runtime/python'}"}
    subprocess.run([sys.executable, "-c", block("python")], check=True, env=environment, timeout=60)


def test_the_cpp_program_runs(out: Path) -> None:
    (out / "main.cpp").write_text(block("cpp"))
    sources = ["main.cpp", "tiers_page.cpp"]
    library = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "libmf_core.a"
    flags = [
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Werror",
        f"-I{ROOT / 'runtime/cpp/include'}",
        "-I.",
    ]
    subprocess.run(["g++", *flags, *sources, str(library), "-o", "program"], cwd=out, check=True, timeout=200)
    subprocess.run([str(out / "program")], check=True, timeout=20)
