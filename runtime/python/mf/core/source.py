"""R0. What a server may offer beside servants: services that come and go by themselves, with one method that
returns a pushed stream (pushed.py). The topics of a process are such services.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from mf.core.error import Error
from mf.core.identity import Identity
from mf.core.service import BaseServant, Encoded, ServiceInfo


class Pushing(Protocol):
    """The stream of one call, from the view of its servant."""

    @property
    def peer(self) -> str: ...

    @property
    def identity(self) -> Identity: ...

    @property
    def authentication(self) -> bytes: ...

    def check_subscription(self, agents: str) -> None:
        """Raises Error(PERMISSION_DENIED) if the server does not let this peer subscribe to the topic of the
        call for these agents."""

    def kick(self) -> None:
        """There is something to take. Thread-safe."""


class PushSource(ABC):
    """The source of the encoded values."""

    __slots__ = ()

    @abstractmethod
    def take(self) -> Encoded | Error | None:
        """The next value; None: there is none now; an Error: there will be no more."""

    @abstractmethod
    def instead(self) -> Encoded | None:
        """The replacement for the last value, which is larger than the client accepts; None: there is none,
        and the stream ends."""

    @abstractmethod
    def held_bytes(self) -> int:
        """The bytes of the values that wait in it. It calls `Pushing.kick` when these have grown by 16 KiB
        since this was asked."""

    @abstractmethod
    def failure(self) -> Error | None:
        """A failure that ends the stream at once, whatever still waits."""

    @abstractmethod
    def gone(self) -> None:
        """The values are not wanted any more. Called without the lock."""


class PushServant(BaseServant):
    """A servant whose only method has a pushed result stream. `mf_service` is an attribute of the object."""

    __slots__ = ("mf_service",)

    mf_service: ServiceInfo  # type: ignore[misc] # generated servants have it in their class

    @abstractmethod
    def subscribe(self, push: "Pushing", *arguments: Any) -> PushSource:
        """Starts the stream. Raises Error to refuse it."""


class SourceFigures(NamedTuple):
    """Of one such service, since the process started: `published` values, and of those `dropped` ones that a
    subscriber has missed; `cut` subscriptions that were ended. `subscribers`: now."""

    service: str
    subscribers: int
    published: int
    dropped: int
    cut: int


class OfferSource(ABC):
    """What a server may offer beside servants: services that come and go by themselves."""

    @abstractmethod
    def servant(self, name: str) -> PushServant | None:
        """The servant of the service of this name, if there is one by now."""

    @abstractmethod
    def published(self) -> Iterable[tuple[str, str]]:
        """The names of services, and agents, that controllers get."""

    def figures(self) -> Iterable[SourceFigures]:
        """For the metrics of a server; nothing of a source without any. Any thread may call."""
        return ()

    @abstractmethod
    def listen(self, changed: Callable[[], None]) -> None:
        """Calls `changed` when `published` has changed, on any thread."""
