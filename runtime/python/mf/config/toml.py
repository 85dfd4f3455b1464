"""R6. Reads TOML with the lines of its keys, which `tomllib` does not tell."""

import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mf.config.values import Kind, Value, refuse

_LARGEST: Final = 1 << 20
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_SPACE: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_BETWEEN: Final = re.compile(r"[ \t]*\.[ \t]*")
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_PLAIN: Final = re.compile(r"[^\"'#\[\]{}\n]+")
_COMMENT: Final = re.compile(r"#[^\n]*")
_WHERE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

_Path = tuple[str, ...]


def parse(text: str, path: str) -> list[Value]:
    """All keys and sections of the text of a file, by their lines. Raises ValueError if it is no TOML."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error)
        where = _WHERE.search(reason)
        line = where[1] if where and where[1] else str(text.count("\n") + 1)
        refuse(f"{path}:{line}: this is no TOML: {_WHERE.sub('', reason)}")
    lines = _lines_of_keys(text.replace("\r\n", "\n"))
    found = [
        (line, Value(key, kind, value, f"{path}:{line}"))
        for key, kind, value, line in _flattened(table, (), "", lines)
    ]
    found.sort(key=lambda each: each[0])
    return [value for _, value in found]


def read(path: str) -> list[Value]:
    """Those of the file at `path`, of at most 1 MiB. Raises ValueError if it cannot be read, too."""
    try:
        file = Path(path)
        if not stat.S_ISREG(file.stat().st_mode):
            refuse(f"{path}: cannot be read: it is no file")
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        refuse(f"{path}: cannot be read: {error.strerror}")
    if len(content) > _LARGEST:
        refuse(f"{path}: cannot be read: it is larger than 1 MiB")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        refuse(f"{path}:{line}: this is no TOML: it is not UTF-8")
    return parse(text, path)


def _flattened(
    table: dict[str, Any], above: _Path, name: str, lines: dict[_Path, int]
) -> Iterator[tuple[str, Kind, Any, int]]:
    for part, value in table.items():
        key = name + _shown(part)
        path = (*above, part)
        line = next(lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines)
        if isinstance(value, dict):
            yield key, Kind.SECTION, None, line
            yield from _flattened(value, path, key + ".", lines)
        else:
            yield key, *_kind_and_value(value), line


def _kind_and_value(value: Any) -> tuple[Kind, Any]:
    if isinstance(value, bool):
        return Kind.BOOLEAN, value
    for type_, kind in ((str, Kind.TEXT), (int, Kind.INTEGER), (float, Kind.NUMBER)):
        if isinstance(value, type_):
            return kind, value
    if isinstance(value, list) and all(type(item) in (str, int) for item in value):
        return Kind.LIST, [str(item) for item in value]
    return Kind.OTHER, None


def _shown(part: str) -> str:
    """A part of a key as it is named in messages: one that must be quoted in TOML is so here, and can thus be
    none of the keys of a program."""
    if _BARE.fullmatch(part):
        return part
    shown = "".join(chr(each) if 0x20 <= each <= 0x7E else "?" for each in part.encode()[:64])
    return f'"{shown}"'


def _lines_of_keys(text: str) -> dict[_Path, int]:
    """The line of each key and section of a text that is TOML; keys within braces have that of their
    table."""
    lines: dict[_Path, int] = {}
    section: _Path = ()
    at = _end(_SPACE, text, 0)
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        if text[at] == "[":
            section, at = _key_at(text, text.index("[", at) + (2 if text.startswith("[[", at) else 1))
            _note(lines, section, 0, line)
        else:
            key, at = _key_at(text, at)
            _note(lines, section + key, len(section), line)
        at = _end(_SPACE, text, _after_value(text, at))
    return lines


def _note(lines: dict[_Path, int], path: _Path, known: int, line: int) -> None:
    for size in range(known + 1, len(path) + 1):
        lines.setdefault(path[:size], line)


def _key_at(text: str, at: int) -> tuple[_Path, int]:
    """A key with all its parts, and where it ends."""
    parts: list[str] = []
    while True:
        at = _end(_SPACE, text, at)
        end = _end(_KEY, text, at)
        part = text[at:end]
        parts.append(part if _BARE.fullmatch(part) else tomllib.loads(f"part = {part}")["part"])
        at = _end(_BETWEEN, text, end)
        if at == end:
            return tuple(parts), at


def _after_value(text: str, at: int) -> int:
    """The end of the statement: a newline that is in no brackets and in no string."""
    depth = 0
    while at < len(text):
        character = text[at]
        if character in "\"'":
            at = _end(_STRING, text, at)
        elif character == "#":
            at = _end(_COMMENT, text, at)
        elif character == "\n" and depth <= 0:
            return at
        elif character in "[]{}\n":
            depth += {"[": 1, "{": 1, "]": -1, "}": -1, "\n": 0}[character]
            at += 1
        else:
            at = _end(_PLAIN, text, at)
    return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
