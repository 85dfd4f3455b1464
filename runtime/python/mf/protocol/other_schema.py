"""R2. The interface of calls and bindings to adaptations to another schema: see adapted.py, which is only
imported when a server has one.
"""

from collections.abc import Callable
from typing import Any, Protocol, Self

from mf.core.error import Code, Error, Execution
from mf.core.service import Method, Payload
from mf.protocol.frame import Buffer

TopicValue = Callable[[Payload], Payload]
"""Converts the bytes of a message from the publisher's schema to the subscriber's. Raises Error."""


class LostItemsError(Error):
    """Some items of a request have no equal in the server's schema. `items`: each of them by its place, with
    words of its own."""

    __slots__ = ("items",)

    def __init__(self, items: dict[int, Error], message: str) -> None:
        super().__init__(Code.INVALID_ARGUMENT, message, Execution.NOT_EXECUTED)
        self.items = items


class Adapted(Protocol):
    """One method, as it is called there."""

    @property
    def index(self) -> int:
        """The offset of its route from the first one of the binding."""

    def request(self, flags: int, items: int, body: Buffer) -> tuple[int, Buffer]:
        """Flags and body of a REQUEST in the server's schema, converted from those in the client's. Raises
        Error, NOT_EXECUTED, for a value that the server's schema does not have; of several items and of a
        bulk, LostItemsError."""

    def reply(self, status: int, encoding: int, count: int, payload: Payload) -> tuple[int, int, Payload]:
        """Status, encoding and payload of a REPLY, which is OK or MIXED, in the client's schema. Raises
        Error, DECODE_ERROR."""

    @property
    def param_encoding(self) -> int:
        """The encoding of sent DATA."""

    def param_value(self, body: Buffer) -> Buffer:
        """Converts one value of the parameter stream. Raises Error."""

    @property
    def result_encoding(self) -> int:
        """The encoding of received DATA."""

    def result_values(self, payload: Payload, count: int) -> tuple[Payload, int, Error | None]:
        """Converts values of the result stream up to the first that cannot go over: their bytes, their
        number, and why that one cannot. Raises Error for bytes that are no values."""


class Adaptation(Protocol):
    """A service, or a topic, at a server with this fingerprint. `names`: the server's bound methods, in the
    order of their routes. `value`: of a topic."""

    @property
    def fingerprint(self) -> bytes: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def value(self) -> TopicValue | None: ...

    def at(self, peer: str) -> Self:
        """The same at this provider, which all failures then name."""

    def method(self, method: Method[Any, Any]) -> Adapted | None:
        """None if the method's bytes and place are those of the client's schema. Raises Error, NOT_EXECUTED,
        if it cannot be called there."""

    @property
    def differences(self) -> str:
        """Of the methods that cannot be called there, and why; empty if there are none."""

    def refusal(self, method: Method[Any, Any]) -> Error | None:
        """The reason why it cannot be called there."""

    def checks(self, method: Method[Any, Any]) -> bool:
        """Whether the server's schema lacks some of the method's values."""
