"""F6. The files of one run: read, each after its includes, settled, and written as texts."""

import os
import posixpath
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.emit.python.names import package_name
from mfidl.foreign import draft
from mfidl.foreign.draft import File, Project
from mfidl.foreign.places import Places
from mfidl.foreign.scan import Refused
from mfidl.foreign.settle import settle
from mfidl.foreign.sound import sound_texts
from mfidl.model.target_words import PYTHON_PACKAGES
from mfidl.source import SourceFile, Span, UnreadableSource, read_source

if TYPE_CHECKING:  # a run loads the parser of the language that it reads
    from mfidl.foreign import slice_syntax, thrift_syntax

KINDS = (".proto", ".thrift", ".ice")
_FILE_LIMIT = 4_096
_INCLUDE_DEPTH_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Options:
    """`folders` are searched for what a file includes; `protoc` is the one to run instead of PATH's, for at
    most `protoc_seconds`, or for a time that suits the number of files. `archive`: messages of protobuf keep
    their bytes.
    """

    folders: tuple[str, ...] = ()
    protoc: str | None = None
    protoc_seconds: float | None = None
    archive: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """A schema: its path below the folder that all are written to, its module, and its text."""

    path: str
    module: str
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """There are no schemas if there is an error. Files that were read but not needed are not reported."""

    schemas: tuple[Imported, ...]
    diagnostics: list[Diagnostic]
    failed: bool


def import_files(paths: Sequence[str], options: Options) -> Result:
    """The schemas of these files, and of what they use of the files that they include."""
    project, diagnostics = Project(), Diagnostics()
    for path in paths:
        if not path.endswith(KINDS):
            diagnostics.error("E1004", None, path=path)
    for kind in KINDS:
        own = [path for path in dict.fromkeys(paths) if path.endswith(kind)]
        if own and not diagnostics:
            _READERS[kind](own, options, project, diagnostics)
    needed: list[File] = []
    if not diagnostics:
        needed = _needed(project, {os.path.realpath(path) for path in paths}, diagnostics)
        project.files = [file for file in needed if file.declarations]
        _tell_modules_apart(project, diagnostics)
        _tell_python_apart(project, diagnostics)
        settle(project, diagnostics)
    texts = {} if diagnostics else sound_texts(project, diagnostics)
    if diagnostics:
        return Result((), diagnostics.sorted(), True)
    schemas = tuple(Imported(file.path, file.module, texts[file.path]) for file in project.files)
    sources = {file.source for file in needed}
    told = [each for each in diagnostics.sorted() if each.span is None or each.span.file in sources]
    return Result(schemas, told, False)


def _needed(project: Project, requested: set[str], diagnostics: Diagnostics) -> list[File]:
    """The files that were named, and those that these refer to."""
    waiting = [file for file in project.files if os.path.realpath(file.source.path) in requested]
    found = {id(file): file for file in waiting}
    for file in waiting:
        if not file.declarations:
            what = f"all of `{file.name}`, which declares no type and no service"
            diagnostics.warning("W1001", file.place, what=what)
        for declaration in file.declarations:
            for key in draft.references(declaration):
                other = project.file_of(key)
                if id(other) not in found:
                    found[id(other)] = other
                    waiting.append(other)
    return [file for file in project.files if id(file) in found]


def _tell_modules_apart(project: Project, diagnostics: Diagnostics) -> None:
    """Files whose modules would have one name get their folders into it; an underscore, where that is not
    enough."""
    count = Counter(file.module for file in project.files)
    for file in project.files:
        if count[file.module] > 1:
            file.be_named_in_full()
    modules: set[str] = set()
    paths: dict[str, File] = {}
    for file in project.files:
        wanted = file.module
        while file.module in modules:
            file.module += "_"
        modules.add(file.module)
        if file.module != wanted:
            diagnostics.warning(
                "W1003",
                file.place,
                name=wanted,
                new=file.module,
                where=f"in the schema of `{file.name}`",
                reason="that of another file is the module of that name",
            )
        other = paths.setdefault(file.path, file)
        if other is not file:
            names = file.source.name, other.source.name
            diagnostics.error("E1006", file.place, path=names[0], schema=file.path, other=names[1])


def _tell_python_apart(project: Project, diagnostics: Diagnostics) -> None:
    """Reports the Python names of modules whose own names are taken by packages of other distributions or by
    modules of the standard library.
    """
    for file in project.files:
        words = file.module.split(".")
        around = (".".join(words[:end]) for end in range(1, len(words) + 1))
        taken = next((each for each in around if each in PYTHON_PACKAGES), None)
        if taken is not None:
            reason = f"the package of {PYTHON_PACKAGES[taken]} has that name"
        elif words[0] in sys.stdlib_module_names:
            taken, reason = words[0], "a module of the standard library has that name"
        else:
            continue
        diagnostics.warning(
            "W1003",
            file.place,
            help="`mfidlc compile --python-package PREFIX` puts it below a package of your own",
            name=taken,
            new=package_name(taken, ""),
            where="in Python",
            reason=reason,
        )


# .proto ----------------------------------------------------------------------------------------------------


