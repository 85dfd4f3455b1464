"""R0. The call that a handler is running for: what `mf.current_call()` gives, over a connection and in light.

Who runs a handler enters the call before and leaves it after. The variable is one of the context, so that a
coroutine, the tasks that it starts and `asyncio.to_thread` have the same call as the handler; a thread that a
handler starts by itself has none.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextvars import ContextVar
from time import monotonic
from types import MappingProxyType

NO_METADATA: Mapping[str, str] = MappingProxyType({})


class CurrentCall(ABC):
    """The call that a handler is running for. For a batch, all its items share one."""

    __slots__ = ()

    @property
    @abstractmethod
    def service(self) -> str:
        """The full name of the service."""

    @property
    @abstractmethod
    def agent(self) -> str:
        """The agent that was called, an enum's member by its name; empty for a service without `per`."""

    @property
    @abstractmethod
    def method(self) -> str: ...

    @property
    @abstractmethod
    def peer(self) -> str:
        """The caller's address, 'host:port'; 'light:' for a caller of this process."""

    @property
    @abstractmethod
    def request_id(self) -> int:
        """64 bits, unique among the requests of one client."""

    @property
    @abstractmethod
    def deadline(self) -> float:
        """When the caller stops waiting, on the monotonic clock; infinite if it never does."""

    @property
    def deadline_left(self) -> float:
        """Seconds until nobody waits for the reply any more; infinite if the caller set no deadline."""
        return self.deadline - monotonic()

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the caller has given the call up, by itself, by its deadline or by leaving. Nobody is told
        what the handler does from then on; a handler that runs for long looks at this and stops.
        """

    @property
    @abstractmethod
    def metadata(self) -> Mapping[str, str]:
        """What the caller sent beside the parameters: trace context, a token, keys of the user's."""

    @abstractmethod
    def set_reply_metadata(self, key: str, value: str) -> None:
        """Sends a value back beside the reply. Raises Error(INVALID_ARGUMENT) for a key that may not go.

        A stream's reply metadata leave with its first value; later ones go with its end.
        """


current: ContextVar[CurrentCall | None] = ContextVar("mf_current_call", default=None)
enter = current.set
leave = current.reset


def current_call() -> CurrentCall:
    """The call that the running handler serves. Raises RuntimeError outside of a handler."""
    call = current.get()
    if call is None:
        raise RuntimeError("mf.current_call() is for handlers, while they run: no handler is running here")
    return call
