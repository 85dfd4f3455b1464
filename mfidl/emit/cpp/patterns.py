"""F6. @pattern as a program of mf/codec/pattern.hpp: Python's own reading of the pattern, as steps for C++.

The standard library parses the pattern, as it does for the checker and the Python runtime, so there is one
meaning; this module turns its tree into the steps of a linear-time matcher. Classes such as \\w are ASCII.
"""

import re
from collections.abc import Iterable
from typing import Any

from mfidl.emit.cpp.literals import string_literal
from mfidl.emit.cpp.text import initialised

Ranges = list[tuple[int, int]]

_parser: Any = re._parser  # type: ignore[attr-defined]  # the module that re itself is built on
_LAST = 0x10FFFF
_CATEGORIES: dict[str, Ranges] = {
    "DIGIT": [(0x30, 0x39)],
    "SPACE": [(0x09, 0x0D), (0x20, 0x20)],
    "WORD": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
}
_PLACES = {
    "AT_BEGINNING": "begin",
    "AT_BEGINNING_STRING": "begin",
    "AT_END": "end",
    "AT_END_STRING": "very_end",
    "AT_BOUNDARY": "word_edge",
    "AT_NON_BOUNDARY": "no_word_edge",
}
_BY_LINE = {"begin": "begin_line", "end": "end_line"}


def program_steps(pattern: str) -> list[str]:
    """The steps as C++ initialisers."""
    tree = _parser.parse(pattern, re.ASCII)
    writer = _Writer()
    writer.sequence(tree, tree.state.flags)
    writer.step("accept")
    return writer.steps


def program_constant(name: str, pattern: str) -> str:
    """`static constexpr` table of the steps; it stands at the beginning of the function that uses it."""
    head = f"static constexpr check::Step {name}[] = "
    return initialised(head, program_steps(pattern), indent=4, middle=False)


def matches(variable: str, name: str, pattern: str) -> str:
    return f"check::matches({variable}, {name}, {string_literal(pattern)})"


class _Writer:
    """Steps in the order in which they run; jumps are patched when their target is known."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def step(self, kind: str, first: int = 0, second: int = 0) -> int:
        numbers = ", ".join(str(each) for each in (first, second)[: 2 if second else 1 if first else 0])
        self.steps.append(f"{{check::Step::{kind}{', ' if numbers else ''}{numbers}}}")
        return len(self.steps) - 1

    def sequence(self, tree: Iterable[tuple[Any, Any]], flags: int) -> None:
        for operation, argument in tree:
            self._operation(str(operation), argument, flags)

    def _operation(self, name: str, argument: Any, flags: int) -> None:
        match name:
            case "LITERAL":
                self._one_of([(argument, argument)], flags)
            case "NOT_LITERAL":
                self._one_of(_complement(_folded([(argument, argument)], flags)), 0)
            case "ANY":
                self._one_of([(0, _LAST)] if flags & re.DOTALL else _complement([(10, 10)]), 0)
            case "IN":
                self._class(argument, flags)
            case "BRANCH":
                self._branch(argument[1], flags)
            case "SUBPATTERN":
                _, added, removed, inner = argument
                self.sequence(inner, (flags | added) & ~removed)
            case "MAX_REPEAT" | "MIN_REPEAT":
                low, high, inner = argument
                self._repeat(low, high, inner, flags)
            case "AT":
                self._place(_PLACES[str(argument)], flags)
            case _:
                raise AssertionError(f"the checker lets no {name} pass")

    def _one_of(self, ranges: Ranges, flags: int) -> None:
        ranges = _folded(ranges, flags)
        self.step("one_of", len(ranges))
        for low, high in ranges:
            self.step("range", low, high)

    def _class(self, items: list[tuple[Any, Any]], flags: int) -> None:
        ranges: Ranges = []
        negated = False
        for operation, argument in items:
            match str(operation):
                case "NEGATE":
                    negated = True
                case "LITERAL":
                    ranges.append((argument, argument))
                case "RANGE":
                    ranges.append(argument)
                case _:
                    ranges += _category(str(argument))
        ranges = _folded(ranges, flags)
        self._one_of(_complement(ranges) if negated else ranges, 0)

    def _branch(self, branches: list[Any], flags: int) -> None:
        ends = []
        for branch in branches[:-1]:
            split = self.step("split")
            self.sequence(branch, flags)
            ends.append(self.step("jump"))
            self._patch(split, "split", split + 1, len(self.steps))
        self.sequence(branches[-1], flags)
        for end in ends:
            self._patch(end, "jump", len(self.steps))

    def _repeat(self, low: int, high: Any, inner: Any, flags: int) -> None:
        for _ in range(low):
            self.sequence(inner, flags)
        if high == _parser.MAXREPEAT:
            split = self.step("split")
            self.sequence(inner, flags)
            self.step("jump", split)
            self._patch(split, "split", split + 1, len(self.steps))
            return
        splits = []
        for _ in range(high - low):
            splits.append(self.step("split"))
            self.sequence(inner, flags)
        for split in splits:
            self._patch(split, "split", split + 1, len(self.steps))

    def _place(self, kind: str, flags: int) -> None:
        self.step(_BY_LINE.get(kind, kind) if flags & re.MULTILINE else kind)

    def _patch(self, at: int, kind: str, first: int, second: int = 0) -> None:
        numbers = f"{first}, {second}" if kind == "split" else str(first)
        self.steps[at] = f"{{check::Step::{kind}, {numbers}}}"


def _category(name: str) -> Ranges:
    word = name.rpartition("_")[2]
    ranges = _CATEGORIES[word]
    return _complement(ranges) if "_NOT_" in name else ranges


def _complement(ranges: Ranges) -> Ranges:
    free = []
    begin = 0
    for low, high in sorted(ranges):
        if low > begin:
            free.append((begin, low - 1))
        begin = max(begin, high + 1)
    return [*free, (begin, _LAST)] if begin <= _LAST else free


def _folded(ranges: Ranges, flags: int) -> Ranges:
    """Both cases of ASCII letters where the pattern ignores case."""
    if not flags & re.IGNORECASE:
        return ranges
    more = []
    for low, high in ranges:
        for begin, end, shift in ((0x41, 0x5A, 0x20), (0x61, 0x7A, -0x20)):
            if low <= end and high >= begin:
                more.append((max(low, begin) + shift, min(high, end) + shift))
    return ranges + more
