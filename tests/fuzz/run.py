"""Runs the libFuzzer targets of a build, one after the other: run.py build/clang-asan/tests/fuzz

MF_FUZZ_RUNS times 50 inputs each, or MF_FUZZ_SECONDS (60) if these are over first. An input that fails is
kept as a file, and its path is printed: the target run on it fails again.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = int(os.environ.get("MF_FUZZ_RUNS", "20000")) * 50
SECONDS = int(os.environ.get("MF_FUZZ_SECONDS", "60"))
SESSIONS = Path(__file__).parent / "seeds/session"


def main(folder: Path) -> int:
    targets = sorted(folder.glob("fuzz-*"))
    if not targets:
        sys.exit(f"no fuzzer is built in {folder}: cmake --build --preset clang-asan --target mf_fuzzers")
    failed = [each for each in targets if not run(folder, each)]
    return 1 if failed else 0


def run(folder: Path, target: Path) -> bool:
    name = target.name.removeprefix("fuzz-")
    seeds = SESSIONS if name == "session" else folder / "seeds" / name
    with tempfile.TemporaryDirectory() as corpus:
        options = [f"-runs={RUNS}", f"-max_total_time={SECONDS}", "-seed=1", "-max_len=4096", "-timeout=10"]
        options += ["-malloc_limit_mb=64", f"-artifact_prefix={folder}/{name}-", "-print_final_stats=1"]
        command = [str(target), *options, corpus, str(seeds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()
    counted = [line.split()[1] for line in said if line.startswith("stat::number_of_executed_units")]
    if done.returncode == 0:
        print(f"  {name}: {' '.join(counted)} inputs", flush=True)
    else:
        print(*said[-60:], f"{name} failed", sep="\n", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
