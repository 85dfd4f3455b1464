"""docs/asyncio.md, followed from top to bottom: its schema compiles, its program passes mypy and prints what
the page says.
"""

from pathlib import Path

import pytest

from tests.compiler.page import Page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder: Path = tmp_path_factory.mktemp("asyncio")
    return Page("asyncio.md", folder)


def test_the_program_of_the_page_prints_what_the_page_says(page: Page) -> None:
    page.prints("python", "")


def test_the_program_of_the_page_passes_mypy_strict(page: Page) -> None:
    page.passes_mypy_strict("python")
