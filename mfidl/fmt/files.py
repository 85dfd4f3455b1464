"""Formatting files: read, lay out, compare, replace whole or not at all.

Line ends are those of the first line of the file, `\\n` or `\\r\\n`; a byte order mark is removed. The result
is parsed again and compared before it is returned, so that a bug in the formatter cannot damage a schema.
"""

import contextlib
import errno
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.fmt.document import Printer
from mfidl.fmt.layout import Layout
from mfidl.fmt.same import same_comments, same_file
from mfidl.fmt.trivia import read
from mfidl.source import SIZE_LIMIT, SourceFile, UnreadableSource, decode_source, read_data
from mfidl.syntax import ast
from mfidl.syntax.parser import parse
from mfidl.syntax.tokens import tokenize

_TIMES = 5


@dataclass(frozen=True, slots=True)
class FormatResult:
    """One file: its text before and after; `after` is None if it does not parse. `changed`: its bytes do."""

    name: str
    before: str
    after: str | None
    changed: bool


@dataclass(frozen=True, slots=True)
class FormatOutcome:
    """`unusable`: a file could not be read or written, which is more than a mistake in a schema."""

    results: tuple[FormatResult, ...]
    diagnostics: list[Diagnostic]
    unusable: bool


class Unstable(Exception):
    """The formatter would have changed what a file means: a bug of the formatter."""


def format_source(source: SourceFile, diagnostics: Diagnostics) -> str | None:
    """The text in canonical style; None, with diagnostics (new ones for each file), if it does not parse."""
    before = parse(source, diagnostics)
    if diagnostics:
        return None
    text = _settled(source)
    if text != source.text:
        _compare(source, before, text)
    return text


def _settled(source: SourceFile) -> str:
    """Formatted until nothing changes any more: nearly always the first time, but a comment in an odd place
    may belong to another line once the lines are broken.
    """
    text = source.text
    for _ in range(_TIMES):
        again = _laid_out(SourceFile(source.path, source.name, text))
        if again == text:
            break
        text = again
    return text


def _laid_out(source: SourceFile) -> str:
    tokens = read(source, tokenize(source, Diagnostics()))
    lines = Printer().print(Layout(source.text, tokens).file())
    first = source.text.find("\n")
    end = "\r\n" if first > 0 and source.text[first - 1] == "\r" else "\n"
    return "".join(line + end for line in lines)


def _compare(source: SourceFile, before: ast.File, text: str) -> None:
    formatted = SourceFile(source.path, source.name, text)
    mistakes = Diagnostics()
    after = parse(formatted, mistakes)
    if mistakes or not same_file(before, after) or not same_comments(source, formatted):
        raise Unstable(source.name)


def format_data(data: bytes, name: str, diagnostics: Diagnostics) -> FormatResult:
    """The bytes of one file."""
    source = decode_source(data, name, name)
    after = format_source(source, diagnostics)
    return FormatResult(name, source.text, after, after is not None and after.encode("utf-8") != data)


def format_stream(stream: BinaryIO, name: str) -> FormatOutcome:
    """What a stream holds, called `name` in messages."""
    diagnostics = Diagnostics()
    results: tuple[FormatResult, ...] = ()
    try:
        results = (format_data(stream.read(SIZE_LIMIT + 1), name, diagnostics),)
    except UnreadableSource as error:
        diagnostics.error(error.code, None, **error.values)
    return FormatOutcome(results, diagnostics.sorted(), False)


def format_files(paths: Sequence[str], *, write: bool) -> FormatOutcome:
    """Formats each file separately; `write`: replaces those that changed."""
    found: list[Diagnostic] = []
    results: list[FormatResult] = []
    unusable = False
    for path in dict.fromkeys(paths):
        diagnostics = Diagnostics()
        try:
            result = format_data(read_data(path, path), path, diagnostics)
            if write and result.changed and result.after is not None:
                unusable = not _replace(path, result.after.encode("utf-8"), diagnostics) or unusable
            results.append(result)
        except UnreadableSource as error:
            diagnostics.error(error.code, None, **error.values)
            unusable = unusable or error.code == "E0001"
        found += diagnostics.sorted()
    return FormatOutcome(tuple(results), found, unusable)


def _replace(path: str, data: bytes, diagnostics: Diagnostics) -> bool:
    """Writes beside the file, syncs, then renames; a link stays a link, and the permissions stay."""
    target = os.path.realpath(path)
    temporary = None
    try:
        mode = os.stat(target).st_mode & 0o7777
        if not os.access(target, os.W_OK):  # a rename would not check
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".mfidlc-fmt-")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        diagnostics.error("E0004", None, path=path, reason=error.strerror or str(error))
        return False
    finally:  # also for an interrupt
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    return True
