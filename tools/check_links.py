"""Checks that every relative link in the Markdown files leads to a file, and every #anchor to a heading.

Links to other hosts are left alone: a check must not depend on the network. Prints `file:line: sentence` for
each mistake and ends with 1 if there was one.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_FENCE = re.compile(r"^\s*(```|~~~)")
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\[[^\]]*\]\(<?(?P<target>[^)\s>]+)>?[^)]*\)")
_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")


def prose_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a document outside its fenced code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path: Path) -> set[str]:
    """The anchors that hosts of Markdown make of headings: lower case, no punctuation, hyphens for spaces."""
    found = set()
    for _, line in prose_lines(path):
        match = _HEADING.match(line)
        if match:
            text = re.sub(r"[^\w\- ]", "", match["text"].lower())
            found.add(text.replace(" ", "-"))
    return found


def check_document(path: Path) -> Iterator[str]:
    for number, line in prose_lines(path):
        for match in _LINK.finditer(_CODE.sub("", line)):
            target, _, anchor = match["target"].partition("#")
            if _ELSEWHERE.match(match["target"]):
                continue
            leads_to = (path.parent / target) if target else path
            if not leads_to.exists():
                yield f"{path}:{number}: the link to '{match['target']}' leads to no file"
            elif anchor and leads_to.suffix == ".md" and anchor not in anchors(leads_to):
                yield f"{path}:{number}: '{leads_to.name}' has no heading for '#{anchor}'"


def documents(root: Path) -> list[Path]:
    listing = subprocess.run(
        [
            "git",
            "-C",
            str(root),
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
            "*.md",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(path for name in listing.stdout.split("\0") if name and (path := root / name).is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    mistakes = [mistake for path in documents(parser.parse_args().root) for mistake in check_document(path)]
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
