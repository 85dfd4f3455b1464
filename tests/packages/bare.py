"""A bare Debian 12 whose /srv/project holds dist/, and a script that runs there as root."""

import fcntl
import shutil
import subprocess
from pathlib import Path

from .conftest import DIST, ROOT, run

WHEELS_AND_PACKAGES = ("*.whl", "*.deb")


def run_on_bare_debian(folder: Path, script: str) -> str:
    """What the script has printed, each of its commands among it. It must succeed."""
    project = folder / "project"
    (project / "dist").mkdir(parents=True)
    for pattern in WHEELS_AND_PACKAGES:
        for path in DIST.glob(pattern):
            shutil.copy(path, project / "dist")
    (project / "script").write_text(f"set -eux\nexport DEBIAN_FRONTEND=noninteractive\n{script}")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin")):
        run(*git, *command, cwd=project)
    # They share a folder of packages, which apt locks and does not wait for.
    with (DIST / ".packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [str(ROOT / "tools/bare"), "--packages", "--project", str(project), "bash", "script"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=850,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout
