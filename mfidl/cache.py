"""F0. Remembers runs of `mfidlc compile`, so that a run with nothing to do ends before anything heavy is
imported.

One file a run in $MFIDL_CACHE, else $XDG_CACHE_HOME/mfidl, else ~/.cache/mfidl, named by the command line and
the folder it was given in. MFIDL_CACHE= (empty) remembers nothing. There is nothing to do if
  - the compiler's own files are the same (name, size, time),
  - every schema that was read has the content it had, at the place it had, and no schema has come to where
    one was looked for before it was found,
  - every file that was written has the content it was given: edited or deleted by hand, it is made anew.
Contents are compared by digest and never by time. In any doubt: compile.

    file = digest of body, body
    body = marshal of the compiler's digest and of Run's fields
"""

import marshal
import os
import sys
import time
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from mfidl.places import PACKAGE, TEMPLATES

_CODE = (".py", ".j2")
_BESIDE = ("antlr4", "jinja2")  # what generates with us: found beside us, or not looked at
_KEPT = 500
_DIGEST = 16
_STARTED = time.time_ns()
_TICK = 10_000_000  # file systems may count in ticks of some milliseconds


class Run(NamedTuple):
    """A successful run: what it read, what it wrote, what it said."""

    inputs: list[tuple[str, str, bytes]]  # path, real path, digest
    absent: list[str]  # where schemas were looked for in vain
    outputs: list[tuple[str, bytes]]  # path, digest
    stamp: str | None  # touched by every run
    stdout: str
    stderr: str
    plain: bool  # a terminal is told the same, in no other colour


def compiler_files() -> list[str]:
    """The compiler's own code and templates: with others the same schema may give other files."""
    return [path for path, _ in _compiler_entries()]


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


def digest_file(path: str) -> bytes | None:
    """Of its content; None if it cannot be read, or is no regular file: a pipe has its content once."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            return digest(stream.read())
    except (OSError, ValueError):
        return None


def recall(arguments: Sequence[str]) -> Run | None:
    """The remembered run of this command line, if everything is as it left it. Its stamp is touched then."""
    run = _load(arguments)
    if run is None or not _holds(run):
        return None
    if run.stamp is not None:
        try:
            with open(run.stamp, "ab"):
                os.utime(run.stamp)
        except OSError:
            return None
    return run


def remember(arguments: Sequence[str], run: Run) -> None:
    """Keep a run; where that is not possible, nothing is lost but time."""
    kept = folder()
    if kept is None or _is_edited():
        return
    body = marshal.dumps((_compiler_digest(), *run))
    path = _path(kept, arguments)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(kept, mode=0o700, exist_ok=True)
        with open(temporary, "wb") as stream:
            stream.write(digest(body) + body)
        os.replace(temporary, path)
        _forget_oldest(kept)
    except OSError:
        return


def _load(arguments: Sequence[str]) -> Run | None:
    kept = folder()
    if kept is None:
        return None
    try:
        with open(_path(kept, arguments), "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    body = data[_DIGEST:]
    if data[:_DIGEST] != digest(body):  # cut short, or not ours: marshal must not see it
        return None
    compiler, *fields = marshal.loads(body)
    return Run(*fields) if compiler == _compiler_digest() else None


def _holds(run: Run) -> bool:
    return (
        all(
            os.path.realpath(path) == real and digest_file(path) == content
            for path, real, content in run.inputs
        )
        and not any(map(os.path.exists, run.absent))
        and all(digest_file(path) == content for path, content in run.outputs)
    )


def folder() -> str | None:
    """Where runs are remembered; None where they are not."""
    chosen = os.environ.get("MFIDL_CACHE")
    if chosen is not None:
        return chosen or None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "mfidl") if os.path.isabs(base) else None


def _path(kept: str, arguments: Sequence[str]) -> str:
    words = "\0".join((os.getcwd(), *arguments)).encode("utf-8", "surrogateescape")
    return os.path.join(kept, digest(words).hex() + ".run")


def _forget_oldest(kept: str) -> None:
    with os.scandir(kept) as entries:
        runs = [entry for entry in entries if entry.name.endswith((".run", ".tmp"))]
    if len(runs) > _KEPT:
        for entry in sorted(runs, key=lambda each: each.stat().st_mtime)[: len(runs) // 2]:
            os.unlink(entry.path)


def _compiler_digest() -> bytes:
    """Cheap and sharp: names, sizes and times of some hundred files, and the interpreter."""
    parts = [
        sys.version,
        *(f"{path}:{stat.st_size}:{stat.st_mtime_ns}" for path, stat in _compiler_entries()),
    ]
    for name in _BESIDE:
        for folder in sys.path:
            path = os.path.join(folder, name)
            try:
                parts.append(f"{path}:{os.stat(path).st_mtime_ns}")
            except OSError:
                continue
            break
    return digest("\0".join(parts).encode("utf-8", "surrogateescape"))


def _is_edited() -> bool:
    """Whether the compiler's files changed under a run, which then is of neither the old nor the new one."""
    return any(stat.st_mtime_ns >= _STARTED - _TICK for _, stat in _compiler_entries())


def _compiler_entries() -> list[tuple[str, os.stat_result]]:
    beside = [] if TEMPLATES.startswith(PACKAGE) else code_below(TEMPLATES)
    return code_below(PACKAGE) + beside


def code_below(root: str) -> list[tuple[str, os.stat_result]]:
    """Code and templates below a folder, sorted."""
    return sorted(_walk([root]), key=lambda each: each[0])


def _walk(folders: list[str]) -> Iterable[tuple[str, os.stat_result]]:
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(_CODE):
                    yield entry.path, entry.stat()
                elif not entry.name.startswith(("__", ".")) and entry.is_dir():
                    folders.append(entry.path)
