"""R2. What calls and bindings know of servers with another schema: see adapted.py, which whoever meets none
never imports.
"""

from collections.abc import Callable
from typing import Any, Protocol

from mf.core.error import Error
from mf.core.service import Method, Payload
from mf.protocol.frame import Buffer

TopicValue = Callable[[Payload], Payload]
"""Makes bytes of a message in the subscriber's schema of those in the publisher's. Raises Error."""


class Adapted(Protocol):
    """One method, as it is called there."""

    @property
    def index(self) -> int:
        """Of its route behind the first one of the binding."""

    def request(self, flags: int, items: int, body: Buffer) -> tuple[int, Buffer]:
        """Flags and body of a REQUEST in the server's schema, from those in the client's. Raises Error,
        NOT_EXECUTED, for a value that the server's schema does not have."""

    def reply(self, status: int, encoding: int, count: int, payload: Payload) -> tuple[int, int, Payload]:
        """Status, encoding and payload of a REPLY, which is OK or MIXED, in the client's schema. Raises
        Error, DECODE_ERROR."""

    @property
    def param_encoding(self) -> int:
        """Of the DATA that is sent."""

    def param_value(self, body: Buffer) -> Buffer:
        """One value of the parameter stream. Raises Error."""

    @property
    def result_encoding(self) -> int:
        """Of the DATA that comes."""

    def result_values(self, payload: Payload, count: int) -> Payload:
        """Values of the result stream. Raises Error."""


class Adaptation(Protocol):
    """A service, or a topic, at a server with this fingerprint. `names`: of the server's methods that are
    bound, in the order of their routes. `value`: of a topic."""

    @property
    def fingerprint(self) -> bytes: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def value(self) -> TopicValue | None: ...

    def method(self, method: Method[Any, Any]) -> Adapted | None:
        """None: its bytes and its place are those of the client's schema. Raises Error, NOT_EXECUTED, if it
        cannot be called there."""

    def refusal(self, method: Method[Any, Any]) -> Error | None:
        """Why it cannot be called there."""
