"""docs/log-events.md lists each event that the sources log, in both languages, and nothing else."""

import re
from pathlib import Path

from tools import log_events
from tools.log_events import CPP, PAGE, PYTHON, events, meanings, of_cpp, of_python, page, sentences

SOURCES = {
    "C++": [path.read_text() for path in sorted(CPP.rglob("*.[ch]pp"))],
    "Python": [path.read_text() for path in sorted(PYTHON.rglob("*.py"))],
}


def rows() -> dict[str, list[str]]:
    """By event: its level, its fields, the languages and the meaning, as the page has them."""
    table = PAGE.read_text().split("\n## ")[0]
    cells = [line.strip("| ").split(" | ", 4) for line in table.splitlines() if line.startswith("| `")]
    return {event.strip("`"): rest for event, *rest in cells}


def test_the_page_is_what_the_tool_writes() -> None:
    assert PAGE.read_text() == page(), "run python -m tools.log_events"


def test_each_event_of_the_page_is_in_the_sources_of_the_languages_that_it_names() -> None:
    missing = [
        (event, language)
        for event, (_, _, languages, _) in rows().items()
        for language in languages.split(", ")
        if not any(re.search(rf'"{event}[" ]', source) for source in SOURCES[language])
    ]
    assert missing == []


def test_each_event_of_the_sources_is_on_the_page() -> None:
    written = {
        "C++": r'\.write\(\s*(?:mf::)?Level::\w+,\s*"(\w+)"',
        "Python": r'(?<!\.)\bline\(\s*"(\w+)"',
    }
    listed = rows()
    for language, pattern in written.items():
        found = {event for source in SOURCES[language] for event in re.findall(pattern, source)}
        assert len(found) > 20
        assert [event for event in sorted(found) if language not in listed.get(event, ["", "", ""])[2]] == []


def test_no_line_that_the_sources_write_is_overlooked() -> None:
    """Each call that names a level, and each line(), gives at least one event with a level."""
    for path in sorted(CPP.rglob("*.cpp")):
        text = log_events._without_comments(path.read_text())
        calls = len(re.findall(r"\.write\(\s*(?:\w+ \? )?(?:mf::)?Level::", text))
        assert len({event for event, _, _ in of_cpp(text)}) >= min(calls, 1), path
        assert len(list(of_cpp(text))) >= calls, path
    for path in sorted(PYTHON.rglob("*.py")):
        text = path.read_text()
        calls = len(re.findall(r'(?<!\.)(?<!def )\bline\(\s*"', text))
        assert len(list(of_python(text))) >= calls, path


def test_each_event_has_a_meaning_and_the_other_way_round() -> None:
    cpp, python = events()
    of_events, of_sentences = meanings()
    assert of_events.keys() == cpp.keys() | python.keys()
    assert list(of_events) == sorted(of_events)
    assert of_sentences.keys() == sentences().keys()


def test_the_events_that_sentences_stand_for_are_on_the_page() -> None:
    _, of_sentences = meanings()
    named = {event for row in of_sentences.values() for event in re.findall(r"`(\w+)`", row["event"])}
    assert len(named) > 8
    assert named <= rows().keys()


def test_the_life_of_a_server_has_one_shape_in_both_languages() -> None:
    cpp, python = events()
    for event in ("draining", "drained", "stopped", "calls_cut", "registered_again", "lines_left_out"):
        assert cpp[event] == python[event], event
    assert cpp["handler_failed"].fields == python["handler_failed"].fields
    [started] = [
        fields
        for path in CPP.rglob("server.cpp")
        for event, _, fields in of_cpp(path.read_text())
        if event == "started"
    ]
    assert started == list(python["started"].fields)


def test_how_lines_of_cpp_are_found() -> None:
    text = """
  log.write(Level::info, "one", {{"a", 1}, {"b", f("x")}});
  log_.write(mf::Level::warning, known ? "two" : "three",
             {{"c", text}});
  log.write(failed ? Level::error : Level::debug, "four");
  trouble_(options_.log, "five", "six")
"""
    assert list(of_cpp(text)) == [
        ("one", "info", ["a", "b"]),
        ("three", "warning", ["c"]),
        ("two", "warning", ["c"]),
        ("four", "error", []),
        ("four", "debug", []),
        ("five", "warning", ["topic", "reason", "next"]),
        ("six", "info", ["topic"]),
    ]


def test_how_lines_of_python_are_found() -> None:
    text = """
from mf.core.log import warning as warn

def one():
    fields = {"a": 1, **peer_fields(x, y)}
    said = line("one", **fields, b=2)
    warn("%s", said, peer=x)

def two():
    self.complete(info, "%s", line("two" if x else "three", c=1))

def four():
    return line("four")

def five():
    error("%s", four())
"""
    assert sorted(of_python(text)) == [
        ("four", "error", []),
        ("one", "warning", ["a", "peer", "identity", "b"]),
        ("three", "info", ["c"]),
        ("two", "info", ["c"]),
    ]


def test_the_page_that_operators_read_first_names_the_events_that_there_are() -> None:
    logs = (Path(PAGE).parent / "operations.md").read_text().split("\n## Logs\n")[1].split("\n### ")[0]
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", logs)) - {"log_format"}
    assert len(named) > 3
    assert named <= rows().keys()
