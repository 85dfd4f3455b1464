"""R6. What AsyncReplica is, for programs that block: on a thread with a loop of its own."""

from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Self, Unpack

from mf.core.replicated import Version
from mf.core.service import Servant
from mf.link import fork
from mf.link.background import Background
from mf.replicated.async_replica import AsyncReplica, not_within_itself
from mf.replicated.settings import ReplicaFields


class Replica:
    """One of the replicas of a service: see AsyncReplica, also for `servant`, `controller` and `fields`.

        with mf.Replica(store, "mf://localhost:7400", member="a", members=["a", "b", "c"]):
            server.run()

    The servant's functions are called on a thread of the replica's own, one after the other. Any thread may
    use this.
    """

    def __init__(self, servant: Servant, controller: str, **fields: Unpack[ReplicaFields]) -> None:
        self._replica = AsyncReplica(servant, controller, **fields)
        self._thread: Background | None = None
        fork.register(self)

    @property
    def version(self) -> Version:
        """Up to where the servant has applied."""
        return self._replica.version

    @property
    def leads(self) -> bool:
        """Whether it gives out the versions, by what it has heard."""
        return self._replica.leads

    @property
    def serves(self) -> bool:
        """Whether it has caught up, and acknowledges."""
        return self._replica.serves

    @property
    def stuck(self) -> str:
        """Why this replica takes part no more; empty while it does."""
        return self._replica.stuck

    def until_serving(self, timeout: float) -> bool:
        """Waits until it has caught up, at most `timeout` seconds. Whether it has."""
        if self._thread is None:
            raise ValueError("start the replica first")
        self._replica.check_own()
        return self._thread.run(self._replica.until_serving(timeout))

    def start(self) -> None:
        """Offers itself, finds the others, and catches up. Raises OSError if an address cannot be had."""
        self._replica.check_own()
        if self._thread is not None:
            raise ValueError("the replica was started already")
        self._thread = Background("mf-replica")
        try:
            self._thread.run(self._replica.start())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Gives up the lead, and is gone for clients and the other replicas. May be called twice, but not
        within on_apply."""
        if self._thread is not None:
            if self._thread.is_this_thread():
                raise not_within_itself()
            with suppress(CancelledError):
                self._thread.stop(self._replica.stop(), 5.0)

    def reload(self) -> bool:
        """Reads the access file and the files of `tls` again, at once: see Server.reload."""
        return self._thread is None or self._thread.call(self._replica.reload)

    def after_fork(self) -> None:
        """In a child, where the thread does not run. The replica itself is notified, too."""
        if self._thread is not None:
            self._thread.after_fork()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
