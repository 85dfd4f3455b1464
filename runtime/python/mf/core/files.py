"""R0. Whether a file was replaced since it was read, and whether another user decides what it contains."""

import os
import stat

Stamp = tuple[int, ...]


def stamp_of(path: str) -> Stamp:
    """What distinguishes the file at this path from one that replaces it; empty if there is none."""
    try:
        file = os.stat(path)  # noqa: PTH116 - as it was given
    except OSError:
        return ()
    return (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns)


def objection_to(file: os.stat_result, *, for_all: bool) -> str:
    """Why the content of an open file may be that of another user, or be known to one, as the end of a
    sentence: it is no regular file, belongs to another user than root and that of this process, or its mode
    lets others write to it, or read it (unless it is `for_all`). Empty if nothing is wrong."""
    mode = stat.S_IMODE(file.st_mode)
    if not stat.S_ISREG(file.st_mode):
        return "it is no regular file"
    if file.st_uid not in (0, os.geteuid()):
        return f"its owner, user {file.st_uid}, could replace it"
    if not for_all and mode & 0o077:
        return f"others may use it (mode {mode:04o}): chmod 600 it"
    if mode & 0o022:
        return f"others may write to it (mode {mode:04o}): chmod 644 it"
    return ""
