"""Takes from this process what no question needs: files but the compiler's own, programs, connections.

The compiler does not ask for any of these when it is given texts. This is the second lock: a mistake in the
first one ends in a refusal that the page shows, and not in an answer with the content of a file.
"""

import os
import resource
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mf
from mfidl.places import PACKAGE, TEMPLATES

MEMORY = 1 << 30  # bytes of address space
_LISTED = ("os.listdir", "os.scandir")
_REFUSED = (
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.chdir",
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "socket.__new__",
    "socket.connect",
    "socket.bind",
    "subprocess.Popen",
)


def confine() -> None:
    """To be called once, before the first question; there is no way back."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(guard(_roots(), frozenset(map(os.path.abspath, sys.path))))


def guard(roots: tuple[str, ...], listed: frozenset[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """The hook. `roots` are folders whose files may be read, `listed` further folders that may be listed."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _REFUSED:
            raise PermissionError(f"the playground refuses {event}")
        if event == "open":
            path, mode, flags = arguments
            writes = (isinstance(mode, str) and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR)
            if writes or not _is_below(path, roots):
                raise PermissionError("the playground opens no files of this machine")
        elif event in _LISTED and not (_is_below(arguments[0], roots) or _absolute(arguments[0]) in listed):
            raise PermissionError("the playground lists no folders of this machine")

    return hook


def _is_below(path: Any, roots: tuple[str, ...]) -> bool:
    return _absolute(path).startswith(roots)


def _absolute(path: Any) -> str:
    """ "" for what is no path, such as the number of an open file. Links are not followed: that would ask the
    disk, and a person that can put a link among the compiler's files can change the compiler.
    """
    return os.path.abspath(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else ""


def _roots() -> tuple[str, ...]:
    """Where Python and the compiler keep the files that they read themselves, with a slash at the end."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    installed += [
        each for each in sys.path if Path(each).name in ("site-packages", "dist-packages", "lib-dynload")
    ]
    own = [PACKAGE, TEMPLATES, *mf.__path__]
    return tuple(os.path.join(os.path.abspath(each), "") for each in (*installed, *own))
