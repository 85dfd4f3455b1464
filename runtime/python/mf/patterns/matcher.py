"""R0. Whether the whole of a text matches a pattern, in time that is linear in the text.

The steps of the pattern run side by side, as C++ runs them (mf/codec/pattern.hpp). Most patterns need less:
where the next character always decides which step is next, `re` has nothing to try again, and is used.
"""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

from mf.patterns.steps import Kind, Step, steps_of

_MOST_MOVES: Final = 4096
"""Moves that a matcher remembers."""
_MOST_LOOKS: Final = 100_000
"""Steps that are examined at most to decide whether `re` can be used."""
_END: Final = -1
"""Represents the missing character before the first and after the last one."""

_Threads = tuple[tuple[int, ...], bool]
"""The `one_of` steps that are reached, and whether the end of the pattern is."""


class Matcher:
    """The matcher of one pattern that the compiler's checker has accepted. Immutable but for its memory;
    thread-safe."""

    __slots__ = ("fullmatch", "pattern")

    fullmatch: Callable[[str], object]
    """None if the whole text does not match."""

    def __init__(self, pattern: str) -> None:
        self.pattern: Final = pattern
        steps = steps_of(pattern)
        self.fullmatch = (
            re.compile(pattern, re.ASCII).fullmatch if _is_decided(steps) else _Program(steps).run
        )


class _Program:
    """Steps that run side by side. Without steps that look around, a set of steps and a character decide the
    next set, which is remembered."""

    __slots__ = ("_begin", "_moves", "_steps")

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        looks = any(each.kind in _LOOKS for each in steps)
        self._moves: dict[tuple[tuple[int, ...], str], _Threads] | None = None if looks else {}
        self._begin: _Threads | None = None if looks else self._follow([0], _END, _END, True, False)

    def run(self, text: str) -> bool | None:
        return True if (self._looking(text) if self._begin is None else self._plain(text)) else None

    def _plain(self, text: str) -> bool:
        moves, threads = self._moves, self._begin
        assert moves is not None
        assert threads is not None
        for character in text:
            at = threads[0]
            if not at:
                return False
            found = moves.get((at, character))
            if found is None:
                if len(moves) >= _MOST_MOVES:
                    moves.clear()
                found = self._follow(self._taken(at, ord(character)), _END, _END, False, False)
                moves[at, character] = found
            threads = found
        return threads[1]

    def _looking(self, text: str) -> bool:
        codes = [*map(ord, text), _END, _END]
        last = len(text)
        threads = self._follow([0], _END, codes[0], True, last == 1)
        for at, code in enumerate(codes[:last], 1):
            if not threads[0]:
                return False
            threads = self._follow(self._taken(threads[0], code), code, codes[at], False, at == last - 1)
        return threads[1]

    def _taken(self, at: Iterable[int], code: int) -> list[int]:
        """The steps that follow those which accept this character."""
        steps, found = self._steps, []
        for each in at:
            end = each + 1 + steps[each].first
            if any(low <= code <= high for _, low, high in steps[each + 1 : end]):
                found.append(end)
        return found

    def _follow(self, waiting: list[int], before: int, after: int, first: bool, is_last: bool) -> _Threads:
        """The steps that are reached without a character. `is_last`: the next character is the last one."""
        steps, seen, found, accepted = self._steps, set[int](), list[int](), False
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            kind, one, other = steps[at]
            if kind is Kind.ONE_OF:
                found.append(at)
            elif kind is Kind.SPLIT:
                waiting += (other, one)
            elif kind is Kind.JUMP:
                waiting.append(one)
            elif kind is Kind.ACCEPT:
                accepted = True
            elif _allows(kind, before, after, first, is_last):
                waiting.append(at + 1)
        return tuple(found), accepted


_LOOKS: Final = frozenset(Kind) - {Kind.ONE_OF, Kind.RANGE, Kind.SPLIT, Kind.JUMP, Kind.ACCEPT}
_NEWLINE: Final = 10


def _allows(kind: Kind, before: int, after: int, first: bool, is_last: bool) -> bool:
    match kind:
        case Kind.BEGIN:
            return first
        case Kind.END:
            return after == _END or (after == _NEWLINE and is_last)
        case Kind.VERY_END:
            return after == _END
        case Kind.BEGIN_LINE:
            return first or before == _NEWLINE
        case Kind.END_LINE:
            return after in (_END, _NEWLINE)
        case Kind.WORD_EDGE:
            return _is_word(before) != _is_word(after)
        case _:
            return _is_word(before) == _is_word(after)


def _is_word(code: int) -> bool:
    return 0 <= code < 128 and (chr(code).isalnum() or code == ord("_"))


def _is_decided(steps: list[Step]) -> bool:
    """Whether from each place at most one step takes any character, and is reached in one way only: then a
    backtracking matcher has nothing else to try."""
    looks = 0
    for begin in [0, *(at + 1 + each.first for at, each in enumerate(steps) if each.kind is Kind.ONE_OF)]:
        waiting, seen, ranges = [begin], set[int](), list[tuple[int, int]]()
        while waiting:
            at = waiting.pop()
            looks += 1
            if at in seen or looks > _MOST_LOOKS:
                return False
            seen.add(at)
            kind, one, other = steps[at]
            if kind is Kind.ONE_OF:
                ranges += [(low, high) for _, low, high in steps[at + 1 : at + 1 + one]]
            elif kind is Kind.SPLIT:
                waiting += (one, other)
            elif kind is Kind.JUMP:
                waiting.append(one)
            elif kind is not Kind.ACCEPT:
                waiting.append(at + 1)
        if _overlap(ranges):
            return False
    return True


def _overlap(ranges: list[tuple[int, int]]) -> bool:
    ranges.sort()
    return any(high >= low for (_, high), (low, _) in pairwise(ranges))
