"""`bench/ab.py REVISION NAME...`: runs benches of this tree and of another revision in turn.

The other revision is checked out and built in build/ab/COMMIT, with a .venv of its own. Each round runs a
bench once in either tree, with QUICK=1; which of the two is first changes from round to round. The table
shows the medians, and the median of the ratios of the rounds: above 1, this tree is slower or needs more.
A row whose ratio is above 1.03 in its median and in all rounds but one is marked as worse.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_TOLERATED = 1.03
_UNITS_OF_RATES = ("1/s", "MB/s")  # more is better

Key = tuple[str, str, str, str]  # work, placement, system, metric


@dataclass(frozen=True)
class Compared:
    key: Key
    unit: str
    ours: float
    theirs: float
    ratios: tuple[float, ...]  # of each round; above 1: this tree is worse

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def is_worse(self) -> bool:
        worse = sum(ratio > _TOLERATED for ratio in self.ratios)
        return self.ratio > _TOLERATED and worse >= max(len(self.ratios) - 1, 1)


Rows = dict[Key, tuple[str, float]]


def rows_of(text: str) -> Rows:
    """The values of our own systems in a file of rows, with their units."""
    return {
        (row["work"], row["placement"], row["system"], row["metric"]): (row["unit"], row["value"])
        for row in json.loads(text)
        if row["system"].startswith("mf") and row["value"]
    }


def compare(rounds: Sequence[tuple[Rows, Rows]]) -> list[Compared]:
    """Each round holds the rows of this tree and of the other one. Rows of one tree alone are left out."""
    found = []
    for key, (unit, _) in rounds[0][0].items():
        pairs = [(ours[key][1], theirs[key][1]) for ours, theirs in rounds if key in ours and key in theirs]
        if not pairs:
            continue
        is_rate = unit in _UNITS_OF_RATES
        ratios = tuple(theirs / ours if is_rate else ours / theirs for ours, theirs in pairs)
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        found.append(Compared(key, unit, ours, theirs, ratios))
    return found


def table(found: Iterable[Compared]) -> str:
    lines = [f"{'work':24} {'placement':10} {'system':28} {'metric':28} {'other':>12} {'this':>12}  ratio"]
    for each in found:
        work, placement, system, metric = each.key
        mark = "  worse" if each.is_worse else ""
        lines.append(
            f"{work:24} {placement:10} {system:28} {metric:28} {each.theirs:12.5g} {each.ours:12.5g}"
            f"  {each.ratio:.3f}{mark}"
        )
    return "\n".join(lines)


def _run(command: Sequence[str | Path], tree: Path, **settings: str) -> None:
    left_out = ("MF_BUILD_DIR", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env["PATH"] = f"{tree / '.venv/bin'}:{env['PATH']}"
    subprocess.run(list(map(str, command)), cwd=tree, env={**env, **settings}, check=True)


def _check_out(revision: str) -> Path:
    command = ["git", "rev-parse", "--short", f"{revision}^{{commit}}"]
    commit = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout.strip()
    tree = _ROOT / "build" / "ab" / commit
    if not tree.exists():
        _run(["git", "worktree", "prune"], _ROOT)
        _run(["git", "worktree", "add", "--detach", tree, commit], _ROOT)
    return tree


def _build(tree: Path) -> None:
    _run(["tools/bootstrap", "core"], tree)
    _run(["cmake", "--preset", "release", "--log-level=WARNING"], tree)
    _run(["cmake", "--build", "--preset", "release", "--target", "bench"], tree)


def _measure(tree: Path, name: str) -> Rows:
    _run([tree / ".venv/bin/python", tree / "bench/run.py", name], tree, QUICK="1")
    return rows_of((tree / "bench/out" / f"{name}.json").read_text())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision")
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    other = _check_out(given.revision)
    for tree in (_ROOT, other):
        _build(tree)
    worse = False
    for name in given.names:
        rounds = []
        for number in range(given.rounds):
            print(f"ab: {name}, round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
            first, second = (_ROOT, other) if number % 2 == 0 else (other, _ROOT)
            measured = {tree: _measure(tree, name) for tree in (first, second)}
            rounds.append((measured[_ROOT], measured[other]))
        found = compare(rounds)
        print(table(found))
        worse = worse or any(each.is_worse for each in found)
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
