"""tools/bare: a package that a command needs and does not install is missing in the root that it makes."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(900)  # the first call downloads a Debian

MAKEFILE = """\
complete:
\t@test -z "$$(ls -A /root | grep -v '^\\.cache$$\\|^\\.pip$$\\|^\\.config$$\\|^\\.bashrc$$\\|^\\.profile$$')"
\t@test ! -e left_over
\t@git --version
incomplete: complete
\t@xmllint --version
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose command `incomplete` needs a package that nothing has installed."""
    (tmp_path / "Makefile").write_text(MAKEFILE)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (("init", "-q"), ("add", "Makefile"), ("commit", "-qm", "Begin")):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    (tmp_path / "left_over").touch()
    return tmp_path


def bare(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "tools" / "bare", "--project", project, *command],
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )


def test_a_command_fails_without_a_package_and_succeeds_with_it(project: Path) -> None:
    green = bare(project, "make", "complete")
    assert green.returncode == 0, green.stderr
    assert "git version" in green.stdout

    red = bare(project, "make", "incomplete")
    assert red.returncode == 2, red.stdout + red.stderr
    assert "xmllint: No such file or directory" in red.stderr


def test_no_mount_is_left_and_no_file_of_this_machine_is_lost(project: Path) -> None:
    before = Path("/proc/self/mounts").read_text()
    status = bare(project, "sh", "-c", "exit 7").returncode

    assert status == 7
    assert Path("/proc/self/mounts").read_text() == before
    assert (project / "left_over").exists()


def test_an_unknown_option_is_refused_with_a_reason(project: Path) -> None:
    refused = bare(project, "--fast", "true")

    assert refused.returncode == 2
    assert "there is no option --fast" in refused.stderr
