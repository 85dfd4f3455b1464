"""Files as the loader reads them: open documents from memory, others from disk, each parsed once as long as
it does not change. What is kept is bounded by the length of its texts; the file that was not used for longest
goes first.
"""

import os
from collections import OrderedDict
from dataclasses import dataclass

from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.lsp.text import Document
from mfidl.semantics.loading import Sources
from mfidl.source import SIZE_LIMIT, SourceFile, UnreadableSource, read_source
from mfidl.syntax import ast
from mfidl.syntax.parser import parse

KEPT_CHARACTERS = 4 * 1024 * 1024  # a tree takes about 150 bytes for each


@dataclass(frozen=True, slots=True)
class _Parsed:
    stamp: tuple[int, ...]
    file: ast.File
    diagnostics: tuple[Diagnostic, ...]


class Store(Sources):
    """One per server, used by the worker. The other thread puts open documents into `documents`."""

    def __init__(self, kept_characters: int = KEPT_CHARACTERS) -> None:
        self.documents: dict[str, tuple[Document, str, int]] = {}  # by real path: with text and version
        self._kept_characters = kept_characters
        self._parsed: OrderedDict[str, _Parsed] = OrderedDict()
        self.characters = 0

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path) or os.path.realpath(path) in self.documents

    def parsed(self, path: str, name: str, diagnostics: Diagnostics) -> ast.File:
        found = self._current(path, name)
        for each in found.diagnostics:
            diagnostics.add(each)
        return found.file

    def text(self, path: str) -> str:
        """Of a file that was parsed; raises UnreadableSource."""
        return self._current(path, path).file.source.text

    def _current(self, path: str, name: str) -> _Parsed:
        stamp = self._stamp(path, name)
        known = self._parsed.get(path)
        if known is not None and known.stamp == stamp:
            self._parsed.move_to_end(path)
            return known
        self._forget(path)
        source = self._read(path, name)
        diagnostics = Diagnostics()
        made = _Parsed(stamp, parse(source, diagnostics), tuple(diagnostics))
        self._parsed[path] = made
        self.characters += len(source.text)
        while self.characters > self._kept_characters and len(self._parsed) > 1:
            self._forget(next(iter(self._parsed)))
        return made

    def _forget(self, path: str) -> None:
        known = self._parsed.pop(path, None)
        if known is not None:
            self.characters -= len(known.file.source.text)

    def _stamp(self, path: str, name: str) -> tuple[int, ...]:
        opened = self.documents.get(os.path.realpath(path))
        if opened is not None:
            return id(opened[0]), opened[2]
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UnreadableSource("E0001", path=name, reason=reason) from None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self, path: str, name: str) -> SourceFile:
        opened = self.documents.get(os.path.realpath(path))
        if opened is None:
            return read_source(path, name)
        text = opened[1]
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > SIZE_LIMIT:
            raise UnreadableSource("E0003", path=name, size=size, limit=SIZE_LIMIT)
        zero = text.find("\0")
        if zero >= 0:
            raise UnreadableSource("E0006", path=name, byte=zero, help=None)
        return SourceFile(path, name, text)
