"""Each page of docs/ is in the order of docs/README.md once, and each public header has text for the site."""

from pathlib import Path

import pytest

from tools.doc_order import Section, check_order, sections
from tools.read_headers import contract, public_headers

ROOT = Path(__file__).resolve().parents[2]
ORDER = """# All pages

## Start here

- [A](a.md): the first one.

Text with a link to [b](b.md).

## Reference

### Below it

- [B](b.md): the second one.
- [Decisions](decisions/README.md): the reasons.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs/decisions").mkdir(parents=True)
    for name in ("a.md", "b.md", "decisions/README.md", "decisions/0001-why.md"):
        (tmp_path / "docs" / name).write_text("# A page\n", encoding="utf-8")
    (tmp_path / "docs/README.md").write_text(ORDER, encoding="utf-8")
    return tmp_path


def test_an_order_is_the_lists_of_its_sections() -> None:
    assert sections(ORDER) == [
        Section("Start here", ["a.md"]),
        Section("Below it", ["b.md", "decisions/README.md"]),
    ]


def test_an_order_with_each_page_once_has_no_mistake(tree: Path) -> None:
    assert list(check_order(tree)) == []


def test_a_page_that_is_missing_or_twice_in_the_order_is_named(tree: Path) -> None:
    (tree / "docs/new.md").write_text("# New\n", encoding="utf-8")
    (tree / "docs/README.md").write_text(f"{ORDER}- [A](a.md): once more.\n", encoding="utf-8")

    assert list(check_order(tree)) == [
        "docs/README.md: a.md is 2 times in the order",
        "docs/README.md: new.md is not in the order: add an item '- [title](new.md): what it has'",
    ]


def test_the_order_of_this_tree_begins_with_what_a_newcomer_reads() -> None:
    found = sections((ROOT / "docs/README.md").read_text(encoding="utf-8"))

    assert [section.title for section in found if section.title in TOP] == TOP
    assert found[0].pages[0] == "start.md"


TOP = ["Start here", "Coming from", "Reference", "Explanations"]


@pytest.mark.parametrize("header", public_headers())
def test_each_public_header_opens_with_its_contract(header: str) -> None:
    assert len(contract(header).split()) >= 5
