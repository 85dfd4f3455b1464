"""Compares what the Markdown pages of a revision render with what those of the tree render.

A change that only wraps prose anew must render as before: run `python -m tools.markdown_same REVISION` after
it. Line breaks within a paragraph count as spaces; a line of code, a row of a table, a list or a heading that
changes is a difference. After a change that writes sentences anew, `--code` compares the code of the pages
alone, which such a change must not touch. Prints the differences page by page and ends with 1 if there was
one. Pages that only one side has are left out.
"""

import argparse
import difflib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tools.check_links import documents

_SPACES = re.compile(r"\s+")


def parser() -> MarkdownIt:
    """CommonMark with tables, as the pages are written."""
    return MarkdownIt("commonmark").enable("table")


def rendered(text: str) -> list[str]:
    """What a page renders, one line for each element and for each line of its code."""
    return [line for token in parser().parse(text) for line in _lines(token)]


def code(text: str) -> list[str]:
    """The blocks of code of a page, one line for each of theirs."""
    tokens = (token for token in parser().parse(text) if token.type in ("fence", "code_block"))
    return [line for token in tokens for line in _lines(token)]


def differences(before: str, after: str, read: Callable[[str], list[str]] = rendered) -> list[str]:
    """What `read` gives for only one of two texts of a page, that of `before` with a minus."""
    found = difflib.unified_diff(read(before), read(after), lineterm="", n=0)
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


def _lines(token: Token) -> Iterator[str]:
    indent = "  " * token.level
    if token.type == "inline":
        yield indent + _SPACES.sub(" ", "".join(map(_inline, token.children or []))).strip()
    elif token.type in ("fence", "code_block", "html_block"):
        yield f"{indent}{token.type} {token.info}".rstrip()
        yield from (f"{indent}| {line}" for line in token.content.splitlines())
    elif token.nesting >= 0:
        yield f"{indent}<{token.tag}{_attributes(token)}{' tight' if token.hidden else ''}>"


def _inline(token: Token) -> str:
    if token.type == "softbreak":
        return " "
    if token.type == "text":
        return token.content
    if token.type == "code_inline":
        return f"`{token.content}`"
    sign = "/" if token.nesting < 0 else ""
    return f"<{sign}{token.tag or token.type}{_attributes(token)}>{token.content}"


def _attributes(token: Token) -> str:
    return "".join(f" {name}={value}" for name, value in sorted(token.attrs.items()))


def _at_revision(root: Path, revision: str, page: Path) -> str | None:
    """The text of a page at a revision, or None if the page is not there."""
    name = f"{revision}:{page.relative_to(root).as_posix()}"
    shown = subprocess.run(["git", "-C", root, "show", name], check=False, capture_output=True, text=True)
    return shown.stdout if shown.returncode == 0 else None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("revision", help="a revision of git, such as HEAD or main")
    arguments.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    arguments.add_argument("--code", action="store_true", help="compare only the blocks of code")
    given = arguments.parse_args()
    read = code if given.code else rendered
    verify = ["git", "-C", given.root, "rev-parse", "--quiet", "--verify", f"{given.revision}^{{commit}}"]
    if subprocess.run(verify, check=False, capture_output=True).returncode != 0:
        arguments.error(f"git has no revision {given.revision}")
    differ = False
    for page in documents(given.root):
        before = _at_revision(given.root, given.revision, page)
        text = page.read_text(encoding="utf-8")
        found = [] if before is None else differences(before, text, read)
        if found:
            differ = True
            print(page.relative_to(given.root), *found, sep="\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
