"""R0. The call of a running handler: the result of `mf.current_call()`, over a connection and in light.

The code that runs a handler enters the call before and leaves it after. It is a context variable, so that a
coroutine, its tasks and `asyncio.to_thread` have the same call as the handler; a thread that a handler starts
has none.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextvars import ContextVar
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mf.core.identity import Identity

NO_METADATA: Mapping[str, str] = MappingProxyType({})


class CurrentCall(ABC):
    """The call of a running handler. All items of a batch share one."""

    __slots__ = ()

    @property
    @abstractmethod
    def service(self) -> str:
        """The full name of the service."""

    @property
    @abstractmethod
    def agent(self) -> str:
        """The requested agent, an enum's member by its name; empty for a service without `per`."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Its name in the schema, without that of the service."""

    @property
    @abstractmethod
    def peer(self) -> str:
        """The caller's address, 'host:port'; 'light:' for a caller of this process."""

    @property
    @abstractmethod
    def identity(self) -> "Identity":
        """What the caller has proved of itself to this server; of a call in this process, the process's own
        user."""

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
        """Seconds until the caller stops waiting; infinite if it set no deadline."""
        return self.deadline - monotonic()

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the caller has given up the call: by cancelling, by its deadline or by disconnecting. The
        handler's result is dropped then; a long-running handler should check this and stop.
        """

    @property
    @abstractmethod
    def metadata(self) -> Mapping[str, str]:
        """The metadata that the caller sent: trace context, a token, keys of the user."""

    @abstractmethod
    def set_reply_metadata(self, key: str, value: str) -> None:
        """Sends a value with the reply. Raises Error(INVALID_ARGUMENT) for an invalid key.

        A stream's reply metadata are sent with its first value; later ones with its end.
        """

    # For interceptors

    @property
    def request_bytes(self) -> int:
        """The size of the request's payload; 0 in light."""
        return 0

    @property
    def stopped(self) -> Exception | None:
        """Why the handler must stop, if it must."""
        return None

    def intercepted_by(self, way: Any) -> bool:  # noqa: ARG002
        """Interceptors are around the handler (`way`: intercepting.Intercepting). Whether this call reports
        its end to them."""
        return False


current: ContextVar[CurrentCall | None] = ContextVar("mf_current_call", default=None)
enter = current.set
leave = current.reset


def current_call() -> CurrentCall:
    """The call that the running handler serves. Raises RuntimeError outside of a handler."""
    call = current.get()
    if call is None:
        raise RuntimeError("mf.current_call() is for handlers, while they run: no handler is running here")
    return call
