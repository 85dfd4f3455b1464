"""R5. What the peers of a server have of something that is bounded, for example of its threads. A peer is an
identity, or without one the host that it connects from. While an eighth is left each peer may have as much as
it asks for; then only peers that have at most an eighth get more. So no single peer can use up everything,
and none is limited while there is enough.

Thread-safe.
"""

from threading import Lock


class Shares:
    """`most`: what all peers together may have."""

    __slots__ = ("_lock", "_of", "most", "used")

    def __init__(self, most: int) -> None:
        self._lock = Lock()
        self._of: dict[str, int] = {}
        self.most = most
        self.used = 0

    def take(self, peer: str) -> bool:
        """One more for the peer, which returns it by `give_back`. False: it may have no more now."""
        with self._lock:
            own = self._of.get(peer, 0)
            if self.used >= self.most or (self.is_scarce and own >= self.most // 8):
                return False
            self._of[peer] = own + 1
            self.used += 1
            return True

    def give_back(self, peer: str) -> None:
        with self._lock:
            self.used -= 1
            self._of[peer] -= 1
            if not self._of[peer]:
                del self._of[peer]

    def of(self, peer: str) -> int:
        return self._of.get(peer, 0)

    @property
    def is_scarce(self) -> bool:
        return self.used >= self.most - self.most // 8
