"""Writes docs/log-events.md: the events that the runtimes log, with their levels and fields as the sources of
C++ and Python have them, and their meanings as tools/log_events.toml has them.

    python -m tools.log_events
"""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_MEANINGS = Path(__file__).with_suffix(".toml")
PAGE = _ROOT / "docs" / "log-events.md"
CPP = _ROOT / "runtime" / "cpp"
PYTHON = _ROOT / "runtime" / "python" / "mf"
LEVELS = ("debug", "info", "warning", "error")

# Level::info, "started", {{"version", …   Level::warning, known ? "this" : "that", {{…   and line_of("…", {{…
_CALL = re.compile(
    r"Level::(?P<level>\w+)(?:\s*:\s*(?:mf::)?Level::(?P<other_level>\w+))?,\s*(?:line_of\(\s*)?"
    r'(?:[^";{}]*\?\s*"(?P<other_event>\w+)"\s*:\s*)?"(?P<event>\w+)"(?P<rest>.*?)\);\n',
    re.DOTALL,
)
# .level = Level::warning, … .text = "lines_left_out count="
_WRITTEN_OUT = re.compile(r'\.level = Level::(?P<level>\w+),[^;]*?"(?P<event>\w+) (?P<fields>\w+)="')
# trouble_(log, "engine_away", "engine_back"): mf/bridge/pause.hpp writes both
_TROUBLE = re.compile(r'trouble_\([\w.]+log, "(\w+)", "(\w+)"\)')
_FIELD = re.compile(r'\{\s*"(\w+)",')

_HEAD = """# Events of the log

What C++ and Python log, by event, with level, fields and meaning. How lines look, where they go, and how
their level is chosen: [configuration.md](configuration.md#the-log).

`python -m tools.log_events` writes this page from the sources and from `tools/log_events.toml`.

| event | level | fields | raised by | meaning, and what to do |
|---|---|---|---|---|
"""
_SENTENCES = """
## Sentences of Python

Some lines of Python are sentences still, with the level and the meaning of an event of C++. As JSON they
have `message` in place of an event and its fields.

| line | level | event of C++ | meaning, if it is another one |
|---|---|---|---|
"""


@dataclass
class Event:
    levels: set[str] = field(default_factory=set)
    fields: dict[str, None] = field(default_factory=dict)  # in the order of the sources

    def add(self, level: str, fields: list[str]) -> None:
        self.levels.add(level)
        self.fields |= dict.fromkeys(fields)


def of_cpp(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Event, level and fields of each line that this source of C++ writes."""
    for call in _CALL.finditer(text):
        fields = _FIELD.findall(call["rest"])
        for level in filter(None, (call["level"], call["other_level"])):
            for event in filter(None, (call["event"], call["other_event"])):
                yield event, level, fields
    for call in _WRITTEN_OUT.finditer(text):
        yield call["event"], call["level"], [call["fields"]]
    for trouble, over in _TROUBLE.findall(text):
        yield trouble, "warning", ["topic", "reason", "next"]
        yield over, "info", ["topic"]


def of_python(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Event, level and fields of each line that this source of Python makes by line()."""
    if "line(" not in text:
        return
    module = ast.parse(text)
    is_function = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(module) if isinstance(node, is_function)]
    for call in _calls(module):
        if _name(call.func) != "line" or not call.args:
            continue
        inside = [each for each in functions if each.lineno <= call.lineno <= (each.end_lineno or 0)]
        place = _Place(module, inside[-1] if inside else module)
        fields = [each for keyword in call.keywords for each in place.fields(keyword.arg, keyword.value)]
        for event in _texts(call.args[0]):
            for level in place.levels(call):
                yield event, level, fields


def sentences_of_python(text: str) -> Iterator[tuple[str, str]]:
    """Line, with `…` for each value, and level of what is no event."""
    tree = ast.parse(text)
    levels = _aliases(tree)
    for call in _calls(tree):
        level = levels.get(_name(call.func), _name(call.func))
        said = getattr(call.args[0], "value", None) if call.args else None
        if level in LEVELS and isinstance(said, str) and said != "%s":
            yield re.sub("%[sd]", "…", said), level


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _aliases(tree: ast.AST) -> dict[str, str]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname: alias.name for node in imports for alias in node.names if alias.asname}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


