"""C++ compilers for the tests of generated code: commands that run side by side, two at a time.

A test asks for the outcome of a command by name; all of a module's commands have run by then.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mfidl.compiler import Exit, check
from mfidl.emit.cpp import generate
from mfidl.emit.output import EmitOptions

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ("g++", "clang++-19")
RUNTIME = f"-I{ROOT / 'runtime/cpp/include'}"
_WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")

Command = Sequence[str]


def syntax(compiler: str, source: Path, *options: str) -> Command:
    """Checks one file as strictly as users may, and makes no code of it."""
    return (compiler, "-std=c++20", *_WARNINGS, "-fsyntax-only", RUNTIME, *options, str(source))


def run_all(commands: Mapping[str, Command]) -> dict[str, str]:
    """What each command had to say; nothing if it succeeded in silence."""
    # The longest stand first, so that no core waits for one at the end.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(commands, pool.map(_run, commands.values()), strict=True))


def _run(command: Command) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    said = (done.stdout + done.stderr).strip()
    return said or (f"exit {done.returncode}" if done.returncode else "")


def generate_into(folder: Path, files: Sequence[Path], import_path: Path) -> None:
    """Write the C++ trees of schemas, as the compiler would."""
    outcome = check([str(each) for each in files], [str(import_path)])
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    assert outcome.program is not None
    for each in generate(outcome.program, EmitOptions("", "0")):
        path = folder / each.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(each.text)
