"""R6. What a controller was told of a process's offers, and what it is to be told next. Pure data.

An update that the controller refuses changes nothing, and the registration stands: what was refused is left
out from then on, until it has changed, or for a while if the controller only had no room.
"""

import math
from collections.abc import Iterable

from mf.controller._generated.mf.controller import Key
from mf.controller._generated.mf.controller import Offer as Entry
from mf.core.error import Code

REFUSALS = frozenset((Code.OVERLOADED, Code.INVALID_ARGUMENT))
"""They say that one update was refused, and nothing of the registration."""
REFUSED_AGAIN = 10.0
"""Seconds after which what the controller had no room for is offered again."""

_KeyOf = tuple[int, str, str]


class Told:
    """`entries`: what the registration began with."""

    __slots__ = ("_known", "_refused", "_singly", "again")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._known = {_key(entry.key): entry for entry in entries}
        self._refused: dict[_KeyOf, tuple[Entry, float]] = {}
        self._singly = False  # one of several was refused: each is offered in an update of its own
        self.again = math.inf
        """When something that was refused is offered again."""

    def changes(self, entries: Iterable[Entry], now: float) -> tuple[list[Entry], list[Key]]:
        """What is to be added or replaced, and what to be removed, so that the controller knows these."""
        wanted = {_key(entry.key): entry for entry in entries}
        removed = [entry.key for key, entry in self._known.items() if key not in wanted]
        self._refused = {key: each for key, each in self._refused.items() if wanted.get(key) == each[0]}
        put = [
            entry
            for key, entry in wanted.items()
            if self._known.get(key) != entry and not (key in self._refused and now < self._refused[key][1])
        ]
        self.again = min((until for _, until in self._refused.values() if now < until), default=math.inf)
        if self._singly:
            self._singly = bool(put)
            del put[1:]
        return put, removed

    def accept(self, put: Iterable[Entry], removed: Iterable[Key]) -> None:
        for key in removed:
            self._known.pop(_key(key), None)
        for entry in put:
            self._known[_key(entry.key)] = entry
            self._refused.pop(_key(entry.key), None)

    def refuse(self, put: list[Entry], code: Code, now: float) -> list[Entry]:
        """What the controller does not take, as far as that is news."""
        may_pass = code is Code.OVERLOADED
        if not may_pass and len(put) > 1:
            self._singly = True
            return []
        until = now + REFUSED_AGAIN if may_pass else math.inf
        news = [entry for entry in put if _key(entry.key) not in self._refused]
        self._refused.update({_key(entry.key): (entry, until) for entry in put})
        return news


def _key(key: Key) -> _KeyOf:
    return (int(key.kind), key.name, key.agent)
