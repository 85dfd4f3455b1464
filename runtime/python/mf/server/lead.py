"""R5. Being the only one: of all processes that ask a controller for the lead of a service and agent, one has
it at a time.
"""

from abc import ABC, abstractmethod
from typing import Any, Self


class Lead(ABC):
    """The lead, for programs that block.

        with server.lead(IndexServant, agent="books") as lead:    # waits until this process has it
            while not lead.lost(timeout=1.0):
                write_down(lead.epoch, ...)

    Leaving the block gives it up. The one who has lost it may notice that later than the next one has got it:
    so whatever only the leader may change is to refuse those with a smaller epoch than it has seen.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def epoch(self) -> int:
        """Larger than the epochs of all who had the lead before; 0 before this process has it."""

    @property
    @abstractmethod
    def held(self) -> bool:
        """Whether this process has it, as far as it knows."""

    @abstractmethod
    def lost(self, timeout: float | None = None) -> bool:
        """Waits until this process no longer has it, at most `timeout` seconds. False: it has."""

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *_: Any) -> None: ...
