"""No two files import each other, directly or indirectly: imports inside functions and for type checkers
count, too.
"""

import ast
from pathlib import Path

import pytest

MF = Path(__file__).parents[3] / "runtime" / "python" / "mf"
FLOORS = (
    "core",
    "protocol",
    "transport",
    "link",
    "route",
    "client",
    "server",
    "light",
    "replicated",
    "controller",
)


def module_of(path: Path) -> str:
    parts = ("mf", *path.relative_to(MF).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in MF.rglob("*.py")}


def imports(module: str) -> set[str]:
    """The files of the same package that it imports, at any place in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names = [f"{node.module}.{each.name}" for each in node.names]
            found.update(name if name in MODULES else node.module for name in names)
        elif isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
    package = module.split(".")[:2]
    return {name for name in found if name in MODULES and name.split(".")[:2] == package} - {module}


def cycle_from(start: str) -> list[str]:
    """A path from a file back to itself; empty if there is none."""
    ways = [[start]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for name in sorted(imports(way[-1])):
            if name == start:
                return [*way, name]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


@pytest.mark.parametrize("floor", FLOORS)
def test_no_file_of_a_floor_imports_itself_by_way_of_others(floor: str) -> None:
    modules = [name for name in MODULES if name.startswith(f"mf.{floor}.")]

    assert modules
    assert [cycle for name in modules if (cycle := cycle_from(name))] == []
