"""Rewrapping the prose of a page cannot break it, and a page that it would break is found."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tools.check_links import documents
from tools.check_pages import check_page
from tools.markdown_same import code, differences, rendered

ROOT = Path(__file__).resolve().parents[2]
PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in documents(ROOT)}

_MARKER = re.compile(r"\s*([-*+]|\d+[.)]) +")
_FENCE = re.compile(r"\s*(```|~~~)")
_NOT_PROSE = re.compile(r"\s*(\||#{1,6} |<|$)")
_STARTS_A_BLOCK = re.compile(r"\s*([-*+>]|\d+[.)]|#{1,6}|=+|-+)( |$)")


def wrapped_anew(text: str, width: int) -> str:
    """A page as rewrapped by a formatter that recognises fences, tables, headings and lists only."""
    made: list[str] = []
    prose: list[str] = []
    fenced = False

    def flush() -> None:
        made.extend(_filled(prose, width))
        prose.clear()

    for line in text.splitlines():
        if _FENCE.match(line):
            flush()
            fenced = not fenced
            made.append(line)
        elif fenced or _NOT_PROSE.match(line):
            flush()
            made.append(line)
        else:
            if _MARKER.match(line):
                flush()
            prose.append(line)
    flush()
    return "\n".join(made) + "\n"


def _filled(prose: list[str], width: int) -> list[str]:
    if not prose:
        return []
    marker = _MARKER.match(prose[0])
    first = marker.group() if marker else prose[0][: len(prose[0]) - len(prose[0].lstrip())]
    words = " ".join([prose[0][len(first) :], *map(str.strip, prose[1:])])
    lines: list[str] = []
    for line in textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False):
        if lines and _STARTS_A_BLOCK.match(line):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return [first + lines[0], *(" " * len(first) + line for line in lines[1:])]


@pytest.mark.parametrize("width", [60, 118])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_is_wrapped_anew_renders_as_before(page: str, width: int) -> None:
    anew = wrapped_anew(PAGES[page], width)

    assert differences(PAGES[page], anew) == []


def test_wrapping_anew_changes_what_is_not_fenced() -> None:
    page = "Then:\n\n    export A=1\n    export B=2 # the second one\n"

    assert differences(page, wrapped_anew(page, 100)) == [
        "-| export A=1",
        "-| export B=2 # the second one",
        "+| export A=1 export B=2 # the second one",
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_is_the_same_after_wrapping_it_anew(page: str) -> None:
    anew = wrapped_anew(PAGES[page], 80)

    assert code(anew) == code(PAGES[page])


def test_other_sentences_around_the_same_code_are_no_difference_of_code() -> None:
    before = "The asker:\n\n```sh\nmake  test\n```\n"
    after = "A caller:\n\n```sh\nmake  test\n```\n"

    assert differences(before, after, code) == []
    assert differences(before, after.replace("make  test", "make test"), code) == [
        "-| make  test",
        "+| make test",
    ]


def test_line_breaks_of_prose_are_no_difference_and_those_of_lists_are() -> None:
    assert differences("One\ntwo\n`a b` three\n", "One two `a\nb`\nthree\n") == []
    assert rendered("- one\n- two\n") != rendered("- one - two\n")


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("A command:\n\n    make test\n", ["3: indented code"]),
        ("- An item:\n\n      make test\n", ["3: indented code"]),
        ("```sh\nmake\n```\n", []),
        ("```sh\nmake\n", ["1: this fence is never closed"]),
        ("```\nmake\n```\n", ["1: the fence does not name its language"]),
        ("| a | b |\n|---|---|\n| `x \\| y` | 2 |\n", []),
        ("| a | b |\n|---|---|\n| 1 |\n", ["3: the table has 2 columns, and this row 1"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n", ["5: a row outside of a table"]),
    ],
)
def test_each_mistake_of_a_page_is_reported_with_its_line(text: str, mistakes: list[str]) -> None:
    found = [f"{line}: {sentence}" for line, sentence in check_page(text, languages=True)]

    assert len(found) == len(mistakes)
    assert all(one.startswith(start) for one, start in zip(found, mistakes, strict=True))


def test_a_fence_needs_no_language_where_none_is_asked_for() -> None:
    assert list(check_page("```\nmake\n```\n", languages=False)) == []


def _git(folder: Path, *command: str) -> None:
    identity = ("-c", "user.name=one", "-c", "user.email=one@example.org")
    subprocess.run(["git", *identity, *command], cwd=folder, check=True, capture_output=True)


def _same(folder: Path, revision: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.markdown_same", revision, str(folder)]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def test_a_tree_is_compared_with_its_revision(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Some\nprose.\n\n    one\n    two\n", encoding="utf-8")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "page.md")
    _git(tmp_path, "commit", "-q", "-m", "A page")
    page.write_text("Some prose.\n\n    one\n    two\n", encoding="utf-8")
    (tmp_path / "new.md").write_text("New.\n", encoding="utf-8")

    assert _same(tmp_path, "HEAD").returncode == 0

    page.write_text("Some prose.\n\n    one two\n", encoding="utf-8")
    compared = _same(tmp_path, "HEAD")

    assert (compared.returncode, compared.stdout) == (1, "page.md\n-| one\n-| two\n+| one two\n")
    assert "git has no revision nothing" in _same(tmp_path, "nothing").stderr
