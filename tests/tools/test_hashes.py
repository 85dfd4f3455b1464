"""What pip installs for this tree is known by its sums: tools/hashes wrote them for the versions of the
lists, and tools/bootstrap lets pip install nothing else.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = sorted((ROOT / "packaging").glob("pip-*.txt"))
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
_SUM = re.compile(r"--hash=sha256:[0-9a-f]{64}\b")


def pinned(text: str) -> dict[str, str]:
    return {
        name.lower().replace("_", "-").replace(".", "-"): version for name, version in _PINNED.findall(text)
    }


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_the_lock_has_the_versions_of_the_list_and_a_sum_of_each(path: Path) -> None:
    lock = path.with_suffix(".lock").read_text()
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]

    assert pinned(lock) == pinned(path.read_text())
    assert len(pinned(lock)) == len(lines)  # so that no line is of another form
    assert all(_SUM.search(each) for each in re.split(r"(?m)^(?=\S)", lock) if each)


def test_no_list_is_without_a_lock_and_pip_installs_by_locks_alone() -> None:
    script = (ROOT / "tools/bootstrap").read_text()
    installs = [line for line in script.splitlines() if '"$pip" install' in line]

    assert len(LISTS) >= 4
    assert len(installs) == 2
    assert all("--require-hashes" in line or "--no-deps -e ." in line for line in installs)
    assert 'pip_lists+=("packaging/pip-$name.lock")' in script


def test_pip_refuses_a_file_with_another_sum(tmp_path: Path) -> None:
    """With nothing to download: the package is a file beside its list."""
    wheel = tmp_path / "demo-1.0-py3-none-any.whl"
    wheel.write_bytes(b"changed on its way")
    (tmp_path / "demo.lock").write_text(f"demo==1.0 --hash=sha256:{'0' * 64}\n")
    command = [sys.executable, "-m", "pip", "install", "--require-hashes", "--no-index", "--dry-run"]
    command += ["--find-links", str(tmp_path), "-r", str(tmp_path / "demo.lock")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
