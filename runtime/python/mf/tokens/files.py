"""R3. Files of keys and tokens, whose owner and mode are checked on the open file."""

import os
from contextlib import suppress
from typing import NoReturn

from mf.core.files import objection_to
from mf.core.secret import Secret

_MOST_BYTES = 16 * 1024


def read_file(path: str, *, for_all: bool = False) -> bytes:
    """`for_all`: others may read it. Symbolic links are followed, since secrets of Kubernetes are such: what
    they lead to is checked. Raises ValueError, which names the file."""
    try:
        # O_NONBLOCK: a pipe in its place must not hold up the program.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as failed:
        _refuse(path, f"cannot be read: {failed.strerror}")
    with os.fdopen(descriptor, "rb") as file:
        _check(path, os.fstat(descriptor), for_all)
        try:
            return file.read(_MOST_BYTES)
        except OSError as failed:
            _refuse(path, f"cannot be read: {failed.strerror}")


def read_token(path: str | os.PathLike[str]) -> Secret:
    """The token in the file at `path`, without the newline behind it; the file is one that others cannot
    read."""
    text = read_file(os.fspath(path)).decode("ascii", "replace").removesuffix("\n")
    if not text:
        _refuse(os.fspath(path), "it holds no token")
    return Secret(text)


def write_new(path: str, data: bytes, *, for_all: bool = False) -> None:
    """Makes a file that only this user can read, or (`for_all`) only this user can write. Raises ValueError
    if there is one, or a symbolic link, already."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o644 if for_all else 0o600)
    except OSError as failed:
        _refuse(path, f"cannot be made: {failed.strerror}")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except OSError as failed:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - as it was given
        _refuse(path, f"cannot be written: {failed.strerror}")


def _check(path: str, found: os.stat_result, for_all: bool) -> None:
    if why := objection_to(found, for_all=for_all):
        _refuse(path, why)
    if found.st_size > _MOST_BYTES:
        _refuse(path, f"it has more than {_MOST_BYTES} bytes")


def _refuse(path: str, why: str) -> NoReturn:
    raise ValueError(f"'{path}': {why}") from None
