"""F1. "Did you mean": the nearest of the known names, or nothing if none is similar enough."""

from collections.abc import Iterable, Iterator


def _distance(left: str, right: str, limit: int) -> int:
    """Edit distance with transpositions, given up above `limit`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and left[row - 2] == b:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before_last, last = last, current
    return last[-1]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word with the fewest edits, which must be fewer than its letters.

    A difference of case alone always counts as near.
    """
    if len(word) > 64:
        return None
    limit = min(len(word) - 1, max(1, len(word) // 3))
    best: tuple[int, str] | None = None
    for candidate in known:
        if candidate == word:
            continue
        edits = 0 if candidate.lower() == word.lower() else _distance(word, candidate, limit)
        if edits <= limit and (best is None or (edits, candidate) < best):
            best = (edits, candidate)
    return best[1] if best else None


class Suggester:
    """`nearest` for one run, in which a hostile schema may compare every word with all others: after LOOKS
    compared names it returns nothing any more. It reads names one by one, so pass a generator.
    """

    LOOKS = 100_000

    def __init__(self) -> None:
        self._left = self.LOOKS

    def nearest(self, word: str, known: Iterable[str]) -> str | None:
        if self._left <= 0:
            return None
        found = nearest(word, self._counted(known))
        return found if self._left > 0 else None  # an incomplete search may have missed the best

    def _counted(self, known: Iterable[str]) -> Iterator[str]:
        for each in known:
            if self._left <= 0:
                return
            self._left -= 1
            yield each


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The sentence for `help`, or None."""
    found = nearest(word, known)
    return f"did you mean `{found}`?" if found else None
