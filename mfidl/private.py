"""F0. Files that no other user can change. The compiler runs the bytecode that it stored, and believes its
own record that a run has nothing to do: a user that can write these files decides what the compiler does.

A path is private if each folder and link that leads to it, and the file itself, belongs to this user or to
root, and no other user may write to it. In a folder with the sticky bit, such as /tmp, other users cannot
replace what is not theirs. Imports nothing that takes time, as mfidl/cache.py.
"""

import contextlib
import os
import stat
from collections.abc import Iterator

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST_LINKS = 40
_WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def objection(folder: str) -> str | None:
    """Why a folder is not private, as the end of a sentence; None if it is. What does not exist yet is no
    objection: `make_folder` makes it private.
    """
    if not hasattr(os, "geteuid"):  # Windows: the folder of a user is the user's alone
        return None
    try:
        for step in _steps(folder):
            status = os.lstat(step)
            if status.st_uid not in (0, os.geteuid()):
                return f"`{step}` belongs to another user"
            if stat.S_ISLNK(status.st_mode):
                continue
            is_last = step == os.path.realpath(folder)
            if status.st_mode & _OTHERS_WRITE and (is_last or not status.st_mode & stat.S_ISVTX):
                return f"other users may write to `{step}`"
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"`{folder}` cannot be examined: {error.strerror or error}"
    return None


def make_folder(folder: str, mode: int = 0o700) -> None:
    """Makes the folder and those above it that are missing. Raises OSError if it is not private then: another
    user may have made it in the meantime.
    """
    missing, above = [], folder
    while not os.path.isdir(above):
        missing.append(above)
        above = os.path.dirname(above)
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(each, mode)
    reason = objection(folder)
    if reason is not None:
        raise PermissionError(reason)


def read_file(path: str) -> bytes | None:
    """The content of a file in a private folder; None if there is none, or if others may have changed it."""
    try:
        descriptor = os.open(path, _READ)
        with open(descriptor, "rb") as stream:
            return stream.read() if _is_ours(os.fstat(descriptor)) else None
    except OSError:
        return None


def write_file(path: str, data: bytes) -> None:
    """Writes a file, all of it or nothing. Others may read it where they may read its folder."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    with open(temporary, "wb", opener=lambda name, _: os.open(name, _WRITE_NEW, 0o644)) as stream:
        stream.write(data)
    os.replace(temporary, path)


def _is_ours(status: os.stat_result) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "geteuid") or (
        status.st_uid in (0, os.geteuid()) and not status.st_mode & _OTHERS_WRITE
    )


def _steps(path: str) -> Iterator[str]:
    """The folders and links from the root to `path`, links followed one by one."""
    current, links = os.path.sep, 0
    left = _parts(os.path.abspath(path))
    yield current
    while left:
        name = left.pop()
        if name == os.pardir:
            current = os.path.dirname(current)
            continue
        step = os.path.join(current, name)
        yield step
        if not os.path.islink(step):
            current = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(f"more than {_MOST_LINKS} links")
        target = os.readlink(step)
        current = os.path.sep if os.path.isabs(target) else current
        left += _parts(target)


def _parts(path: str) -> list[str]:
    """The last one first."""
    return [part for part in reversed(path.split(os.path.sep)) if part not in ("", os.curdir)]
