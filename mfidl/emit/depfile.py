r"""F6. One make rule, as make and ninja read it. Their ways to escape differ, and some names have no spelling
that one of them, or both, would follow.

    rule     = targets ":" " " needed "\n"            each a list of words with spaces between them
    escaped  = "$$" | "\" before a space, "#" or ":", with the backslashes before these doubled

make takes `a: b=c` for a variable, unless a word without `=` comes first.
"""

import re
from collections.abc import Sequence

_ESCAPED = re.compile(r"(\\*)([ #:])")
_OPERATOR = re.compile(r"[+?!:]*=")  # make reads these as more than a name at the beginning of a word
# What ends a word, or begins something else, and cannot be escaped.
_MAKE_TARGET = re.compile(r"[=%;\t]|^(?:\./)*~")
_MAKE_NEEDED = re.compile(r"[;|]|^(?:\./)*~")
_NINJA_TARGET = re.compile(r"[|\t]")
_NINJA_NEEDED = re.compile(r"[;|&*?^<>'\"`\t]|\\[#:$]")


def rule(targets: Sequence[str], needed: Sequence[str], known: str) -> str:
    """The text of the rule. `known` is a file to begin with where no needed one can."""
    words = [f"./{path}" if _OPERATOR.match(path) else path for path in needed]
    words.sort(key=lambda word: "=" in word)
    if words and "=" in words[0]:
        words.insert(0, known)
    return f"{_words(targets)}: {_words(words)}\n"


def not_followed(targets: Sequence[str], needed: Sequence[str], known: str) -> tuple[str, str, str] | None:
    """The first path for which the rule does not work, the text in it that is the reason, and the names of
    the programs; None if make and ninja follow the rule.
    """
    ways = ((targets, _MAKE_TARGET, _NINJA_TARGET), (needed, _MAKE_NEEDED, _NINJA_NEEDED))
    for paths, make, ninja in ways:
        for path in paths:
            found = {"make": make.search(path), "ninja": ninja.search(path)}
            names = [name for name, match in found.items() if match is not None]
            if names:
                return path, next(match.group() for match in found.values() if match), " and ".join(names)
    if "=" in known and needed and all("=" in path for path in needed):
        return needed[0], "=", "make"
    return None


def is_one_line(path: str) -> bool:
    return "\n" not in path and "\r" not in path


def _words(paths: Sequence[str]) -> str:
    return " ".join(map(_escaped, paths))


def _escaped(path: str) -> str:
    return _ESCAPED.sub(lambda found: f"{found[1] * 2}\\{found[2]}", path).replace("$", "$$")
