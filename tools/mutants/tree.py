"""A copy of the working tree below build/, in which only files that differ are updated, so that builds stay
small."""

import fcntl
import os
import subprocess
from pathlib import Path


def claim(place: Path) -> bool:
    """Claims the place until this process ends. False if another process has claimed it, whose changes a copy
    would overwrite.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(place.with_name(place.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    return True


def copy(root: Path, to: Path) -> None:
    """Copies every file that git has or would add; removes what no longer exists."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    names = {name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()}
    for path in [path for path in to.rglob("*") if path.is_file() or path.is_symlink()]:
        if str(path.relative_to(to)) not in names and "__pycache__" not in path.parts:
            path.unlink()
    for name in sorted(names):
        data = (root / name).read_bytes()
        path = to / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod((root / name).stat().st_mode)
    (to / ".venv").unlink(missing_ok=True)
    (to / ".venv").symlink_to((root / ".venv").resolve())
