"""A bare Debian 12, and a script that runs there as root."""

import fcntl
import shutil
import subprocess
from pathlib import Path

from .conftest import DIST, ROOT, run

WHEELS_AND_PACKAGES = ("*.whl", "*.deb")


def run_on_bare_debian(folder: Path, script: str) -> str:
    """What the script prints, and its commands, where /srv/project holds dist/ alone. It must succeed."""
    project = folder / "project"
    (project / "dist").mkdir(parents=True)
    for pattern in WHEELS_AND_PACKAGES:
        for path in DIST.glob(pattern):
            shutil.copy(path, project / "dist")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin")):
        run(*git, *command, cwd=project)
    return run_in_clone(project, script)


def run_in_clone(project: Path, script: str, *options: str, timeout: float = 850) -> str:
    """What the script prints in /srv/project, a clone of this repository. It must succeed."""
    wanted = f"set -eux\nexport DEBIAN_FRONTEND=noninteractive\n{script}"
    # They share a folder of packages, which apt locks and does not wait for.
    with (ROOT / "build/.packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [str(ROOT / "tools/bare"), "--packages", *options, "--project", str(project)]
        done = subprocess.run(
            [*command, "bash", "-c", wanted],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout
