"""docs/interceptors.md, followed from top to bottom: its schema compiles, its programs print what the
page says.
"""

import os
from pathlib import Path

import pytest

from tests.compiler.cpp import ROOT
from tests.compiler.page import Page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder: Path = tmp_path_factory.mktemp("interceptors")
    return Page("interceptors.md", folder)


def test_the_program_of_the_page_prints_what_the_page_says(page: Page) -> None:
    page.prints("python", "")


def test_the_program_of_the_page_passes_mypy_strict(page: Page) -> None:
    page.passes_mypy_strict("python")


def test_the_program_of_tracing_prints_what_the_page_says(page: Page) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk of packaging/pip-test.txt is missing")
    page.prints("python tracing", "tracing")


def test_the_program_of_cpp_prints_what_the_page_says(page: Page) -> None:
    build = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release"))
    if not (build / "libmf_runtime.a").exists():
        pytest.skip(f"there are no libraries of C++ in {build}: make build")
    page.prints_in_cpp("cpp", "cpp-prints", build)
