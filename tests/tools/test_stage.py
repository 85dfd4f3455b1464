"""tools/stage names a command, hands on its output and its status, and says which stage failed."""

import subprocess
from pathlib import Path

STAGE = Path(__file__).resolve().parents[2] / "tools" / "stage"


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([STAGE, "sums", *command], check=False, capture_output=True, text=True)


def test_a_stage_that_succeeds_prints_its_name_its_output_and_its_seconds() -> None:
    result = run("echo", "two words")

    first, output, last = result.stdout.splitlines()
    assert (result.returncode, first, output) == (0, "-- sums", "two words")
    assert last.startswith("-- sums: done in ")
    assert last.endswith(" s")


def test_a_stage_that_fails_hands_on_the_status_and_says_how_to_run_it_alone() -> None:
    result = run("bash", "-c", "exit 7")

    assert result.returncode == 7
    assert result.stderr.startswith("-- sums: FAILED with status 7 after ")
    assert result.stderr.rstrip().endswith("alone: bash -c exit 7")
