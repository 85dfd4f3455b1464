"""How the Python half of the simulation is run: as a program of its own, since the clock of mf is another one
in it.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mfidl.compiler import Exit, check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RUNTIME = ROOT / "runtime" / "python"


def generate_stubs(schema: Path, folder: Path) -> None:
    outcome = check([str(schema)], [])
    assert outcome.exit is Exit.OK, outcome.diagnostics
    assert outcome.program is not None
    for file in generate(outcome.program, EmitOptions("", "0")):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)


def simulate(
    stubs: Path, arguments: Sequence[str], timeout: float | None, runtime: Path = RUNTIME
) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join(map(str, (stubs, runtime)))
    return subprocess.run(
        [sys.executable, str(HERE / "programs" / "simulate.py"), *arguments],
        env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
