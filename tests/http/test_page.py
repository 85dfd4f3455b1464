"""docs/http.md, followed from top to bottom: each recipe is run, and prints what the page says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.http.asking import Door

PAGE = Path(__file__).resolve().parents[2] / "docs" / "http.md"
_BLOCK = re.compile(r"^```console\n\$ (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES = _BLOCK.findall(PAGE.read_text())


@pytest.mark.parametrize(("command", "prints"), RECIPES, ids=[str(i) for i in range(len(RECIPES))])
def test_a_recipe_prints_what_the_page_says(door: Door, command: str, prints: str) -> None:
    assert shutil.which("curl") is not None, "curl is missing: tools/bootstrap core test installs it"
    here = command.replace("http://127.0.0.1:8080", door.address)
    done = subprocess.run(["bash", "-c", here], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.rstrip("\n") == prints.rstrip("\n"), done.stderr


def test_the_page_has_a_recipe_for_each_kind_of_request() -> None:
    assert len(RECIPES) >= 8
