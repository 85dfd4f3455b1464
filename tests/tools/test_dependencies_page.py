"""docs/dependencies.md has a line for each package that is installed, with its reason."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = sorted((ROOT / "packaging").glob("*.txt"))
ROWS = [line for line in (ROOT / "docs/dependencies.md").read_text().splitlines() if line.startswith("|")]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def packages(path: Path) -> Iterator[str]:
    for line in path.read_text().splitlines():
        name = _NAME.match(line)
        if name:
            yield name.group()


def unnamed(names: list[str]) -> list[str]:
    words = {spelled(word) for row in ROWS for word in _NAME.findall(row)}
    return [name for name in names if spelled(name) not in words]


def spelled(name: str) -> str:
    return name.lower().replace("_", "-").rstrip(".")


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.name)
def test_each_package_of_a_list_is_on_the_page(path: Path) -> None:
    names = list(packages(path))

    assert names
    assert unnamed(names) == []


@pytest.mark.parametrize("project", [".", "runtime/python", "runtime/python-native", "cli"])
def test_each_dependency_of_a_project_is_on_the_page(project: str) -> None:
    table = tomllib.loads((ROOT / project / "pyproject.toml").read_text())
    needed = table["project"]["dependencies"] + table["build-system"]["requires"]

    names = [name.group() for name in map(_NAME.match, needed) if name]

    assert len(names) == len(needed)
    assert unnamed(names) == []
