"""The lower C++ floors stay free of threads and of Asio: their symbols show it, whatever the sources say."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release"))
FORBIDDEN = re.compile(r"\basio::|\bpthread_create\b|std::thread::_M_start_thread")


def symbols(archive: Path) -> list[str]:
    result = subprocess.run(["nm", "--demangle", str(archive)], check=False, capture_output=True, text=True)
    assert result.returncode == 0, (
        f"{result.stderr}build it first: cmake --preset release && cmake --build --preset release"
    )
    return result.stdout.splitlines()


@pytest.mark.parametrize("library", ["core", "protocol"])
def test_the_library_holds_neither_asio_nor_threads(library: str) -> None:
    found = symbols(BUILD / f"libmf_{library}.a")

    assert any("mf::" in symbol for symbol in found)
    assert [symbol for symbol in found if FORBIDDEN.search(symbol)] == []


def test_the_pattern_recognizes_a_library_that_uses_asio() -> None:
    found = symbols(BUILD / "libmf_asio.a")

    assert any(FORBIDDEN.search(symbol) for symbol in found)
