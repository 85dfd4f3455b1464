"""F0. Remembers runs of `mfidlc compile`, so that a run with nothing to do ends before any slow import.

One file for each run in $MFIDL_CACHE, else $XDG_CACHE_HOME/mfidl, else ~/.cache/mfidl, named by the command
line and its working folder. MFIDL_CACHE= (empty) disables it. There is nothing to do if
 - the compiler's own files are the same (name, size, time),
  - every schema that was read has the same content at the same place, and no schema was added where one
    was searched before it was found,
  - every file that was written has the same content: one that was edited or deleted is made again.
Contents are compared by digest, never by time. In case of doubt, it compiles. A folder that another user
could change is not used (mfidl/private.py).

    file = digest of body, body
    body = marshal of the compiler's digest and of Run's fields
"""

import marshal
import os
import sys
import time
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from mfidl import private
from mfidl.places import MANIFEST, PACKAGE, TEMPLATES

_CODE = (".py", ".j2")
_BESIDE = ("antlr4", "jinja2")  # compared only if they are installed beside the compiler
_KEPT = 500
_DIGEST = 16
_STARTED = time.time_ns()
_TICK = 10_000_000  # file systems may have time steps of some milliseconds
_examined: dict[str, bool] = {}  # whether each folder that this process has asked for is private


class Run(NamedTuple):
    """A successful run: its inputs, outputs, and messages."""

    inputs: list[tuple[str, str, bytes]]  # path, real path, digest
    absent: list[str]  # where schemas were searched without success
    outputs: list[tuple[str, bytes]]  # path, digest
    stamp: str | None  # touched by every run
    stdout: str
    stderr: str
    plain: bool  # on a terminal the messages have the same colours


def compiler_files() -> list[str]:
    """The compiler's own code and templates, which influence the generated files."""
    return [path for path, _ in _compiler_entries()]


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


def digest_file(path: str) -> bytes | None:
    """The digest of its content; None if it cannot be read, or is not a regular file, since a pipe can be
    read only once."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            return digest(stream.read())
    except (OSError, ValueError):
        return None


def recall(arguments: Sequence[str], roots: Iterable[str]) -> Run | None:
    """The remembered run of this command line, which writes below `roots`, if all files are unchanged.
    Touches its stamp then.
    """
    run = _load(arguments)
    if run is None or not _wrote_below(roots, run) or not _holds(run):
        return None
    if run.stamp is not None:
        try:
            with open(run.stamp, "ab"):
                os.utime(run.stamp)
        except OSError:
            return None
    return run


def remember(arguments: Sequence[str], run: Run) -> None:
    """Stores a run; a failure to do so only costs time."""
    kept = folder()
    if kept is None or _is_edited():
        return
    body = marshal.dumps((_compiler_digest(), *run))
    path = _path(kept, arguments)
    try:
        private.make_folder(kept)
        private.write_file(path, digest(body) + body)
        _forget_oldest(kept)
    except OSError:
        return


def _load(arguments: Sequence[str]) -> Run | None:
    kept = folder()
    if kept is None:
        return None
    data = private.read_file(_path(kept, arguments)) or b""
    body = data[_DIGEST:]
    if data[:_DIGEST] != digest(body):  # truncated, or another file: marshal must not read it
        return None
    found = marshal.loads(body)
    if not isinstance(found, tuple) or found[:1] != (_compiler_digest(),):
        return None
    return Run(*found[1:]) if _are_fields(found[1:]) else None


def _are_fields(found: tuple[Any, ...]) -> bool:
    """Whether these are the fields of a `Run`."""
    return (
        len(found) == len(Run._fields)
        and _are_rows(found[0], str, str, bytes)
        and isinstance(found[1], list)
        and all(isinstance(path, str) for path in found[1])
        and _are_rows(found[2], str, bytes)
        and isinstance(found[3], str | None)
        and all(isinstance(text, str) for text in found[4:6])
        and isinstance(found[6], bool)
    )


def _are_rows(found: Any, *types: type) -> bool:
    return isinstance(found, list) and all(
        isinstance(row, tuple) and len(row) == len(types) and all(map(isinstance, row, types))
        for row in found
    )


def _wrote_below(roots: Iterable[str], run: Run) -> bool:
    """Whether the record has the manifest of each root: a record that names no output proves nothing."""
    names = {path for path, _ in run.outputs}
    return all(os.path.join(root, MANIFEST) in names for root in roots)


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
    """The folder for remembered runs; None if disabled, or if another user could change it."""
    chosen = _chosen()
    return chosen if chosen and _is_private(chosen) else None


def _chosen() -> str | None:
    chosen = os.environ.get("MFIDL_CACHE")
    if chosen is not None:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "mfidl") if os.path.isabs(base) else None


def _is_private(chosen: str) -> bool:
    """Whether no other user can change a folder. One that another user could change is reported once."""
    if chosen not in _examined:
        reason = private.objection(chosen)
        _examined[chosen] = reason is None
        if reason is not None and sys.stderr is not None:
            advice = "MFIDL_CACHE names another folder"
            sys.stderr.write(f"mfidlc: the cache `{chosen}` is not used, because {reason}; {advice}\n")
    return _examined[chosen]


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
    """A digest of names, sizes and times of some hundred files, and of the interpreter."""
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
    """Whether the compiler's files changed during a run, which then belongs to neither version."""
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
