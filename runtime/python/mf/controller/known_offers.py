"""R7. Tracks which offers a controller has, and which changes to send next. Pure data.

An update that the controller refuses changes nothing, and the registration stays: refused offers are left out
from then on, until they change, or for a while if the controller only had no room.
"""

import math
from collections.abc import Iterable

from mf.controller._generated.mf.controller import Key
from mf.controller._generated.mf.controller import Offer as Entry
from mf.core.error import Code

REFUSED_AGAIN = 10.0
"""Seconds after which offers without room at the controller are sent again."""

_KeyOf = tuple[int, str, str]


class KnownOffers:
    """`entries`: the initial offers of the registration."""

    __slots__ = ("_known", "_refused", "_singly", "again")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._known = {_key(entry.key): entry for entry in entries}
        self._refused: dict[_KeyOf, tuple[Entry, float]] = {}
        self._singly = False  # one of several was refused: each is sent in an update of its own
        self.again = math.inf
        """When a refused offer is sent again."""

    def changes(self, entries: Iterable[Entry], now: float) -> tuple[list[Entry], list[Key]]:
        """The entries to add or replace, and the keys to remove, so that the controller has exactly
        `entries`."""
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
        """The entries that the controller refused, except those whose refusal was reported before."""
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
