"""R6. The lead of a blocking server: wraps an asyncio lead on the registrar's thread."""

from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Self

from mf.core.error import Code, not_executed
from mf.link.background import Background
from mf.server.async_lead import AsyncLead
from mf.server.lead import Lead


class ControllerLead(Lead):
    """See above. Thread-safe."""

    __slots__ = ("_lead", "_thread")

    def __init__(self, thread: Background, lead: AsyncLead) -> None:
        self._thread = thread
        self._lead = lead

    @property
    def epoch(self) -> int:
        return self._lead.epoch

    @property
    def held(self) -> bool:
        return self._lead.held

    def lost(self, timeout: float | None = None) -> bool:
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
