"""`bench/run.py NAME`: runs a bench of this tree; `all` runs every one. `make bench-NAME` builds first.

Shows a table, writes bench/out/NAME.json and NAME.svg (codecs: further charts). QUICK=1: at most five
minutes a bench.
Ends with 1 if a program failed; what the others measured is reported all the same.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

from compiler import suite as compiler
from controller import suite as controller
from editor import suite as editor
from faults import suite as faults
from flex import suite as flex
from harness.chart import write_chart
from harness.child import BenchError
from harness.rows import Samples, write_json
from harness.table import table
from observed import suite as observed
from patterns import suite as patterns
from pycodecs import suite as codecs
from pyrpc import suite as python
from report import suite as report
from rpc import suite as rpc
from tool import suite as tool
from topics import suite as topics
from values import suite as values
from ways import suite as ways
from where import suite as where

_HERE = Path(__file__).parent
_OUT = _HERE / "out"
_SUITES: dict[str, ModuleType] = {
    suite.NAME: suite
    for suite in (
        rpc,
        codecs,
        python,
        compiler,
        editor,
        report,
        ways,
        faults,
        controller,
        observed,
        where,
        flex,
        patterns,
        topics,
        tool,
        values,
    )
}


def _run(suite: ModuleType) -> bool:
    build = Path(os.environ.get("MF_BUILD_DIR") or _HERE.parent / "build" / "release")
    samples = Samples()
    failures: list[str] = []
    try:
        suite.run(build, os.environ.get("QUICK", "") not in ("", "0"), samples, failures)
    except BenchError as error:
        failures.append(str(error))
    rows = samples.rows()
    _OUT.mkdir(exist_ok=True)
    write_json(rows, _OUT / f"{suite.NAME}.json")
    if hasattr(suite, "draw"):  # a suite may have its own way to show its rows
        suite.draw(rows, _OUT)
        print(suite.show(rows))
    else:
        write_chart(rows, suite.CHART, _OUT / f"{suite.NAME}.svg")
        print(table(rows) if rows else "")
    for failure in failures:
        print(f"bench: failed: {failure}", file=sys.stderr)
    return not failures


def main(names: list[str]) -> int:
    if names == ["all"]:
        names = list(_SUITES)
    unknown = [name for name in names if name not in _SUITES]
    if unknown or not names:
        print(f"usage: bench/run.py NAME...; there are {', '.join(_SUITES)}, all", file=sys.stderr)
        return 2
    good = [_run(_SUITES[name]) for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