@dataclass
class _Place:
    """The innermost function around a line, and its module."""

    module: ast.AST
    function: ast.AST

    def fields(self, name: str | None, value: ast.expr) -> list[str]:
        """The fields of one argument of line(): its own name, or the keys of `**value`."""
        if name is not None:
            return [name]
        match value:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return [
                    each for key, item in pairs for each in self.fields(getattr(key, "value", None), item)
                ]
            case ast.DictComp(generators=[ast.comprehension(iter=ast.Name(id=names))]):
                return [name for node in _assigned(names, self.module) for name in ast.literal_eval(node)]
            case ast.Call(func=ast.Name(id="peer_fields")):
                return ["peer", "identity"]
            case ast.Name(id=variable):
                nodes = _assigned(variable, self.function)
                return [each for node in nodes for each in self.fields(None, node)]
        return []

    def levels(self, line: ast.Call) -> set[str]:
        """Those of the functions that get this line: as an argument, by a variable, or as what this function
        returns."""
        holders = {_name(target) for target in _targets_of(line, self.function)}
        returned = any(
            isinstance(node, ast.Return) and node.value is line for node in ast.walk(self.function)
        )
        own_name = getattr(self.function, "name", "") if returned else ""
        aliases = _aliases(self.module)
        found = set()
        for call in _calls(self.module if own_name else self.function):
            given = [each for argument in call.args for each in ast.walk(argument)]
            if any(
                each is line
                or (isinstance(each, ast.Name) and each.id in holders)
                or (isinstance(each, ast.Call) and own_name and _name(each.func) == own_name)
                for each in given
            ):
                names = [_name(call.func), *(_name(each) for each in given if isinstance(each, ast.expr))]
                found |= {aliases.get(name, name).lower() for name in names} & set(LEVELS)
        return found


def _targets_of(value: ast.expr, scope: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and node.value is value:
            yield from node.targets


def _assigned(variable: str, scope: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and any(_name(target) == variable for target in node.targets):
            yield node.value


@cache
def events() -> tuple[dict[str, Event], dict[str, Event]]:
    """What the sources of C++ and of Python log."""
    cpp: dict[str, Event] = defaultdict(Event)
    python: dict[str, Event] = defaultdict(Event)
    for path in sorted(CPP.rglob("*.[ch]pp")):
        for event, level, fields in of_cpp(_without_comments(path.read_text())):
            cpp[event].add(level, fields)
    for path in sorted(PYTHON.rglob("*.py")):
        for event, level, fields in of_python(path.read_text()):
            python[event].add(level, fields)
    return cpp, python


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


@cache
def sentences() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(PYTHON.rglob("*.py")):
        for said, level in sentences_of_python(path.read_text()):
            if level in ("warning", "error"):
                found[said].add(level)
    return found


def meanings() -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    content = tomllib.loads(_MEANINGS.read_text())
    return content["events"], content["sentences"]


def page() -> str:
    """The text of the page."""
    cpp, python = events()
    of_events, of_sentences = meanings()
    rows = [_row(event, cpp.get(event), python.get(event), meaning) for event, meaning in of_events.items()]
    levels = sentences()
    said = [
        f"| `{line}` | {_levels(levels.get(line, set()))} | {row['event']} | {row.get('meaning', '')} |\n"
        for line, row in of_sentences.items()
    ]
    return "".join([_HEAD, *rows, _SENTENCES, *said])


def _row(event: str, cpp: Event | None, python: Event | None, meaning: str) -> str:
    languages = [name for name, each in (("C++", cpp), ("Python", python)) if each is not None]
    levels = _both(*(None if each is None else _levels(each.levels) for each in (cpp, python)))
    fields = _both(*(None if each is None else _listed(each.fields) for each in (cpp, python)))
    return f"| `{event}` | {levels} | {fields} | {', '.join(languages)} | {meaning} |\n"


def _levels(levels: set[str]) -> str:
    return ", ".join(sorted(levels, key=LEVELS.index))


def _listed(fields: dict[str, None]) -> str:
    return ", ".join(f"`{each}`" for each in fields)


def _both(cpp: str | None, python: str | None) -> str:
    if cpp is None or python is None or cpp == python:
        return cpp or python or ""
    return "; ".join(f"{name}: {text}" for name, text in (("C++", cpp), ("Python", python)) if text)


if __name__ == "__main__":
    PAGE.write_text(page())
