"""F6. Writes generated files: only changed ones, all or none, and removes orphans of earlier runs.

Each output root has a manifest, `.mfidl-manifest.json`, which names for each file the generators and modules
that it belongs to: `{"version": 2, "files": {path: ["cpp sf1.search", ...]}}`. A run of some generators for
some modules removes these pairs from all files, adds them to what it writes, and removes files that belong to
none then. It never changes a file that is not in the manifest, unless it generates one of that name for one
module: a package's `__init__.py` that modules share, and that a user wrote, stays.

For files that users may edit later, such as imported schemas, the manifest has the SHA-256 of what was
written, in `written`. Such a file is replaced or removed only if it is as it was written, unless the caller
overwrites.

Links stay links, and files keep their permissions. Streams (mfidl/emit/stream.py) are written last, since
that cannot be undone.
"""

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial

from mfidl.diagnostics import Diagnostics
from mfidl.emit import depfile
from mfidl.emit.output import GeneratedFile
from mfidl.emit.stream import stream_at, write_stream
from mfidl.places import MANIFEST

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TRIES = 1000  # to find a root that other runs remove


@dataclass(frozen=True, slots=True)
class OutputTree:
    """The files of one generator, `by`, below one root. `edited`: users may edit them later."""

    by: str
    root: str
    files: Sequence[GeneratedFile]
    edited: bool = False


@dataclass(frozen=True, slots=True)
class _Write:
    """`target` is the file that `path` leads to; `old` its content, None: no file."""

    path: str
    target: str
    data: bytes
    old: bytes | None


@dataclass(slots=True)
class _Plan:
    """What a run will do."""

    writes: list[_Write] = field(default_factory=list)
    streams: list[tuple[str, str | int, bytes]] = field(default_factory=list)  # (path, stream, data)
    removals: list[tuple[str, str]] = field(default_factory=list)  # (root, full path)


def write_trees(
    trees: Sequence[OutputTree], modules: Sequence[str], diagnostics: Diagnostics, overwrite: bool = False
) -> bool:
    """Writes the trees for `modules`. False, with a diagnostic and nothing changed, if that fails.
    `overwrite`: also what users have edited.
    """
    roots: dict[str, list[OutputTree]] = {}  # by real path: two names of one folder have one manifest
    for tree in trees:
        roots.setdefault(os.path.realpath(tree.root), []).append(tree)
    with _alone(roots):
        plan = _Plan()
        for own in roots.values():
            if not _plan_root(own[0].root, own, modules, plan, overwrite, diagnostics):
                return False
        return _carry_out(plan, diagnostics)


@contextlib.contextmanager
def _alone(roots: Iterable[str]) -> Iterator[None]:
    """Makes other runs wait that write below one of these real paths: the rules of a parallel build may write
    modules into one root, with one manifest. What is locked is the root itself, which is made first.
    """
    made: list[str] = []
    with contextlib.ExitStack() as held:
        for root in sorted(roots):  # all runs in one order, so that none waits for another in a circle
            with contextlib.suppress(OSError):  # where a root cannot be made or locked, writing says why
                held.callback(os.close, _locked(root, made))
        try:
            yield
        finally:
            _remove_empty(made)


def _locked(root: str, made: list[str]) -> int:
    """The descriptor of a locked root that exists. Another run may remove a root that it made and did not
    need, while this one waits for the lock: then it is made again.
    """
    for _ in range(_TRIES):
        try:
            _make_folders(root, made)
            descriptor = os.open(root, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(root, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), root)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@dataclass(frozen=True, slots=True)
class BuildFiles:
    """The files for a build system besides the code; each a path, or None.

    `depfile` is a make rule. With `stamp`, a file that is touched last of all, the rule makes only that, and
    of the compiler's own files too, so that a new compiler compiles anew. `outputs` lists what was generated.
    """

    depfile: str | None = None
    stamp: str | None = None
    outputs: str | None = None


def write_build_files(
    wanted: BuildFiles,
    trees: Sequence[OutputTree],
    inputs: Sequence[str],
    compiler: Sequence[str],
    diagnostics: Diagnostics,
) -> bool:
    """Write what is wanted for trees that are on disk; the list and the rule only if they changed."""
    names = list(dict.fromkeys(_join(tree.root, each.path) for tree in trees for each in tree.files))
    if not _are_one_line(wanted, names, diagnostics):
        return False
    contents = []
    if wanted.depfile is not None:
        made = names if wanted.stamp is None else [wanted.stamp]
        needed = inputs if wanted.stamp is None else [*inputs, *compiler]
        contents.append((wanted.depfile, depfile.rule(made, needed, compiler[0])))
        _warn_of_names(wanted.depfile, made, needed, compiler[0], diagnostics)
    if wanted.outputs is not None:
        contents.append((wanted.outputs, "".join(f"{name}\n" for name in names)))
    plan = _Plan()
    for path, text in contents:
        if not _put(plan, path, text.encode(), diagnostics):
            return False
    if wanted.stamp is not None and stream_at(wanted.stamp) is None:
        plan.writes.append(_Write(wanted.stamp, _target(wanted.stamp), b"", None))
    return _carry_out(plan, diagnostics)


