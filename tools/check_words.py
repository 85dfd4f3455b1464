"""Counts words that make a sentence a riddle, and lets the count of no file rise.

"Whoever looks first decodes it" leaves open which program is meant; "nobody is told" leaves open what
happens. A sentence has a subject and the verb of its field instead: "the first reader decodes it", "no event
is logged". Counted are WORDS in pages, comments, docstrings, help texts and messages, not in code.
tools/words.txt has the count of each file that has any; a file that is not there may have none.

`python -m tools.check_words` prints a line for each file whose count is not that of the table, and ends with
1. With `--store` it writes counts that fell into the table. A count that rose stays a mistake; the line of a
file that moved is moved by hand. `--show FILE...` prints the lines with the words.
"""

import argparse
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "tools/words.txt"
WORDS = (
    *("who", "whoever", "whom", "somebody", "nobody", "anybody", "everybody"),
    *("told", "tells", "stands", "knows", "lies", "meets"),
)
_WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)

_MARKDOWN = (".md",)
_PYTHON = (".py",)
_SLASHES = (".cpp", ".hpp", ".h", ".mfidl", ".j2", ".js", ".ts", ".proto")
_NUMBER_SIGNS = (".sh", ".cmake", ".txt", ".toml", ".yml", ".yaml", "")
# History, what others wrote, what is made from other files of this tree, and this check itself.
_LEFT_OUT = re.compile(
    r"CHANGELOG\.md|LICENSE|docs/errors\.md|tools/(check_words\.py|words\.txt)|tests/tools/test_check_words\.py"
    r"|.*/(_generated|_antlr|golden|corpus|node_modules|tree-sitter/src)/.*|tests/(vectors|releases|real)/.*"
)
_FENCE = re.compile(r"^\s*(```|~~~)")
_NO_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)")
_PLACEHOLDER = re.compile(r"\{[^{}\n]*\}")
_SLASH_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_NUMBER_SIGN_TEXT = re.compile(r"(?m)(?:^|\s)#[^\n]*")


def texts(name: str, text: str) -> Iterator[tuple[int, str]]:
    """The parts of a file that a person reads, each with the line where it begins."""
    suffix = Path(name).suffix
    if suffix in _MARKDOWN:
        yield from _prose(text)
    elif suffix in _PYTHON:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield token.start[0], _PLACEHOLDER.sub("", token.string)
    elif suffix in _SLASHES:
        yield from _found(_SLASH_TEXT, text)
    elif suffix in _NUMBER_SIGNS:
        yield from _found(_NUMBER_SIGN_TEXT, text)


def _prose(text: str) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, _NO_PROSE.sub("", line)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group()


def words(name: str, text: str) -> list[tuple[int, str]]:
    """Line and text of each word of WORDS in the parts of a file that a person reads."""
    return [
        (line + part.count("\n", 0, match.start()), match.group())
        for line, part in texts(name, text)
        for match in _WORD.finditer(part)
    ]


def mistakes(stored: dict[str, int], found: dict[str, int]) -> Iterator[str]:
    """A sentence for each file whose count is not the one that is stored."""
    for name in sorted(stored.keys() | found.keys()):
        before, now = stored.get(name, 0), found.get(name, 0)
        if now > before:
            yield (
                f"{name}: {now} words such as 'who' and 'told' where {before} are allowed: write a subject "
                f"and its verb instead (python -m tools.check_words --show {name})"
            )
        elif now < before:
            yield f"{name}: {now} words where {TABLE} has {before}: run python -m tools.check_words --store"


def lowered(stored: dict[str, int], found: dict[str, int]) -> dict[str, int]:
    """The table with the counts that fell."""
    now = {name: min(count, found.get(name, 0)) for name, count in stored.items()}
    return {name: count for name, count in now.items() if count}


def read_table(text: str) -> dict[str, int]:
    lines = (line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: int(count) for count, name in lines}


def write_table(counts: dict[str, int]) -> str:
    lines = [f"{count} {name}\n" for name, count in sorted(counts.items())]
    return "".join(["# Written by python -m tools.check_words --store; a count may only fall.\n", *lines])


def count_tree(root: Path) -> dict[str, int]:
    """How many words each file that git knows or may know has, without those that have none."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counts = {}
    for name in filter(None, listing.split("\0")):
        path = root / name
        if _LEFT_OUT.fullmatch(name) or path.is_symlink() or not path.is_file():
            continue
        suffix = path.suffix
        if suffix in (*_MARKDOWN, *_PYTHON, *_SLASHES, *_NUMBER_SIGNS):
            try:
                counts[name] = len(words(name, path.read_text(encoding="utf-8")))
            except (UnicodeDecodeError, tokenize.TokenError, SyntaxError):
                continue  # made to be wrong, for tests
    return {name: count for name, count in counts.items() if count}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--store", action="store_true", help="write counts that fell into the table")
    arguments.add_argument(
        "--show", nargs="+", default=[], metavar="FILE", help="print the lines with the words"
    )
    given = arguments.parse_args()
    for name in given.show:
        text = (ROOT / name).read_text(encoding="utf-8")
        for line, word in words(name, text):
            print(f"{name}:{line}: {word}: {text.splitlines()[line - 1].strip()}")
    if given.show:
        return 0
    table = ROOT / TABLE
    stored, found = read_table(table.read_text(encoding="utf-8")), count_tree(ROOT)
    if given.store:
        stored = lowered(stored, found)
        table.write_text(write_table(stored), encoding="utf-8")
    wrong = list(mistakes(stored, found))
    for mistake in wrong:
        print(mistake, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
