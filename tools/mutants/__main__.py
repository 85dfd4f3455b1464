"""Samples mutants of a floor by a seed, runs the floor's tests on each, and lists those that survive.

    python -m tools.mutants --floor link --seed 1 --count 40

The working tree is never changed: everything happens in copies under build/mutants/. Exits with 1 if a
smaller share is killed than `--least` says.

It is our own tool, because none on PyPI fits. universalmutator's regular expressions see lines, and neither
tokens nor trees, so most of its mutants of C++ do not compile; it changes sources in place and needs twelve
packages. mutmut and cosmic-ray know Python only; mutmut runs the tests in its own process, whereas ours start
several.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from tools.mutants import equivalent, tree
from tools.mutants.floors import FLOORS, Floor
from tools.mutants.mutant import Mutant, write
from tools.mutants.trial import CppTrial, PythonTrial, Stage, Verdict, end_all, failed_test

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutants"
EQUIVALENTS = ROOT / "tests" / "mutants.toml"
CLAIMED: set[str] = set()  # the languages whose copies this run has claimed


@dataclass
class Place:
    """A copy of the tree and what tests it."""

    tree: Path
    trial: CppTrial | PythonTrial

    def judge(self, mutant: Mutant, stages: Iterable[Stage]) -> tuple[Verdict, str]:
        """Tests one mutant; also returns the first test that failed, if that is known."""
        data = write(self.tree, mutant)
        verdict, said = Verdict.SURVIVED, ""
        try:
            if not self.trial.compiles(self.tree / mutant.path):
                return Verdict.NO_PROGRAM, ""
            for stage in stages:
                verdict, said = self.trial.run(stage)
                if verdict != Verdict.SURVIVED:
                    break
        finally:
            (self.tree / mutant.path).write_bytes(data)
        return verdict, failed_test(said)


@dataclass
class Tally:
    killed: int = 0
    explained: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def all(self) -> int:
        return self.killed + len(self.survivors)

    @property
    def share(self) -> float:
        return self.killed / self.all if self.all else 1.0


def places(floor: Floor, jobs: int) -> list[Place]:
    """One for C++, where a build uses all processors that may be used; for Python one for each job."""
    if floor.language not in CLAIMED and not tree.claim(PLACE / floor.language):
        sys.exit(f"another run tries mutants of {floor.language} below {PLACE}; wait until it has ended")
    CLAIMED.add(floor.language)
    made = []
    for number in range(1 if floor.language == "C++" else jobs):
        at = PLACE / f"{floor.language}-{number}"
        tree.copy(ROOT, at)
        cpp = floor.language == "C++"
        made.append(Place(at, CppTrial(at, PLACE / "build", jobs) if cpp else PythonTrial(at)))
    return made


def sample(floor: Floor, seed: int) -> Iterator[Mutant]:
    """All mutants of the floor in an order that only the seed determines, including explained ones."""
    found = floor.mutants(ROOT)
    random.Random(f"{floor} {seed}").shuffle(found)
    return iter(found)


def at_line(floor: Floor, place: str) -> Iterator[Mutant]:
    """The mutants of one line of the floor."""
    return (mutant for mutant in floor.mutants(ROOT) if f"{mutant.path}:{mutant.line}" == place)


def try_floor(floor: Floor, drawn: Iterator[Mutant], wanted: int, jobs: int) -> Tally:
    tally = Tally()
    lock = Lock()
    explained = equivalent.read(EQUIVALENTS)
    free: SimpleQueue[Place] = SimpleQueue()
    ready = places(floor, jobs)
    first = ready[0].trial
    told = first.prepare(floor)
    if told is not None:
        sys.exit(f"{floor}: the unchanged tree does not build, or its tests fail:\n{told}")
    for place in ready:
        free.put(place)

    def one(_: int) -> None:
        verdict = Verdict.NO_PROGRAM
        place = free.get()
        try:
            while verdict == Verdict.NO_PROGRAM:
                with lock:
                    mutant = next(drawn, None)
                if mutant is None:
                    return  # the floor has no more mutants
                begun = time.monotonic()
                if any(each.fits(mutant) for each in explained):
                    verdict, by = Verdict.EXPLAINED, ""
                else:
                    verdict, by = place.judge(mutant, first.stages(floor, mutant))
                if verdict != Verdict.NO_PROGRAM:
                    seconds = time.monotonic() - begun
                    print(f"{verdict:9}{seconds:5.1f} s  {mutant}{by and f'  ({by})'}", flush=True)
        finally:
            free.put(place)
        with lock:
            if verdict == Verdict.SURVIVED:
                assert mutant is not None
                tally.survivors.append(mutant)
            elif verdict == Verdict.EXPLAINED:
                tally.explained += 1
            else:
                tally.killed += 1

    with ThreadPoolExecutor(len(ready)) as pool:
        list(pool.map(one, range(wanted)))
    return tally


def stop(number: int, _: object) -> None:
    """Ends everything at once: threads that judge a mutant would go on with the next one."""
    end_all()
    os._exit(128 + number)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--floor", action="append", help="the name of a floor, in each language that has it (default: all)"
    )
    parser.add_argument(
        "--language", choices=sorted({floor.language for floor in FLOORS}), help="only the floors of this one"
    )
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn (default: 1)")
    parser.add_argument("--count", type=int, default=20, help="how many of each floor (default: 20)")
    parser.add_argument(
        "--at", metavar="FILE:LINE", help="all mutants of one line of a floor instead of some"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at once (default: 1)")
    parser.add_argument(
        "--least", type=int, default=0, help="the percentage of each floor that must be killed"
    )
    asked = parser.parse_args()
    known = {floor.name for floor in FLOORS}
    unknown = set(asked.floor or ()) - known
    if unknown:
        parser.error(f"there is no floor {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    tallies: list[tuple[Floor, Tally]] = []
    for floor in FLOORS:
        if floor.name in (asked.floor or (floor.name,)) and floor.language == (
            asked.language or floor.language
        ):
            print(f"-- {floor}", flush=True)
            drawn, wanted = sample(floor, asked.seed), asked.count
            if asked.at is not None:
                some = list(at_line(floor, asked.at))
                drawn, wanted = iter(some), len(some)
            tallies.append((floor, try_floor(floor, drawn, wanted, asked.jobs)))
    for _, tally in tallies:
        for mutant in sorted(tally.survivors):
            print(f"survived: {mutant}\n    {mutant.text}")
    for floor, tally in tallies:
        explained = f", {tally.explained} explained" if tally.explained else ""
        where = f"seed {asked.seed}" if asked.at is None else asked.at
        print(f"{floor}: {tally.killed} of {tally.all} killed, {tally.share:.0%}{explained}, {where}")
    return 1 if any(100 * tally.share < asked.least for _, tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
