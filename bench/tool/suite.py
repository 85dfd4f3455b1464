"""What `make bench-tool` runs: the command mf from the shell, run by run in turn, beside an empty Python.

`ls` and `errors` are whole commands; `ls` asks a controller of this host.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from compiler.process import cost
from harness.child import BenchError
from harness.rows import Samples

NAME = "tool"
CHART = {"help": "ms", "version": "ms", "errors": "ms", "ls": "ms"}
_ROOT = Path(__file__).resolve().parents[2]
_WHERE = "unpinned"
_MF = (sys.executable, "-m", "mf_tools")
_WORKS = {
    "help": (*_MF, "--help"),
    "version": (*_MF, "--version"),
    "errors": (*_MF, "errors"),
    "ls": (*_MF, "ls"),
    "python": (sys.executable, "-c", "pass"),
}


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    program = build / "mf-controller"
    if not program.is_file():
        raise BenchError(f"{program} is missing")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "--listen", "tcp://127.0.0.1:0", "--store", "memory:"]
        controller = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert controller.stdout is not None
            path = os.pathsep.join(str(_ROOT / each) for each in ("cli", "runtime/python"))
            env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
            env |= {"PYTHONPATH": path, "PYTHONPYCACHEPREFIX": folder, "XDG_CONFIG_HOME": folder}
            env["MF_WHERE"] = controller.stdout.readline().strip()
            for round_ in range((5 if quick else 25) + 1):
                for name, work in _WORKS.items():
                    _measure(name, work, env, samples, failures, counted=round_ > 0)
        finally:
            controller.terminate()
            controller.communicate()


def _measure(
    name: str,
    command: tuple[str, ...],
    env: dict[str, str],
    samples: Samples,
    failures: list[str],
    *,
    counted: bool,
) -> None:
    """The first round writes Python's bytecode, and is not counted."""
    try:
        taken = cost(command, env)
    except BenchError as failed:
        failures.append(f"{name}: {failed}")
        return
    if counted:
        system = "python" if name == "python" else "mf"
        samples.add(name, _WHERE, system, taken.metrics())
