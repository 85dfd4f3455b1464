"""F6. The older schemas: a file, a folder, or a revision of the git repository that the newer ones lie in.

It only finds files; the pipeline reads and checks them. A revision is written to a temporary folder, only its
.mfidl files, and messages name them as `REVISION:path`.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mfidl.source import Span

_GIT_SECONDS = 60
_SUFFIX = ".mfidl"


class BaselineError(Exception):
    """There is no such baseline. The text gives the reason, and what to do."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """`files` are the files to check, `import_paths` where their imports are searched. `added` are newer
    files that the baseline does not have. `root` and `label`: how messages name its files.
    """

    files: tuple[str, ...]
    import_paths: tuple[str, ...]
    added: tuple[str, ...] = ()
    root: str = ""
    label: str = ""

    def span(self, span: Span | None) -> Span | None:
        """The same place, with the path that the user has written."""
        if span is None or not self.root or not span.file.path.startswith(self.root + os.sep):
            return span
        name = self.label + os.path.relpath(span.file.path, self.root)
        return Span(replace(span.file, name=name), span.start, span.end)


def schemas(paths: Sequence[str]) -> list[str]:
    """Files unchanged, folders replaced by all schemas below them."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found += sorted(str(each) for each in Path(path).rglob(f"*{_SUFFIX}"))
        else:
            found.append(path)
    return found


@contextmanager
def open_baseline(reference: str, paths: Sequence[str], import_paths: Sequence[str]) -> Iterator[Baseline]:
    """`paths` are the newer files and folders, as the user named them. Raises BaselineError."""
    if os.path.isfile(reference):
        if len(schemas(paths)) != 1:
            raise BaselineError(f"'{reference}' is one file: compare one FILE with it, or name a folder")
        searched = [_counterpart(path, [(paths[0], reference)]) or path for path in import_paths]
        # A file may have been saved without its imports: these are then read as they are now.
        yield Baseline((reference,), tuple(dict.fromkeys((*searched, *import_paths))))
    elif os.path.isdir(reference):
        yield _in_folder(reference, paths, import_paths)
    else:
        yield from _in_revision(reference, paths, import_paths)


def _in_folder(folder: str, paths: Sequence[str], import_paths: Sequence[str]) -> Baseline:
    files: list[str] = []
    added: list[str] = []
    pairs: list[tuple[str, str]] = []
    for path in paths:
        older = _below(folder, path)
        if older is None and os.path.isdir(path):
            older = folder  # `breaking new/ --against old/`
        if older is None:
            added.append(path)
        else:
            files += schemas([older])
            pairs.append((path, older))
    searched = [_counterpart(path, pairs) or _below(folder, path) or path for path in import_paths]
    return Baseline(tuple(dict.fromkeys(files)), tuple(dict.fromkeys((*searched, folder))), tuple(added))


def _counterpart(import_path: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    """The import path of the older schemas for one of the newer ones: it is at the root of a pair of paths
    that end alike, or below. `-I new new/api/svc.mfidl --against old/api/svc.mfidl`: `old`.
    """
    searched = Path(os.path.abspath(import_path))
    for newer, older in pairs:
        root, older_root = _roots(Path(os.path.abspath(newer)), Path(os.path.abspath(older)))
        if searched.is_relative_to(root):
            found = older_root / searched.relative_to(root)
            if found.is_dir():
                return str(found)
    return None


def _roots(newer: Path, older: Path) -> tuple[Path, Path]:
    """Both paths without the components in which they end alike."""
    while newer.name == older.name and newer.name:
        newer, older = newer.parent, older.parent
    return newer, older


def _below(folder: str, path: str) -> str | None:
    """The file or folder for a path: the longest of the path's endings that exists in the folder."""
    parts = Path(os.path.abspath(path)).parts[1:]
    for start in range(len(parts)):
        candidate = os.path.join(folder, *parts[start:])
        if os.path.exists(candidate) and os.path.isdir(candidate) == os.path.isdir(path):
            return candidate
    return None


def _in_revision(revision: str, paths: Sequence[str], import_paths: Sequence[str]) -> Iterator[Baseline]:
    start = next((path for path in paths if os.path.exists(path)), ".")
    folder = start if os.path.isdir(start) else os.path.dirname(start) or "."
    top = _git(folder, "rev-parse", "--show-toplevel", failed=_neither(revision, folder)).decode().strip()
    named = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _git(folder, *named, failed=_neither(revision, folder)).decode().strip()
    with tempfile.TemporaryDirectory(prefix="mfidlc-breaking-") as temporary:
        root = os.path.realpath(temporary)
        _write_schemas(top, commit, root)
        files: list[str] = []
        added: list[str] = []
        for path in paths:
            older = os.path.join(root, _relative(path, top, revision))
            if os.path.exists(older):
                files += schemas([older])
            else:
                added.append(path)
        inside = [os.path.realpath(path) for path in import_paths]
        searched = [
            os.path.normpath(os.path.join(root, os.path.relpath(path, top)))
            if (path + os.sep).startswith(top + os.sep)
            else path
            for path in inside
        ]
        yield Baseline(tuple(files), tuple(searched), tuple(added), root, f"{revision}:")


def _neither(revision: str, folder: str) -> str:
    return f"'{revision}' is not a file, not a folder, and not a git revision of `{folder}`"


def _relative(path: str, top: str, revision: str) -> str:
    real = os.path.realpath(path)
    if not (real + os.sep).startswith(top + os.sep):
        raise BaselineError(f"'{path}' is outside of {top}, the repository of '{revision}'")
    return os.path.relpath(real, top)


def _write_schemas(top: str, commit: str, root: str) -> None:
    """All schemas of a commit, below `root`."""
    failed = f"git cannot read commit {commit[:12]}"
    listed = _git(top, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, failed=failed)
    names = [name for name in listed.split(b"\0") if name.endswith(_SUFFIX.encode())]
    for name in names:
        blob = _git(top, "cat-file", "blob", f"{commit}:{os.fsdecode(name)}", failed=failed)
        target = Path(root, os.fsdecode(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(blob)


def main_branch(folder: str) -> tuple[str, str] | None:
    """The branch that others build on, and its commit: that of the remote, or `main` or `master` here. None
    where there is no repository, or no such branch.
    """
    for branch in ("origin/HEAD", "main", "master"):
        with suppress(BaselineError):
            named = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{branch}^{{commit}}")
            return branch, _git(folder, *named, failed="").decode().strip()
    return None


def _git(folder: str, *arguments: str, failed: str) -> bytes:
    command = ["git", "-C", folder, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except FileNotFoundError:
        raise BaselineError(f"{failed}: git is not installed") from None
    except subprocess.TimeoutExpired:
        raise BaselineError(f"{failed}: git gave no answer within {_GIT_SECONDS} s") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise BaselineError(f"{failed}: {said.splitlines()[-1]}" if said else failed)
    return done.stdout
