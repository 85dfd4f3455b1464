"""What `make bench-values` runs: how fast files of values (docs/evolution.md) are written, read, read by a
later schema, and rewritten to it, by programs of C++ and Python and by `mfidlc migrate`, in MB of the older
file a second.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from harness.child import BenchError, output_of
from harness.rows import Samples

NAME = "values"
CHART = {"Sample": "mb_per_s", "Page": "mb_per_s"}
_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_LIMIT_SECONDS = 300.0
_MFIDLC = [sys.executable, "-c", "from mfidl.cli import main; main()"]


def run(build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    binary = build / "bench" / "bench-values"
    if not binary.exists():
        raise BenchError(f"{binary} is not there; `make bench-values` builds it")
    with tempfile.TemporaryDirectory() as folder:
        for schema in ("recorded", "later"):
            _done(*_MFIDLC, "compile", str(_HERE / f"{schema}.mfidl"), "--python", f"{folder}/{schema}")
        path = [str(Path(folder, each)) for each in ("recorded", "later")]
        for _ in range(1 if quick else 3):
            _program(samples, "mf", [str(binary), folder, "20" if quick else "200"], path)
            python = [sys.executable, str(_HERE / "program.py"), folder, "1" if quick else "4"]
            _program(samples, "mf/python", python, path)
            _migrated(samples, Path(folder))  # what Python wrote


def _program(samples: Samples, system: str, command: list[str], path: list[str]) -> None:
    for file in Path(command[-2]).glob("*.mfv"):
        file.unlink()
    for line in _done(*command, path=path).splitlines():
        said = json.loads(line)
        work = said.pop("work")
        for how, speed in said.items():
            samples.add(work, how, system, {"mb_per_s": speed})


def _migrated(samples: Samples, folder: Path) -> None:
    for work in ("Sample", "Page"):
        file = folder / f"{work}.mfv"
        size = file.stat().st_size / 1e6
        begun = time.perf_counter()
        schema = ("--schema", str(_HERE / "later.mfidl"), "--type", f"later.{work}")
        _done(*_MFIDLC, "migrate", str(file), *schema, "-o", str(folder / "migrated.mfv"))
        samples.add(work, "mfidlc migrate", "mf/python", {"mb_per_s": size / (time.perf_counter() - begun)})
        (folder / "migrated.mfv").unlink()


def _done(*command: str, path: list[str] | None = None) -> str:
    path = [*(path or []), str(_ROOT), str(_ROOT / "runtime/python")]
    return output_of(command, _LIMIT_SECONDS, {"PYTHONPATH": os.pathsep.join(path)})
