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


def forbidden(library: str) -> dict[str, list[str]]:
    """The forbidden symbols of each object of the library that has some."""
    object_, of = "", dict[str, list[str]]()
    for symbol in symbols(BUILD / f"libmf_{library}.a"):
        if symbol.endswith(".o:"):
            object_ = symbol.removesuffix(":")
        elif FORBIDDEN.search(symbol):
            of.setdefault(object_, []).append(symbol)
    return of


@pytest.mark.parametrize(
    ("library", "but"),
    [
        ("core", {"log_writer.cpp.o"}),  # a thread writes the log, from the first line on
        ("protocol", set()),
    ],
)
def test_the_library_holds_neither_asio_nor_threads(library: str, but: set[str]) -> None:
    assert any("mf::" in symbol for symbol in symbols(BUILD / f"libmf_{library}.a"))
    assert forbidden(library).keys() == but


def test_the_pattern_recognizes_a_library_that_uses_asio() -> None:
    found = symbols(BUILD / "libmf_asio.a")

    assert any(FORBIDDEN.search(symbol) for symbol in found)
