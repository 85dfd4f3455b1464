"""R5. Leader election: of all processes that ask a controller for the lead of a service and agent, one holds
it at a time.
"""

from abc import ABC, abstractmethod
from typing import Any, Self


class Lead(ABC):
    """The lead, for programs that block.

        with server.lead(IndexServant, agent="books") as lead:    # waits until this process has it
            while not lead.lost(timeout=1.0):
                write_down(lead.epoch, ...)

    Leaving the block gives up the lead. A process may notice the loss of its lead later than the next leader
    gets it: therefore resources that only the leader may change must refuse writers with a smaller epoch than
    they have seen.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def epoch(self) -> int:
        """Larger than the epochs of all previous leaders; 0 before this process leads."""

    @property
    @abstractmethod
    def held(self) -> bool:
        """Whether this process leads, as far as it knows."""

    @abstractmethod
    def lost(self, timeout: float | None = None) -> bool:
        """Waits until this process no longer leads, at most `timeout` seconds. False: it still leads."""

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *_: Any) -> None: ...
