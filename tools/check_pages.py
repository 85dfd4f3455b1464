"""Checks that every Markdown file has a form that rewrapping its prose cannot break.

- Code is fenced. A formatter takes indented code for prose and joins its lines.
- A fence is closed, and in README.md and below examples/ it names its language.
- A table is whole: no row is outside of it, and each row has as many cells as its head.
- Each page of docs/ is in the order of docs/README.md, once (tools/doc_order.py).

Prints `file:line: sentence` for each mistake and ends with 1 if there was one.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_it.token import Token

from tools.check_links import documents
from tools.doc_order import check_order
from tools.markdown_same import parser

_CELL_END = re.compile(r"(?<!\\)\|")
_FENCE_END = re.compile(r"[\s>]*(`{3,}|~{3,})\s*$")


def check_page(text: str, languages: bool) -> Iterator[tuple[int, str]]:
    """Line and sentence of each mistake; `languages` asks for the language of each fence."""
    lines = text.splitlines()
    for token in parser().parse(text):
        if token.map is None:
            continue
        first, behind = token.map
        if token.type == "code_block":
            yield first + 1, "indented code: put it between lines of ```, with its language"
        elif token.type == "fence":
            if behind - first < 2 or not _FENCE_END.match(lines[behind - 1]):
                yield first + 1, "this fence is never closed"
            elif languages and not token.info.strip():
                yield first + 1, "the fence does not name its language, such as sh, text or mfidl"
        elif token.type == "table_open":
            yield from _rows(lines, first, behind)
        elif token.type == "inline":
            yield from _outside(token, first)


def _rows(lines: list[str], first: int, behind: int) -> Iterator[tuple[int, str]]:
    cells = [len(_CELL_END.findall(line)) - 1 for line in lines[first:behind]]
    for i, count in enumerate(cells):
        if count != cells[0]:
            yield first + i + 1, f"the table has {cells[0]} columns, and this row {max(count, 0)}"


def _outside(token: Token, first: int) -> Iterator[tuple[int, str]]:
    for i, line in enumerate(token.content.splitlines()):
        if line.lstrip().startswith("|"):
            yield first + i + 1, "a row outside of a table: an empty line or other text cuts the table"
            return


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    root = arguments.parse_args().root
    wrong = False
    for path in documents(root):
        name = path.relative_to(root)
        languages = name.name == "README.md" and (name.parent == Path() or name.parts[0] == "examples")
        for line, sentence in check_page(path.read_text(encoding="utf-8"), languages):
            wrong = True
            print(f"{name}:{line}: {sentence}", file=sys.stderr)
    for sentence in check_order(root):
        wrong = True
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
