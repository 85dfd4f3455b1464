"""docs/interceptors.md, followed from top to bottom: its schema compiles, its programs print what the
page says.
"""

from pathlib import Path

import pytest

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