def _are_one_line(wanted: BuildFiles, names: Sequence[str], diagnostics: Diagnostics) -> bool:
    """Refuses output folders and stamps with a line break, if a rule or a list is to name them. The names of
    schemas have none (mfidl/semantics/loading.py).
    """
    if wanted.depfile is None and wanted.outputs is None:
        return True
    for path in (*names, *filter(None, [wanted.stamp])):
        if not depfile.is_one_line(path):
            reason = "its name holds a line break, which make rules and lists of files cannot have"
            diagnostics.error("E0004", None, path=path, reason=reason)
            return False
    return True


def _warn_of_names(
    path: str, made: Sequence[str], needed: Sequence[str], known: str, diagnostics: Diagnostics
) -> None:
    found = depfile.not_followed(made, needed, known)
    if found is not None:
        name, text, programs = found
        diagnostics.warning("W0009", None, path=path, programs=programs, name=name, text=text)


def write_file(path: str, data: bytes, diagnostics: Diagnostics) -> bool:
    """One file that a command was asked for by name; only if it changed."""
    plan = _Plan()
    return _put(plan, path, data, diagnostics) and _carry_out(plan, diagnostics)


def written(trees: Sequence[OutputTree], wanted: BuildFiles) -> tuple[dict[str, str], list[str]]:
    """The files that a run wrote: its own with their texts, and the paths of those that other runs add to."""
    files = [(_join(tree.root, each.path), each) for tree in trees for each in tree.files]
    texts = {path: each.text for path, each in files if each.module}
    shared = [path for path, each in files if not each.module]
    manifests = [os.path.join(tree.root, MANIFEST) for tree in trees]
    return texts, [*shared, *manifests, *filter(None, (wanted.depfile, wanted.outputs))]


