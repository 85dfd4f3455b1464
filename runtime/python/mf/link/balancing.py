"""R4. Which of several instances gets the next call: power of two choices by calls in flight."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from mf.link.fork import JITTER

T = TypeVar("T")


def order(candidates: Sequence[T], load: Callable[[T], float]) -> list[T]:
    """All candidates, the best choice first: the less loaded of two drawn at random, then the others at
    random."""
    if len(candidates) < 2:
        return list(candidates)
    shuffled = JITTER.sample(candidates, len(candidates))
    if load(shuffled[1]) < load(shuffled[0]):
        shuffled[0], shuffled[1] = shuffled[1], shuffled[0]
    return shuffled
