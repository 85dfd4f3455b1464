"""R0. Whether a file was replaced since it was read."""

import os

Stamp = tuple[int, ...]


def stamp_of(path: str) -> Stamp:
    """What tells the file at this path from one that replaces it; empty if there is none."""
    try:
        file = os.stat(path)  # noqa: PTH116 - as it was given
    except OSError:
        return ()
    return (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns)
