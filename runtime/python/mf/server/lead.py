"""R5. Leader election: of all processes that ask a controller for the lead of a service and agent, one holds
it at a time.
"""

from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from mf.core.error import Code, not_executed

if TYPE_CHECKING:
    from mf.link.background import Background
    from mf.server.async_lead import AsyncLead


class Lead:
    """The lead, for programs that block. Thread-safe.

        with server.lead(IndexServant, agent="books") as lead:    # waits until this process has it
            while not lead.lost(timeout=1.0):
                write_down(lead.epoch, ...)

    Leaving the block gives up the lead. A process may notice the loss of its lead later than the next leader
    gets it: therefore resources that only the leader may change must refuse writers with a smaller epoch than
    they have seen.

    `server.lead` makes one: `thread` is that of the registrar, whose loop has the `lead`.
    """

    __slots__ = ("_lead", "_thread")

    def __init__(self, thread: "Background", lead: "AsyncLead") -> None:
        self._thread = thread
        self._lead = lead

    @property
    def epoch(self) -> int:
        """Larger than the epochs of all previous leaders; 0 before this process leads."""
        return self._lead.epoch

    @property
    def held(self) -> bool:
        """Whether this process leads, by what the controller has said last."""
        return self._lead.held

    def lost(self, timeout: float | None = None) -> bool:
        """Waits until this process no longer leads, at most `timeout` seconds. False: it still leads."""
        try:
            self._thread.run(self._lead.lost(), timeout)
        except TimeoutError:
            return False
        except CancelledError:  # the server has stopped
            pass
        return True

    def __enter__(self) -> Self:
        try:
            self._thread.run(self._lead.__aenter__())
        except CancelledError:
            raise not_executed(Code.CANCELLED, "the server was stopped") from None
        return self

    def __exit__(self, *_: Any) -> None:
        with suppress(CancelledError):  # the server has stopped, and has given up the lead
            self._thread.run(self._lead.__aexit__())