def _join(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/"))


def _target(path: str) -> str:
    return os.path.realpath(path) if os.path.islink(path) else path


def _read(path: str) -> bytes | None:
    if stream_at(path) is not None:
        return None
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def _put(plan: _Plan, path: str, data: bytes, diagnostics: Diagnostics) -> bool:
    """Plan that a path gets this content, unless it has that. False, with a diagnostic, if it cannot."""
    stream = stream_at(path)
    if stream is not None:
        plan.streams.append((path, stream, data))
        return True
    try:
        old = _read(path)
    except OSError as error:
        diagnostics.error("E0004", None, path=path, reason=error.strerror or str(error))
        return False
    if old != data:
        plan.writes.append(_Write(path, _target(path), data, old))
    return True


@dataclass(slots=True)
class _Manifest:
    """`owners` of each file, and the SHA-256 of those that users may edit, as they were `written`."""

    owners: dict[str, list[str]] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        kept = {path: names for path, names in self.owners.items() if names}
        written = {path: digest for path, digest in self.written.items() if path in kept}
        data = {"version": 2, "files": kept} | ({"written": written} if written else {})
        return json.dumps(data, indent=1, sort_keys=True) + "\n"

    def is_edited(self, path: str, old: bytes | None, new: bytes | None) -> bool:
        """Whether the content of a file is neither what was written last nor what will be."""
        return old is not None and old != new and hashlib.sha256(old).hexdigest() != self.written.get(path)


def _load_manifest(root: str) -> _Manifest:
    """An unreadable manifest counts as none: nothing is removed."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        data = json.loads(_read(os.path.join(root, MANIFEST)) or b"{}")
        if data["version"] == 2:
            owners = {
                str(path): [str(name) for name in names]
                for path, names in data["files"].items()
                if _is_safe(path)
            }
            written = {str(path): str(digest) for path, digest in data.get("written", {}).items()}
            return _Manifest(owners, written)
    return _Manifest()


def _is_safe(path: str) -> bool:
    parts = path.split("/")
    return (
        bool(path)
        and not any(part in ("", ".", "..") for part in parts)
        and not any(each in path for each in "\\:\0")
    )


def _plan_root(
    root: str,
    trees: Sequence[OutputTree],
    modules: Sequence[str],
    plan: _Plan,
    overwrite: bool,
    diagnostics: Diagnostics,
) -> bool:
    manifest = _load_manifest(root)
    made_now = {f"{tree.by} {module}" for tree in trees for module in modules}
    edited = {each.path for tree in trees if tree.edited for each in tree.files}
    replaced = edited if overwrite else set()
    owners = {
        path: [name for name in names if name not in made_now and path not in replaced]
        for path, names in manifest.owners.items()
    }
    written: dict[str, GeneratedFile] = {}
    added: dict[str, list[str]] = {}
    for by, each in ((tree.by, each) for tree in trees for each in tree.files):
        assert _is_safe(each.path), each.path
        other = written.get(each.path)
        clash = next((name.partition(" ")[2] for name in owners.get(each.path, ()) if each.module), None)
        if other is not None and (other.text != each.text or other.module != each.module):
            clash = other.module or each.module
        if clash is not None:
            names = {"path": each.path, "first": clash, "second": each.module or "several modules"}
            diagnostics.error("E0005", None, **names)  # type: ignore[arg-type]
            return False
        written[each.path] = each
        stands_for = [each.module] if each.module else modules
        added.setdefault(each.path, []).extend(f"{by} {module}" for module in stands_for)
    for path, each in list(written.items()):
        if not each.module and path not in manifest.owners and _is_anothers(_join(root, path), each.text):
            del written[path]
    for path in written:
        owners[path] = sorted({*owners.get(path, ()), *added[path]})
    contents = {path: each.text.encode("utf-8") for path, each in sorted(written.items())}
    removed = [path for path in owners if not owners[path]]
    if not overwrite and _refuse_edited(root, manifest, contents, edited, removed, diagnostics):
        return False
    digests = {path: hashlib.sha256(contents[path]).hexdigest() for path in edited}
    contents[MANIFEST] = _Manifest(owners, {**manifest.written, **digests}).text().encode()
    for path, new in contents.items():
        if not _put(plan, _join(root, path), new, diagnostics):
            return False
    plan.removals += [(root, _join(root, path)) for path in removed]
    return True


def _refuse_edited(
    root: str,
    manifest: _Manifest,
    contents: Mapping[str, bytes],
    edited: Set[str],
    removed: Sequence[str],
    diagnostics: Diagnostics,
) -> bool:
    """Whether files that would be replaced or removed were edited since they were written. Reports each."""
    refused = False
    watched = [*sorted(edited), *(path for path in removed if path in manifest.written)]
    for path in watched:
        place = _join(root, path)
        with contextlib.suppress(OSError):  # writing it will report the reason
            if manifest.is_edited(path, _read(place), contents.get(path)):
                diagnostics.error("E1008", None, path=place)
                refused = True
    return refused


def _is_anothers(path: str, text: str) -> bool:
    """Whether a user wrote a shared file, such as an `__init__.py` above the generated packages: it has the
    same effect as ours, and stays.
    """
    try:
        old = _read(path)
    except OSError:
        return False  # writing it will report the reason
    return old is not None and old != text.encode()


def _carry_out(plan: _Plan, diagnostics: Diagnostics) -> bool:
    """Write beside, then rename; on any failure put back what was there, and remove what was begun."""
    temporaries: list[str] = []
    folders: list[str] = []
    replaced: list[tuple[str, bytes | None]] = []
    current = ""
    try:
        for each in plan.writes:
            current = each.path
            _make_folders(os.path.dirname(each.target), folders)
            temporary = f"{each.target}.{os.getpid()}.tmp"
            temporaries.append(temporary)
            _write_beside(each.target, temporary, each.data)
        for each, temporary in zip(plan.writes, list(temporaries), strict=True):
            current = each.path
            os.replace(temporary, each.target)
            temporaries.remove(temporary)
            replaced.append((each.target, each.old))
        for path, stream, data in plan.streams:
            current = path
            write_stream(stream, data)
    except OSError as error:
        _undo(temporaries, replaced, folders)
        diagnostics.error("E0004", None, path=current, reason=error.strerror or str(error))
        return False
    except BaseException:  # Ctrl-C, above all
        _undo(temporaries, replaced, folders)
        raise
    for root, path in plan.removals:
        _prune(root, path)
    return True


def _write_beside(target: str, temporary: str, data: bytes) -> None:
    """With the permissions of the file that it will replace, from the beginning."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mode = None
    with open(temporary, "wb", opener=partial(os.open, mode=0o666 if mode is None else 0o600)) as stream:
        if mode is not None:
            os.chmod(temporary, mode)
        stream.write(data)


def _make_folders(folder: str, made: list[str]) -> None:
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        try:
            os.mkdir(each)
        except FileExistsError:
            if not os.path.isdir(each):
                raise
        else:
            made.append(each)


def _undo(temporaries: list[str], replaced: list[tuple[str, bytes | None]], folders: list[str]) -> None:
    with contextlib.suppress(OSError):
        for path, old in replaced:
            if old is None:
                os.unlink(path)
            else:
                with open(path, "wb") as stream:
                    stream.write(old)
    for path in temporaries:
        with contextlib.suppress(OSError):
            os.unlink(path)
    _remove_empty(folders)


def _remove_empty(folders: Sequence[str]) -> None:
    """Removes those that are empty, the inner ones first."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _prune(root: str, path: str) -> None:
    """Remove an orphan, and the folders that it leaves empty below the root."""
    with contextlib.suppress(OSError):
        os.unlink(path)
        folder = os.path.dirname(path)
        while len(folder) > len(root):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
