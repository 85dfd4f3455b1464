"""R0. The call that a handler is running for, as the floors below the server see it: what nested calls take
from it.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Protocol


class CurrentCallBase(Protocol):
    """What a call that a handler makes takes over."""

    @property
    def deadline(self) -> float:
        """When nobody waits for the reply any more, by time.monotonic(); infinite for never."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the caller sent beside the parameters."""


current: ContextVar[CurrentCallBase | None] = ContextVar("mf_current_call", default=None)
