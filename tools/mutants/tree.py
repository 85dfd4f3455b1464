"""A copy of the working tree below build/, brought up to date by what differs: builds in it stay small."""

import subprocess
from pathlib import Path


def copy(root: Path, to: Path) -> None:
    """Everything that git knows or would add; what is gone is removed."""
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
