"""examples/README.md: short programs for single tasks, and all examples."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples"
PAGE = (FOLDER / "README.md").read_text()
TASKS, LARGER = PAGE.split("## Larger programs")


def test_a_program_of_a_task_has_less_than_60_lines() -> None:
    programs = re.findall(r"\]\((\w+/\w+\.(?:cpp|py))\)", TASKS)
    assert len(programs) == len(set(programs)) == 40
    lines = {name: (FOLDER / name).read_text().count("\n") for name in programs}
    assert {name: count for name, count in lines.items() if count >= 60} == {}


def test_each_task_has_a_program_in_both_languages() -> None:
    for row in re.findall(r"^\| (?!task|---)(.*)\|$", TASKS, re.MULTILINE):
        _, cpp, python, page = row.split(" | ")
        assert cpp.count(".cpp)") == python.count(".py)") >= 1, row
        assert page.strip().endswith(".md)"), row


def test_each_example_is_in_the_index() -> None:
    named = {name.partition("/")[0] for name in re.findall(r"\]\((\w+/[\w.]+)\)", PAGE)}
    assert named == {path.name for path in FOLDER.iterdir() if path.is_dir()}


def test_each_guide_is_in_the_index() -> None:
    named = set(re.findall(r"\(\.\./docs/guides/(\w+)\.md\)", TASKS))
    assert named == {path.stem for path in (FOLDER.parent / "docs/guides").glob("*.md")}
