"""What `make bench-codecs` runs: bench-codecs compiled by g++ and by clang, then the libraries of Python.

MF_BENCH_WORKS=prefix measures only the works whose names begin with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.child import BenchError, output_of
from harness.rows import Row, Samples
from pycodecs import report
from pycodecs.measure import Program, measure

NAME = "codecs"
_ROOT = Path(__file__).resolve().parents[2]
_SCHEMA = _ROOT / "bench" / "codecs" / "values.mfidl"
_LIMIT_SECONDS = 60


def run(build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    only = os.environ.get("MF_BENCH_WORKS", "")
    rounds = 5 if quick else 11
    measure(_cpp(build), only, rounds, samples, failures)
    measure([_python(build)], only, rounds, samples, failures)


def show(rows: Sequence[Row]) -> str:
    return report.tables(rows)


def draw(rows: Sequence[Row], folder: Path) -> None:
    report.charts(rows, folder)


def _cpp(build: Path) -> list[Program]:
    gcc = build / "bench" / "bench-codecs"
    if not gcc.exists():
        raise BenchError(f"{gcc} is not there; `make bench-codecs` builds it")
    clang = build.with_name("release-clang") / "bench" / "bench-codecs"
    if not clang.exists():
        print("bench: clang is not installed, so only g++'s code is measured", file=sys.stderr)
        return [Program("", [str(gcc)])]
    return [Program("", [str(gcc)]), Program("/clang", [str(clang)])]


def _python(build: Path) -> Program:
    out = build / "bench" / "pycodecs"
    out.mkdir(parents=True, exist_ok=True)
    archived = build / "bench" / "codecs" / "archived.mfidl"
    mfidlc = str(Path(sys.executable).with_name("mfidlc"))
    _made([mfidlc, "compile", "--python", str(out), str(_SCHEMA), str(archived)])
    proto = out / "proto"
    _made([mfidlc, "proto", str(archived), "--out", str(proto)])
    _made(["protoc", "-I", str(proto), "--python_out", str(proto), str(proto / "archived.proto")])
    native = build / "runtime" / "python-native" / "module"
    paths = [out, proto, _ROOT / "bench", _ROOT / "runtime" / "python", native]
    return Program(
        "/python",
        [sys.executable, "-m", "pycodecs.program"],
        {"PYTHONPATH": os.pathsep.join(map(str, paths))},
    )


def _made(command: Sequence[str]) -> None:
    output_of(command, _LIMIT_SECONDS)
