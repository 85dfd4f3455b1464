"""The public names of the package are those that type checkers, `dir` and `from mf import *` find."""

import ast
import subprocess
import sys
from pathlib import Path

import mf


def imported(statements: list[ast.stmt]) -> set[str]:
    return {
        name.asname or name.name
        for each in statements
        if isinstance(each, ast.ImportFrom) and (each.module or "").partition(".")[0] == "mf"
        for name in each.names
    }


def test_type_checkers_and_programs_find_the_same_names() -> None:
    assert mf.__file__ is not None
    tree = ast.parse(Path(mf.__file__).read_text())
    later = next(each for each in tree.body if isinstance(each, ast.If))
    assert set(mf.__all__) == imported(tree.body) | imported(later.body)


def test_all_public_names_are_shown_and_are_there() -> None:
    assert set(mf.__all__) <= set(dir(mf))
    assert [name for name in dir(mf) if not name.startswith("__")] == sorted(mf.__all__)
    for name in mf.__all__:
        assert getattr(mf, name) is not None


def test_packages_are_there_without_an_import_of_their_own_and_a_mistyped_name_finds_its_neighbour() -> None:
    program = "import mf; print(mf.native.in_use(), mf.flex.Node.__name__); mf.Clients"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split()[1:] == ["Node"]
    assert ran.stderr.endswith("module 'mf' has no attribute 'Clients'. Did you mean: 'Client'?\n")
