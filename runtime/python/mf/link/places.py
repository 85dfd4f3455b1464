"""R4. What a client knows of the addresses that it connects to: the connection there, what the latest attempt
met, and whether it answered in time. How connections are made is in pool.py and async_pool.py.
"""

import os
from time import monotonic
from typing import Any, Generic, TypeVar

from mf.core.error import Code, Error, not_executed
from mf.link.core import LinkCore
from mf.link.fork import JITTER
from mf.link.resolver import Instance
from mf.protocol.handshake import Hello
from mf.transport.stream import StreamError

L = TypeVar("L", bound=LinkCore)

CONNECT_TIMEOUT = 5.0
A_MOMENT = 0.25
"""Seconds. A server that is there has answered by then; the others must not hold it up."""

_RETRY_AFTER = 0.05
_LATE_FOR = 1.0  # doubling to
_LATE_AT_MOST = 30.0


def connect_failed(address: str, failed: OSError) -> Error:
    code = failed.code if isinstance(failed, StreamError) else Code.UNAVAILABLE
    why = failed.strerror or str(failed)
    return not_executed(code, f"connect {address}: {why[:1].lower()}{why[1:]}")


class Place(Generic[L]):
    """One address. A failed attempt stands for all callers for a moment, so that they do not storm it."""

    __slots__ = ("error", "former", "late_for", "late_until", "link", "not_before")

    def __init__(self) -> None:
        self.link: L | None = None
        self.former: list[L] = []
        """Connections that take no new calls, and have some in flight."""
        self.not_before = 0.0
        self.error: Error | None = None
        self.late_for = _LATE_FOR
        self.late_until = 0.0

    def connected(self, link: L) -> None:
        """A new connection takes the place of the one that was there, whose calls go on."""
        before = self.links()
        self.former = [each for each in before if each.failure is None and each.in_flight]
        self.link = link

    def links(self) -> list[L]:
        """All that may have calls in flight."""
        return self.former if self.link is None else [*self.former, self.link]

    def failed(self, address: str, failed: OSError) -> Error:
        """Nobody can be reached there. The failure of those who wanted to."""
        self.not_before = monotonic() + _RETRY_AFTER * JITTER.random()
        self.error = connect_failed(address, failed)
        return self.error

    def check(self, now: float) -> None:
        """Raises what the latest attempt met, if that was a moment ago."""
        if now < self.not_before and self.error is not None:
            raise self.error


P = TypeVar("P", bound=Place[Any])


class Places(Generic[P, L]):
    """Places by address."""

    __slots__ = ("_late", "_max_payload", "_nonce", "_places", "closed")

    def __init__(self, max_payload: int) -> None:
        self._places: dict[str, P] = {}
        self._late = False  # some place was, once
        self._max_payload = max_payload
        self._nonce = os.urandom(16)
        self.closed = False

    def _hello(self) -> Hello:
        """Of a new connection."""
        client_id = int.from_bytes(os.urandom(4), "little")
        return Hello(nonce=self._nonce, max_payload=self._max_payload, client_id=client_id)

    def load(self, instance: Instance) -> float:
        """Calls in flight to an instance."""
        link = self.usable(instance)
        return link.in_flight if link is not None else 0

    def usable(self, instance: Instance) -> L | None:
        """The link to an instance, if there is one."""
        if instance.local:
            link = self._usable(instance.local)
            if link is not None and link.is_to(instance.nonce):
                return link
        return self._usable(instance.address)

    def _usable(self, address: str) -> L | None:
        place = self._places.get(address)
        link: L | None = place.link if place is not None else None
        return link if link is not None and link.usable else None

    def is_untried(self, instance: Instance) -> bool:
        """Whether nobody knows yet if the instance can be reached."""
        place = self._places.get(instance.address)
        return place is None or (place.link is None and place.error is None)

    def patience(self, deadline: float) -> float:
        """How long to wait for an instance while there are others."""
        return min(deadline, monotonic() + A_MOMENT)

    def late_last(self, candidates: list[tuple[str, Instance]]) -> list[tuple[str, Instance]]:
        """Behind the others those that did not answer in a moment lately."""
        if not self._late:
            return candidates
        now = monotonic()
        return sorted(candidates, key=lambda candidate: self._is_late(candidate[1].address, now))

    def note_late(self, address: str) -> None:
        place = self._place(address)
        place.late_until = monotonic() + place.late_for
        place.late_for = min(place.late_for * 2, _LATE_AT_MOST)
        self._late = True

    def _is_late(self, address: str, now: float) -> bool:
        place = self._places.get(address)
        return place is not None and place.late_until > now

    def _place(self, address: str) -> P:
        raise NotImplementedError