def _read_proto(paths: Sequence[str], options: Options, project: Project, diagnostics: Diagnostics) -> None:
    from mfidl.foreign.proto import read_proto  # protobuf is imported only where it is needed
    from mfidl.foreign.protoc import Protoc, descriptors, seconds_for

    folders, names = _named(paths, options.folders)
    places = Places(folders)
    for path, name in zip(paths, names, strict=True):
        try:
            source = read_source(path, path)
        except UnreadableSource as error:
            diagnostics.error(error.code, None, **error.values)
            continue
        first = places.find(name)  # which protoc reads by that name
        if first is not None and os.path.realpath(first) != os.path.realpath(path):
            schema = f"{posixpath.splitext(name)[0]}.mfidl"
            diagnostics.error("E1006", Span(source, 0, 0), path=path, schema=schema, other=first)
    if diagnostics:
        return
    run = Protoc(options.protoc, options.protoc_seconds or seconds_for(len(names)))
    found = descriptors(names, folders, run, places, diagnostics)
    if found is not None:
        read_proto(found, options.archive, places, project, diagnostics)


def _named(paths: Sequence[str], folders: Sequence[str]) -> tuple[list[str], list[str]]:
    """All folders to search, and each path as below the first that has it: its own, if none has."""
    known = list(folders)
    names: list[str] = []
    for path in paths:
        absolute = os.path.abspath(path)
        holder = next((each for each in known if _is_below(absolute, each)), None)
        if holder is None:
            holder = os.path.dirname(path)
            known.append(holder)
        names.append(os.path.relpath(absolute, os.path.abspath(holder)).replace(os.sep, "/"))
    return known, names


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(os.path.abspath(folder), ""))


# .thrift and .ice ------------------------------------------------------------------------------------------


class _Document(Protocol):
    """What is parsed of a file: what it includes, with the places of that."""

    @property
    def includes(self) -> list[tuple[str, Span]]: ...


_D = TypeVar("_D", bound=_Document)


class _Loader(Generic[_D]):
    """Reads files in the order in which they need each other."""

    def __init__(
        self,
        folders: Sequence[str],
        parse: Callable[[SourceFile], _D],
        read: Callable[[_D, str, dict[str, list[str]]], None],
        diagnostics: Diagnostics,
    ) -> None:
        self._places = Places(folders)
        self._parse = parse
        self._read = read
        self._diagnostics = diagnostics
        self._names: dict[str, str | None] = {}  # real path: name of what was read; None: it has an error
        self._reading: list[str] = []  # real paths, each included by the one before it

    def load(self, path: str, name: str, span: Span | None = None) -> str | None:
        """The name of a file below the folders, when it and all that it includes were read."""
        real = os.path.realpath(path)
        if real in self._reading:
            self._diagnostics.error("E1005", span, reason=f"`{name}` includes itself")
            return None
        if real in self._names:
            return self._names[real]
        if len(self._names) > _FILE_LIMIT:
            self._diagnostics.error("E1005", span, reason=f"more than {_FILE_LIMIT} files")
            return None
        if len(self._reading) > _INCLUDE_DEPTH_LIMIT:
            reason = f"files include each other more than {_INCLUDE_DEPTH_LIMIT} levels deep"
            self._diagnostics.error("E1005", span, reason=reason)
            return None
        self._names[real] = None
        self._reading.append(real)
        if self._load(path, name, span):
            self._names[real] = name
        self._reading.pop()
        return self._names[real]

    def _load(self, path: str, name: str, span: Span | None) -> bool:
        """Reads a file, and before it what it includes; whether all of that went well."""
        try:
            document = self._parse(read_source(path, path))
            included = self._included(document, path, name)
            if included is None:
                return False
            self._read(document, name, included)
        except UnreadableSource as error:
            self._diagnostics.error(error.code, span, **error.values)
            return False
        except Refused as refused:
            self._diagnostics.error("E1003", refused.span, message=refused.message)
            return False
        return True

    def _included(self, document: _D, path: str, name: str) -> dict[str, list[str]] | None:
        """The names of the included files by their stems; None where one is missing or wrong."""
        found: dict[str, list[str]] = {}
        complete = True
        for target, span in document.includes:
            place = self._places.find(target, beside=path)
            if place is None:
                help_ = "name its folder by -I"
                self._diagnostics.error("E1005", span, help=help_, reason=f"cannot find `{target}`")
                complete = False
                continue
            beside = os.path.normpath(os.path.join(os.path.dirname(path), target)) == place
            own = posixpath.join(posixpath.dirname(name), target) if beside else target
            own = posixpath.normpath(own)
            if own.startswith(("../", "/")):
                own = posixpath.basename(own)
            known = self.load(place, own, span)
            complete = complete and known is not None
            if known is not None:
                stem = posixpath.splitext(posixpath.basename(target))[0]
                found.setdefault(stem, []).append(known)
        return found if complete else None


def _read_thrift(paths: Sequence[str], options: Options, project: Project, diagnostics: Diagnostics) -> None:
    from mfidl.foreign.thrift import read_thrift
    from mfidl.foreign.thrift_syntax import parse

    def read(document: "thrift_syntax.Document", name: str, included: dict[str, list[str]]) -> None:
        read_thrift(document, name, included, project, diagnostics)

    folders, names = _named(paths, options.folders)
    loader = _Loader(folders, parse, read, diagnostics)
    for path, name in zip(paths, names, strict=True):
        loader.load(path, name)


def _read_slice(paths: Sequence[str], options: Options, project: Project, diagnostics: Diagnostics) -> None:
    from mfidl.foreign.slice import Slice
    from mfidl.foreign.slice_syntax import Reader

    run = Slice(project, diagnostics)

    def read(document: "slice_syntax.Document", name: str, _: dict[str, list[str]]) -> None:
        run.read(document, name)

    folders, names = _named(paths, options.folders)
    reader = Reader(Places(folders).find)
    loader = _Loader(folders, reader.parse, read, diagnostics)
    for path, name in zip(paths, names, strict=True):
        loader.load(path, name)


_READERS = {".proto": _read_proto, ".thrift": _read_thrift, ".ice": _read_slice}
