"""R0. `@pattern` as a program of steps: Python's own reading of the pattern, written out.

The standard library parses the pattern, as it does for the checker, so there is one meaning; this module
turns its tree into the steps of a linear-time matcher: matcher.py here, mf/codec/pattern.hpp in C++. Classes
such as \\w are ASCII.
"""

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple

Ranges = list[tuple[int, int]]

_parser: Any = re._parser  # type: ignore[attr-defined]  # the module that re itself is built on
LAST = 0x10FFFF
"""The largest code point."""
_CATEGORIES: dict[str, Ranges] = {
    "DIGIT": [(0x30, 0x39)],
    "SPACE": [(0x09, 0x0D), (0x20, 0x20)],
    "WORD": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
}


class Kind(Enum):
    """As mf::codec::check::Step::Kind names them."""

    ONE_OF = "one_of"
    """Accepts a character of one of the `first` ranges that follow."""
    RANGE = "range"
    SPLIT = "split"
    """Goes on at `first` and at `second`."""
    JUMP = "jump"
    ACCEPT = "accept"
    BEGIN = "begin"
    END = "end"
    VERY_END = "very_end"
    BEGIN_LINE = "begin_line"
    END_LINE = "end_line"
    WORD_EDGE = "word_edge"
    NO_WORD_EDGE = "no_word_edge"


_PLACES = {
    "AT_BEGINNING": Kind.BEGIN,
    "AT_BEGINNING_STRING": Kind.BEGIN,
    "AT_END": Kind.END,
    "AT_END_STRING": Kind.VERY_END,
    "AT_BOUNDARY": Kind.WORD_EDGE,
    "AT_NON_BOUNDARY": Kind.NO_WORD_EDGE,
}
_BY_LINE = {Kind.BEGIN: Kind.BEGIN_LINE, Kind.END: Kind.END_LINE}


class Step(NamedTuple):
    kind: Kind
    first: int = 0
    second: int = 0


def steps_of(pattern: str) -> list[Step]:
    """The steps of a pattern that the compiler's checker has accepted."""
    tree = _parser.parse(pattern, re.ASCII)
    writer = _Writer()
    writer.sequence(tree, tree.state.flags)
    writer.step(Kind.ACCEPT)
    return writer.steps


class _Writer:
    """Steps in the order in which they run; jumps are patched when their target is known."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def step(self, kind: Kind, first: int = 0, second: int = 0) -> int:
        self.steps.append(Step(kind, first, second))
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
                self._one_of([(0, LAST)] if flags & re.DOTALL else _complement([(10, 10)]), 0)
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
        self.step(Kind.ONE_OF, len(ranges))
        for low, high in ranges:
            self.step(Kind.RANGE, low, high)

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
            split = self.step(Kind.SPLIT)
            self.sequence(branch, flags)
            ends.append(self.step(Kind.JUMP))
            self.steps[split] = Step(Kind.SPLIT, split + 1, len(self.steps))
        self.sequence(branches[-1], flags)
        for end in ends:
            self.steps[end] = Step(Kind.JUMP, len(self.steps))

    def _repeat(self, low: int, high: Any, inner: Any, flags: int) -> None:
        for _ in range(low):
            self.sequence(inner, flags)
        if high == _parser.MAXREPEAT:
            split = self.step(Kind.SPLIT)
            self.sequence(inner, flags)
            self.step(Kind.JUMP, split)
            self.steps[split] = Step(Kind.SPLIT, split + 1, len(self.steps))
            return
        splits = []
        for _ in range(high - low):
            splits.append(self.step(Kind.SPLIT))
            self.sequence(inner, flags)
        for split in splits:
            self.steps[split] = Step(Kind.SPLIT, split + 1, len(self.steps))

    def _place(self, kind: Kind, flags: int) -> None:
        self.step(_BY_LINE.get(kind, kind) if flags & re.MULTILINE else kind)


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
    return [*free, (begin, LAST)] if begin <= LAST else free


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
