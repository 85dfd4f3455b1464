"""tools/second_chance runs what failed once more, if it is little, and says so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "second_chance"

FAILS_AT_FIRST = """
from pathlib import Path

def fails_at_first(name):
    mark = Path(name + ".mark")
    if not mark.exists():
        mark.touch()
        raise AssertionError(name)
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def flaky(folder: Path) -> list[str]:
    file = folder / "build" / "flaky.txt"
    return file.read_text().splitlines() if file.exists() else []


class TestPytest:
    def ran(self, folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_some.py").write_text(FAILS_AT_FIRST + tests)
        return run(folder, sys.executable, "-m", "pytest", "-q", "-n", "2")

    def test_a_test_that_passes_the_second_time_is_named_and_the_run_goes_on(self, tmp_path: Path) -> None:
        ended = self.ran(tmp_path, "def test_it(): fails_at_first('it')\ndef test_other(): pass")

        assert ended.returncode == 0, ended
        assert "FLAKY: test_some.py::test_it" in ended.stdout
        assert flaky(tmp_path) == ["test_some.py::test_it"]

    def test_a_test_that_fails_twice_fails_the_run(self, tmp_path: Path) -> None:
        ended = self.ran(tmp_path, "def test_it(): assert False\ndef test_other(): pass")

        assert ended.returncode == 1, ended
        assert flaky(tmp_path) == []

    def test_many_failures_are_no_chance(self, tmp_path: Path) -> None:
        ended = self.ran(tmp_path, "\n".join(f"def test_{n}(): fails_at_first('{n}')" for n in range(4)))

        assert ended.returncode == 1, ended
        assert "once more" not in ended.stdout

    def test_a_mistake_in_a_file_is_no_failure_of_a_test(self, tmp_path: Path) -> None:
        assert self.ran(tmp_path, "import no_such_module").returncode not in {0, 1}


class TestCtest:
    def ran(self, folder: Path, script: str) -> subprocess.CompletedProcess[str]:
        configure = {"name": "some", "generator": "Ninja", "binaryDir": "${sourceDir}/build/some"}
        presets = {
            "version": 6,
            "configurePresets": [configure],
            "testPresets": [{"name": "some", "configurePreset": "some"}],
        }
        (folder / "CMakePresets.json").write_text(json.dumps(presets))
        build = folder / "build" / "some"
        build.mkdir(parents=True)
        (build / "script").write_text(script)
        (build / "CTestTestfile.cmake").write_text("add_test(it sh script)\nadd_test(other true)\n")
        return run(folder, "ctest", "--preset", "some", "-j", "2")

    def test_a_test_that_passes_the_second_time_is_named_and_the_run_goes_on(self, tmp_path: Path) -> None:
        ended = self.ran(tmp_path, "test -f mark || { touch mark; exit 1; }")

        assert ended.returncode == 0, ended
        assert flaky(tmp_path) == ["it"]

    def test_a_test_that_fails_twice_fails_the_run(self, tmp_path: Path) -> None:
        assert self.ran(tmp_path, "exit 1").returncode != 0

    @pytest.mark.parametrize(
        "said", ["WARNING: ThreadSanitizer: data race", "a.cpp:3:1: runtime error: shift"]
    )
    def test_what_a_sanitizer_says_counts_also_if_it_says_it_once(self, tmp_path: Path, said: str) -> None:
        ended = self.ran(tmp_path, f"test -f mark || {{ touch mark; echo '{said}'; exit 1; }}")

        assert ended.returncode != 0, ended
        assert flaky(tmp_path) == []
