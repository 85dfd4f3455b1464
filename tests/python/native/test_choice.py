"""Which codec a process uses: a module that is missing, cut off or of another version is not used, which one
sentence says, and values are written and read all the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mf.core.generated import VERSION
from tests.native import module_folder
from tests.python.native.plans import module

VALUE = """
import mf, mf.native
from mf.codec.times import Timestamp
assert mf.from_bytes(list[str], mf.to_bytes(["a", "b"], list[str])) == ["a", "b"]
print(mf.native.in_use(), mf.native.covered(list[str]), mf.native.why())
"""


def said(folder: Path | None, program: str = VALUE, **variables: str) -> str:
    """What a program prints that finds the native codec in `folder`, or nowhere."""
    paths = [os.environ.get("PYTHONPATH", ""), *([] if folder is None else [str(folder)])]
    environment = {name: value for name, value in os.environ.items() if name != "MF_PURE"}
    environment["PYTHONPATH"] = os.pathsep.join(
        each for each in ":".join(paths).split(":") if each and each != str(module_folder())
    )
    if folder == module_folder():
        environment["PYTHONPATH"] += os.pathsep + str(folder)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def library() -> Path:
    return Path(module().__file__)


def test_what_is_installed_is_used() -> None:
    found = said(module_folder())

    assert found == f"True True The native codec {VERSION} is in use, from {library()}."


def test_a_variable_turns_it_off() -> None:
    found = said(module_folder(), MF_PURE="1")

    assert found == "False False The native codec is turned off: MF_PURE=1 is set."


def test_it_may_be_missing(tmp_path: Path) -> None:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"

    found = said(tmp_path)

    wanted = f"The native codec is not installed: no mf-runtime-native for Python {python} is there."
    assert found == f"False False {wanted}"


def test_one_for_another_python_is_as_good_as_missing(tmp_path: Path) -> None:
    shutil.copy(library(), tmp_path / "_mf_native.cpython-39-x86_64-linux-gnu.so")

    assert said(tmp_path).startswith("False False The native codec is not installed: ")


@pytest.mark.parametrize("part", [0.0, 0.001, 0.3, 0.6, 0.9, 0.999])
def test_one_that_is_cut_off_is_not_loaded(tmp_path: Path, part: float) -> None:
    whole = library().read_bytes()
    cut = tmp_path / library().name
    cut.write_bytes(whole[: int(len(whole) * part)])

    wanted = f"{cut} is cut off, so install mf-runtime-native again."
    assert said(tmp_path) == f"False False The native codec is there, but cannot be used: {wanted}"


@pytest.mark.parametrize("part", [0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_one_whose_rest_was_never_written_is_not_loaded(tmp_path: Path, part: float) -> None:
    whole = library().read_bytes()
    written = int(len(whole) * part)
    (tmp_path / library().name).write_bytes(whole[:written] + bytes(len(whole) - written))

    assert " is cut off, so install mf-runtime-native again." in said(tmp_path)


def test_one_that_is_no_library_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / library().name).write_bytes(bytes(100_000))

    assert said(tmp_path).startswith("False False The native codec is there, but cannot be used: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "VERSION, Plan = '9.8.7', None",
            f"mf-runtime-native is of version 9.8.7 and mf-runtime of version {VERSION}: "
            f"pip install 'mf-runtime-native=={VERSION}'",
        ),
        (
            f"VERSION = {VERSION!r}",
            "PATH has no Plan, so it was built of other sources of this version: install mf-runtime-native "
            "again",
        ),
        ("", "module '_mf_native' has no attribute 'VERSION'"),
        ("raise SystemError", "SystemError"),
        ("def (", "invalid syntax (_mf_native.py, line 1)"),
        ("raise ImportError('a symbol is missing')", "a symbol is missing"),
    ],
)
def test_one_of_another_version_is_not_used(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "_mf_native.py"
    path.write_text(f"{text}\n")

    reason = reason.replace("PATH", str(path))
    assert said(tmp_path) == f"False False The native codec is there, but cannot be used: {reason}."


def test_another_interpreter_of_a_process_uses_the_pure_codec() -> None:
    program = (
        "import _xxsubinterpreters as interpreters\n"
        "inner = interpreters.create(isolated=False)\n"
        f"interpreters.run_string(inner, {VALUE!r})\n"
    )
    if sys.version_info >= (3, 13):
        program = program.replace("_xxsubinterpreters", "_interpreters").replace("isolated=False", "'legacy'")

    found = said(module_folder(), program)

    wanted = "it serves the main interpreter of a process alone, and this is another one"
    assert found == f"False False The native codec is there, but cannot be used: {wanted}."
