"""F6. Which comment of a foreign file documents which word. The rules are those of protobuf's compiler, so
that comments in the same places are kept for all languages. Nothing is lost: a comment that belongs to no
word is given to the next one.
"""

import re
import textwrap
from dataclasses import dataclass

from mfidl.foreign.scan import Word

_END_OF_SCOPE = frozenset(("}", ")", "]", "the end of the file"))
_MARKS = re.compile(r"///<|//!<?|/{2,}|#+")
_BLOCK_MARKS = re.compile(r"/\*\*<|/\*!<?|/\*+")


@dataclass(frozen=True, slots=True)
class Documented:
    """The words without the comments; `head` holds those before all words that belong to none of them."""

    words: list[Word]
    head: str


def documented(words: list[Word], comment_types: frozenset[int]) -> Documented:
    """Gives each comment to a word: to the one before it on its line, or to the one behind it."""
    made: list[Word] = []
    waiting: list[Word] = []
    head = ""
    for word in words:
        if word.type in comment_types:
            waiting.append(word)
            continue
        if waiting:
            rest = _behind(made[-1], waiting, word) if made else waiting
            head = _before(made[-1] if made else None, rest, word) or head
            waiting = []
        made.append(word)
    return Documented(made, head)


def text_of(words: list[Word], first: int, last: int) -> str:
    """What the comments of some words say, the last one included."""
    found = [each for word in words[first : last + 1] for each in (word.doc, word.behind) if each]
    return "\n".join(found)


def _behind(previous: Word, comments: list[Word], following: Word) -> list[Word]:
    """Gives the previous word the comments that begin on its line, with lines below that are aligned to
    them. Returns the other ones.
    """
    text = previous.span.file.text
    end, count = previous.end, 0
    while count < len(comments) and "\n" not in text[end : comments[count].start]:
        end, count = comments[count].end, count + 1
    if count == len(comments) and "\n" not in text[end : following.start] and following.type > 0:
        if following.text not in _END_OF_SCOPE:
            return comments
    elif count and _is_line(comments[count - 1]):
        column = _column(comments[count - 1])
        while count < len(comments) and _continues(text, comments[count - 1], comments[count], column):
            count += 1
    if count:
        previous.behind = "\n".join(map(_said, comments[:count])).strip("\n")
    return comments[count:]


def _before(previous: Word | None, comments: list[Word], following: Word) -> str:
    """Gives the rest of the comments to the following word. At the end of a scope they are given to the
    previous one, as is a comment directly below it that an empty line separates from the rest. Returns the
    comments at the head of the file that belong to no word.
    """
    if not comments:
        return ""
    text = following.span.file.text
    blocks: list[list[Word]] = []
    for each in comments:
        if blocks and text[blocks[-1][-1].end : each.start].count("\n") < 2:
            blocks[-1].append(each)
        else:
            blocks.append([each])
    said = ["\n".join(map(_said, block)).strip("\n") for block in blocks]
    adjacent = text[comments[-1].end : following.start].count("\n") < 2
    if previous is None:
        following.doc = said.pop() if adjacent else ""
        return "\n\n".join(filter(None, said))
    if following.text in _END_OF_SCOPE:
        _add(previous, said)
        return ""
    below = text[previous.end : comments[0].start].count("\n") < 2
    if below and previous.text != "}" and not previous.behind and (len(blocks) > 1 or not adjacent):
        _add(previous, said[:1])
        del said[0]
    following.doc = "\n\n".join(filter(None, said))
    return ""


def _add(word: Word, said: list[str]) -> None:
    word.behind = "\n\n".join(filter(None, [word.behind, *said]))


def _is_line(comment: Word) -> bool:
    return not comment.text.startswith("/*")


def _column(comment: Word) -> int:
    return comment.span.file.position(comment.start)[1]


def _continues(text: str, last: Word, comment: Word, column: int) -> bool:
    below = text[last.end : comment.start].count("\n") == 1
    return below and _is_line(comment) and _column(comment) == column


def _said(comment: Word) -> str:
    """A comment without what marks it as one."""
    if _is_line(comment):
        if comment.start == 0 and comment.text.startswith("#!"):
            return ""  # the first line names a program to run
        return _MARKS.sub("", comment.text, count=1).removeprefix(" ").rstrip()
    opening = _BLOCK_MARKS.match(comment.text)
    assert opening is not None
    first, *others = comment.text[min(opening.end(), len(comment.text) - 2) : -2].rstrip("* \t").split("\n")
    rest = textwrap.dedent("\n".join(re.sub(r"^\s*\*+ ?", "", line).rstrip() for line in others))
    return f"{first.strip()}\n{rest}" if rest else first.strip()
