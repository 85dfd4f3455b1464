"""The order of the pages of documentation, which docs/README.md gives.

An item of a list that begins with a link, `- [title](page.md): what it has`, puts a page into the order. Each
Markdown file of docs/ must be there exactly once; the decisions have docs/decisions/README.md instead. The
site (docs/conf.py) takes its contents from the same lists.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

INDEX = "docs/README.md"
_HEADING = re.compile(r"^(#+) (.+)$")
_ITEM = re.compile(r"^- \[[^\]]+\]\(([^)#\s]+\.md)\): \S")


@dataclass
class Section:
    """A heading of the order, and its pages as paths relative to docs/."""

    title: str
    pages: list[str] = field(default_factory=list)


def sections(text: str) -> list[Section]:
    """The sections of an order that have pages, in their order."""
    found: list[Section] = []
    for line in text.splitlines():
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading:
            found.append(Section(heading[2]))
        elif item and found:
            found[-1].pages.append(item[1])
    return [section for section in found if section.pages]


def check_order(root: Path) -> Iterator[str]:
    """A sentence for each page of docs/ that the order does not have exactly once."""
    docs = root / "docs"
    pages = [
        page for section in sections((root / INDEX).read_text(encoding="utf-8")) for page in section.pages
    ]
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    wanted = {page for page in there if _is_ordered(PurePosixPath(page))}
    for page, times in sorted(Counter(pages).items()):
        if times > 1:
            yield f"{INDEX}: {page} is {times} times in the order"
    for page in sorted(wanted - set(pages)):
        yield f"{INDEX}: {page} is not in the order: add an item '- [title]({page}): what it has'"


def _is_ordered(page: PurePosixPath) -> bool:
    if page == PurePosixPath("README.md"):
        return False
    return page.parts[0] != "decisions" or page.name == "README.md"
