"""R6. Values of configuration files and of the environment, before they become options.

A file is TOML. Its keys are written as paths here: `listen` below `[server]` is server.listen. A variable of
the environment has the name of the key in capitals, with "_" for ".", behind a prefix: MF_SERVER_LISTEN. It
overrides the file.

Every mistake is one line that begins with its place, FILE:LINE or the name of the variable. C++ (mf/config)
writes the same lines; tests/config/cases.json holds both to them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import Final, NoReturn

from mf.core.edit_distance import edit_distance

_MOST_MISTAKES: Final = 20
_LONGEST_SHOWN: Final = 64


class Kind(Enum):
    """What a value is, as messages say it."""

    TEXT = "a string"
    INTEGER = "an integer"
    NUMBER = "a number"
    BOOLEAN = "true or false"
    LIST = "a list"
    SECTION = "a section"
    OTHER = "a date, or a list of such"


Plain = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its place: FILE:LINE, or the name of a variable. None: a section, or of no kind that keys
    have."""

    key: str
    kind: Kind
    value: Plain | None
    place: str


@dataclass(frozen=True, slots=True)
class Key:
    """A key that is understood, and what it means. `least` and `most`: of an integer or a number. `choices`:
    the words that a text may be; none: any."""

    name: str
    kind: Kind
    meaning: str
    least: int = 0
    most: int | None = None
    choices: tuple[str, ...] = ()

    def wanted(self) -> str:
        """What the key takes, as it is written behind "give "."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.kind is Kind.LIST:
            return "a list of strings"
        text: str = self.kind.value
        if self.kind not in (Kind.INTEGER, Kind.NUMBER):
            return text
        if self.most is not None:
            return f"{text} from {self.least} to {self.most}"
        return f"{text} of at least {self.least}" if self.least else text

    def allows(self, value: Plain) -> bool:
        if isinstance(value, bool | list):
            return True
        if isinstance(value, str):
            return not self.choices or value in self.choices
        return isfinite(value) and value >= self.least and (self.most is None or value <= self.most)


class Mistakes:
    """Mistakes in the order in which they were found, at most twenty."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, place: str, what: str) -> None:
        if len(self.lines) < _MOST_MISTAKES:
            self.lines.append(f"{place}: {what}")

    def raise_any(self) -> None:
        """Raises ValueError with all lines, if there are any."""
        if self.lines:
            refuse("\n".join(self.lines))


def refuse(lines: str) -> NoReturn:
    raise ValueError(lines)


def variable_of(prefix: str, key: str) -> str:
    """'MF_SERVER_LISTEN' for the prefix 'MF_' and the key 'server.listen'."""
    return prefix + key.upper().replace(".", "_").replace("-", "_")


def gather(
    keys: Sequence[Key],
    file: Iterable[Value],
    prefix: str,
    environment: Mapping[str, str],
    mistakes: Mistakes,
) -> dict[str, Value]:
    """The values by their keys, those of the environment before those of the file. What is no key, is of the
    wrong kind, or is not among what its key allows is a mistake."""
    gathering = _Gathering(keys, mistakes)
    gathering.add_file(file)
    gathering.add_environment(prefix, environment)
    return gathering.values


class _Gathering:
    def __init__(self, keys: Sequence[Key], mistakes: Mistakes) -> None:
        self._keys = {key.name: key for key in keys}
        self._sections = list(dict.fromkeys(above for key in keys for above in _sections_of(key.name)))
        self._mistakes = mistakes
        self.values: dict[str, Value] = {}

    def add_file(self, file: Iterable[Value]) -> None:
        skipped: list[str] = []  # sections that were reported as a whole
        for value in file:
            if any(value.key.startswith(above) for above in skipped):
                continue
            if not self._add(value) and value.kind is Kind.SECTION:
                skipped.append(value.key + ".")

    def add_environment(self, prefix: str, environment: Mapping[str, str]) -> None:
        for key in self._keys.values():
            place = variable_of(prefix, key.name)
            if text := environment.get(place, ""):
                parsed = _parsed(key.kind, text)
                if parsed is None or not key.allows(parsed):
                    self._say_wrong(key, quoted(text), text, place)
                else:
                    self.values[key.name] = Value(key.name, key.kind, parsed, place)

    def _add(self, value: Value) -> bool:
        """False: it is a mistake."""
        key = self._keys.get(value.key)
        if key is None:
            return self._add_other(value)
        if value.value is None or not _fits(value.kind, key.kind):
            self._mistakes.add(value.place, f"{value.key} is {value.kind.value}: give {key.wanted()}")
            return False
        if not key.allows(value.value):
            text = str(value.value)
            self._say_wrong(key, quoted(text) if value.kind is Kind.TEXT else text, text, value.place)
            return False
        self.values[value.key] = value
        return True

    def _add_other(self, value: Value) -> bool:
        """What is no key with a value: a section, or a mistake."""
        is_section = value.key in self._sections
        if value.kind is Kind.SECTION:
            if not is_section:
                near = _suggestion(value.key, self._sections)
                self._mistakes.add(value.place, f"there is no section {value.key}{near}")
            return is_section
        if is_section:
            where = f"it is a section, whose keys are written below [{value.key}]"
            self._mistakes.add(value.place, f"{value.key} is {value.kind.value}: {where}")
        else:
            near = _suggestion(value.key, self._keys)
            self._mistakes.add(value.place, f"there is no key {value.key}{near}")
        return False

    def _say_wrong(self, key: Key, shown: str, text: str, place: str) -> None:
        near = _suggestion(text, key.choices) if key.choices else ""
        self._mistakes.add(place, f"{key.name} is {shown}: give {key.wanted()}{near}")


def _sections_of(key: str) -> Iterable[str]:
    parts = key.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _fits(kind: Kind, wanted: Kind) -> bool:
    return kind is wanted or (kind is Kind.INTEGER and wanted is Kind.NUMBER)


def _parsed(kind: Kind, text: str) -> Plain | None:
    """The value of a variable of the environment; None: it is of another kind."""
    if kind is Kind.TEXT:
        return text
    if kind is Kind.LIST:
        return [part for part in text.split(",") if part]
    if kind is Kind.BOOLEAN:
        return {"true": True, "false": False}.get(text)
    if not text.isascii() or text.strip("+ _") != text or "_" in text:
        return None
    try:
        return int(text) if kind is Kind.INTEGER else float(text)
    except ValueError:
        return None


def quoted(text: str) -> str:
    raw = text.encode("utf-8", "surrogateescape")
    shown = "".join(chr(each) if 0x20 <= each <= 0x7E else "?" for each in raw[:_LONGEST_SHOWN])
    return f'"{shown}…"' if len(raw) > _LONGEST_SHOWN else f'"{shown}"'


def _suggestion(word: str, names: Iterable[str]) -> str:
    name = nearest(word, names)
    return f"; did you mean {name}?" if name else ""


def nearest(word: str, names: Iterable[str]) -> str:
    """The name that is most like `word`; empty if none is near."""
    known = list(names)
    size = len(word.encode("utf-8", "replace"))
    if size > _LONGEST_SHOWN:
        return ""
    found, least = "", size // 3 + 1
    for name in known:
        if (distance := edit_distance(word, name)) < least:
            found, least = name, distance
    if found:
        return found
    last = word.rpartition(".")[2]
    return next((name for name in known if name.rpartition(".")[2] == last), "")
