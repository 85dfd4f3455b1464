"""examples/7_testing: its tests of Python pass, with the fixtures of the plugin; ctest runs those of C++."""

import sys

from tests.conftest import TypeCheck
from tests.examples.programs import Example

EXAMPLE = Example("7_testing")


def test_the_python_tests_pass() -> None:
    # The plugin of this tree, and not that of a runtime which may be installed, too.
    plugin = ["-p", "no:mf", "-p", "mf.testing.pytest_plugin"]
    folder = str(EXAMPLE.folder)
    done = EXAMPLE.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", folder, *plugin, folder]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_they_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict([EXAMPLE.folder / name for name in ("till.py", "test_till.py")], EXAMPLE.path)
