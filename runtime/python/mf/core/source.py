"""R0. What a server may offer beside servants: services that come and go by themselves, whose one method
gives a stream that is pushed (pushed.py). The topics of a process are offered so.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from mf.core.error import Error
from mf.core.service import BaseServant, Encoded, ServiceInfo


class Pushing(Protocol):
    """The stream of one call, as its servant sees it."""

    @property
    def peer(self) -> str: ...

    @property
    def authentication(self) -> bytes: ...

    def kick(self) -> None:
        """There is something to take. From any thread."""


class PushSource(ABC):
    """What gives the values, encoded."""

    __slots__ = ()

    @abstractmethod
    def take(self) -> Encoded | Error | None:
        """The next value; None: there is none now; an Error: nothing comes any more."""

    @abstractmethod
    def instead(self) -> Encoded | None:
        """What is sent for the value taken last, which is larger than the client accepts; None: nothing is,
        and the stream ends."""

    @abstractmethod
    def failure(self) -> Error | None:
        """What ends the stream at once, whatever still waits."""

    @abstractmethod
    def gone(self) -> None:
        """Nobody wants them any more. Without the lock."""


class PushServant(BaseServant):
    """A servant whose only method has a result stream that is pushed. `mf_service` is an object's own."""

    __slots__ = ("mf_service",)

    mf_service: ServiceInfo  # type: ignore[misc] # of generated servants it is their class's

    @abstractmethod
    def subscribe(self, push: "Pushing", *arguments: Any) -> PushSource:
        """Begins. Raises Error for what is refused."""


class OfferSource(ABC):
    """What a server may offer beside servants: services that come and go by themselves."""

    @abstractmethod
    def servant(self, name: str) -> PushServant | None:
        """Of the service of this name, if there is one by now."""

    @abstractmethod
    def published(self) -> Iterable[tuple[str, str]]:
        """Names of services, and agents, that a controller is told of."""

    @abstractmethod
    def listen(self, changed: Callable[[], None]) -> None:
        """Calls when `published` has changed, from any thread."""
