"""F6. Output paths that are not files: devices, pipes, or descriptors of the caller (`/dev/stdout`,
`/dev/fd/3`). Such a stream is only written: never read, since it may have no end, and never replaced.
"""

import errno
import os
import stat
import time

_WAIT = 10.0  # seconds in which a named pipe must get a reader
_PAUSE = 0.01
_LINKS = 40  # Linux's limit


def stream_at(path: str) -> str | int | None:
    """Where to write: the path, or the number of an inherited descriptor, which may be in the middle of a
    file. None if there is a file, a folder or nothing.
    """
    descriptor = _descriptor(path)
    if descriptor is not None:
        return descriptor
    return path if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path) else None


def write_stream(stream: str | int, data: bytes) -> None:
    with open(stream, "wb", closefd=isinstance(stream, str), opener=_open) as opened:
        opened.write(data)


def _descriptor(path: str) -> int | None:
    """Its number, if the path leads to an open file of ours."""
    for _ in range(_LINKS):
        if not os.path.islink(path):
            return None
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder == os.path.realpath("/proc/self/fd"):
            return int(name)
        path = os.path.join(folder, os.readlink(path))
    return None


def _open(path: str, flags: int) -> int:
    flags &= ~os.O_CREAT
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return os.open(path, flags)
    until = time.monotonic() + _WAIT
    while True:
        try:
            descriptor = os.open(path, flags | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        else:
            os.set_blocking(descriptor, True)
            return descriptor
        if time.monotonic() > until:
            raise OSError(errno.ENXIO, "no process reads this pipe")
        time.sleep(_PAUSE)
