"""A short text that matches an @pattern: built from the pattern's tree, without running it."""

import re
from collections.abc import Iterable
from typing import Any

_parser: Any = re._parser  # type: ignore[attr-defined]  # the module that re itself is built on

_OF_CATEGORY = {
    "CATEGORY_DIGIT": "7",
    "CATEGORY_NOT_DIGIT": "x",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": "x",
    "CATEGORY_WORD": "x",
    "CATEGORY_NOT_WORD": "-",
}
_PRINTABLE = "x" + "".join(chr(each) for each in range(0x20, 0x7F))
_LONGEST = 64


def sample(pattern: str, low: int, high: int | None, more: int = 0) -> str | None:
    """A text of `low` to `high` bytes: the shortest found, or the one of `more` repetitions more. None: none
    was found.
    """
    tree = _parser.parse(pattern, re.ASCII)
    for extra in range(more, _LONGEST + more):
        text = "".join(_sequence(tree, extra))
        size = len(text.encode("utf-8", "replace"))
        if size >= low and (high is None or size <= high):
            return text
    return None


def _sequence(tree: Iterable[tuple[Any, Any]], extra: int) -> Iterable[str]:
    for operation, argument in tree:
        yield _one(str(operation), argument, extra)


def _one(operation: str, argument: Any, extra: int) -> str:
    match operation:
        case "LITERAL":
            return chr(int(argument))
        case "NOT_LITERAL":
            return next(each for each in _PRINTABLE if each != chr(argument))
        case "ANY":
            return "x"
        case "IN":
            return _member(argument)
        case "MAX_REPEAT" | "MIN_REPEAT":
            low, high, inner = argument
            times = min(low + extra, int(high), low + _LONGEST)
            return "".join(_sequence(inner, 0)) * int(times)
        case "BRANCH":
            branches = argument[1]
            return "".join(_sequence(branches[min(extra, len(branches) - 1)], 0))
        case "SUBPATTERN":
            return "".join(_sequence(argument[3], extra))
        case _:
            return ""  # a place, as ^ and $


def _member(items: list[tuple[Any, Any]]) -> str:
    negated = str(items[0][0]) == "NEGATE"
    if not negated:
        operation, argument = str(items[0][0]), items[0][1]
        if operation == "CATEGORY":
            return _OF_CATEGORY[str(argument)]
        return chr(int(argument[0] if operation == "RANGE" else argument))
    return next((each for each in _PRINTABLE if not any(_holds(item, each) for item in items[1:])), "é")


def _holds(item: tuple[Any, Any], character: str) -> bool:
    operation, argument = str(item[0]), item[1]
    match operation:
        case "LITERAL":
            return bool(ord(character) == argument)
        case "RANGE":
            return bool(argument[0] <= ord(character) <= argument[1])
        case _:
            word = re.fullmatch(r"\w", character, re.ASCII) is not None
            kind = {"DIGIT": character.isdigit(), "SPACE": character.isspace(), "WORD": word}
            name = str(argument).removeprefix("CATEGORY_")
            return not kind[name.removeprefix("NOT_")] if name.startswith("NOT_") else kind[name]
