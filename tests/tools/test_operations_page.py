"""docs/operations.md lists what the runtimes log as a warning or an error, and nothing else."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = (ROOT / "docs/operations.md").read_text().split("\n## Logs\n")[1].split("\n## ")[0]
HEADS = ("event (C++)", "event", "line of Python")
SERIOUS = {"warning", "error"}

_CALL = re.compile(r'Level::(\w+)(?:\s*:\s*Level::(\w+))?,\s*(?:\w+\s*\?\s*"(\w+)"\s*:\s*)?"(\w+)"')
_LIMITED = re.compile(r'Level::(\w+),\s*line_of\("(\w+)"')
_PAUSE = re.compile(r'trouble_\([\w.]+log, "(\w+)", "(\w+)"\)')


def rows() -> Iterator[tuple[str, list[str], list[str]]]:
    """For each row of a table: the head of its first column, the code in that column, and the levels."""
    head = ""
    for line in LOGS.splitlines():
        if not line.startswith("|"):
            head = ""
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not head:
            head = cells[0]
        elif not cells[0].startswith("---"):
            yield head, re.findall(r"`([^`]+)`", cells[0]), cells[1].split(", ")


def listed(*heads: str) -> dict[str, set[str]]:
    """What the tables with these heads list, with the levels that each may have."""
    found: dict[str, set[str]] = defaultdict(set)
    for head, names, levels in rows():
        if head in heads:
            for i, name in enumerate(names):
                found[name] |= {levels[i]} if len(levels) == len(names) else set(levels)
    return found


def logged_by_cpp() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "runtime/cpp").rglob("*.[ch]pp")):
        text = path.read_text()
        for level, other_level, other_event, event in _CALL.findall(text):
            found[event] |= {level, other_level} - {""}
            if other_event:
                found[other_event].add(level)
        for level, event in _LIMITED.findall(text):
            found[event].add(level)
        for trouble, over in _PAUSE.findall(text):
            found[trouble].add("warning")
            found[over].add("info")
    return found


def logged_by_python() -> tuple[dict[str, set[str]], set[str]]:
    """Sentences with their levels, `…` for each value, and the events of lines that C++ has, too."""
    sentences: dict[str, set[str]] = defaultdict(set)
    events: set[str] = set()
    for path in sorted((ROOT / "runtime/python/mf").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        imported = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
        names = {alias.asname: alias.name for alias in imported if alias.asname}
        for node in nodes:
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = names.get(name, name)
            said = getattr(node.args[0], "value", None)
            if not isinstance(said, str):
                continue
            if name == "line":
                events.add(said)
            elif name in SERIOUS and said != "%s":
                sentences[re.sub("%[sd]", "…", said)].add(name)
    return sentences, events


def test_each_event_of_cpp_that_is_a_warning_or_an_error_is_listed_with_its_level() -> None:
    serious = {event: levels for event, levels in logged_by_cpp().items() if levels & SERIOUS}
    assert len(serious) > 40
    page = listed(*HEADS[:2])

    assert sorted(serious.keys() - page.keys()) == []
    assert {event for event, levels in serious.items() if not levels & SERIOUS <= page[event]} == set()


def test_each_event_that_is_listed_is_logged_with_its_level() -> None:
    logged = logged_by_cpp()
    _, only_python = logged_by_python()
    only_python -= logged.keys()

    page = {event: levels for event, levels in listed(*HEADS[:2]).items() if event not in only_python}

    assert {event: levels - logged.get(event, set()) for event, levels in page.items() if levels} == {
        event: set() for event in page
    }


def test_the_lines_of_python_are_those_that_are_listed() -> None:
    sentences, events = logged_by_python()

    assert listed(HEADS[2]) == sentences
    assert sorted(events - listed(*HEADS[:2]).keys()) == []


def test_the_event_of_cpp_in_each_row_of_python_is_listed() -> None:
    table = LOGS.split(f"| {HEADS[2]} |")[1].split("\n\n")[0]
    named = {each for row in table.splitlines()[2:] for each in re.findall(r"`(\w+)`", row.rsplit("|", 2)[1])}

    assert len(named) > 8
    assert sorted(named - listed(*HEADS[:2]).keys()) == []
