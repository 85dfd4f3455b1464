"""R0. The closed set of failures (docs/protocol.md, section 6), with the same numbers in every language.

It does not know bytes, sockets or threads. Its texts are sent over the network and logged, so they are
bounded.
"""

from collections.abc import Collection, Mapping
from copyreg import __newobj__  # type: ignore[attr-defined] # what pickle makes slotted objects with
from enum import IntEnum
from itertools import islice
from typing import Any, Final, Self

from mf.core.plain_struct import PlainStruct, names_of, shown_fields

MAX_MESSAGE_BYTES = 1024
_MOST_NAMES = 8
_LONGEST_NAME = 100


class Code(IntEnum):
    """Why a call ended without a result."""

    OK = 0
    DECLARED = 1
    INVALID_ARGUMENT = 2
    UNKNOWN_SERVICE = 3
    UNKNOWN_AGENT = 4
    UNKNOWN_METHOD = 5
    SCHEMA_MISMATCH = 6
    HANDLER_FAILED = 7
    DEADLINE_EXCEEDED = 8
    CANCELLED = 9
    OVERLOADED = 10
    UNAVAILABLE = 11
    CONNECTION_LOST = 12
    MESSAGE_TOO_LARGE = 13
    DECODE_ERROR = 14
    PROTOCOL_ERROR = 15
    UNAUTHENTICATED = 16
    PERMISSION_DENIED = 17
    SHUTTING_DOWN = 18
    INTERNAL = 19


class Execution(IntEnum):
    """Whether a failed call may have run."""

    NOT_EXECUTED = 0
    """The handler never started: safe to call again."""
    UNKNOWN = 1
    """It may have run."""
    NO_CALL = 2
    """There was no call: of files of values."""


_RAN = (" (not executed)", " (may have run)", "")


class MfError(Exception):
    """Every failure of a call: an `Error`, or one of the errors that a schema declares."""

    __slots__ = ()


class Error(MfError):
    """The failure of a call other than a declared error.

    `code` says why, `execution` whether the servant may have run, `message` is for people. An Error of a code
    that has a class of its own below is of that class, wherever it is made: `mf.Error(mf.Code.UNAVAILABLE)`
    is an `mf.Unavailable`.

    Args:
        code: Why the call failed.
        message: What people read. Defaults to "".
        execution: Whether the handler may have run. Defaults to `mf.Execution.UNKNOWN`.

    Raises:
        TypeError: `code` is no `mf.Code`.
        ValueError: The class is that of another code; derived ones may have any.
    """

    __slots__ = ()

    code: Code
    message: str
    execution: Execution

    def __new__(cls, code: object = None, *_: object, **_named: object) -> Self:
        """Without arguments for OSError, which would take them for its own."""
        kind: Any = _KINDS.get(code, Error) if cls is Error else cls
        made: Self = super(Error, kind).__new__(kind)
        return made

    def __init__(self, code: Code, message: str = "", execution: Execution = Execution.UNKNOWN) -> None:
        if not isinstance(code, Code):
            raise TypeError(
                f"the code of an error is a {type(code).__name__}: give one of mf.Code, as in "
                "mf.Error(mf.Code.UNAVAILABLE, 'it is loading')"
            )
        if (
            _KINDS.get(code) is not type(self) and type(self) in _KINDS.values()
        ):  # not of a class that is derived
            raise ValueError(f"{type(self).__name__} is not the class of {code.name}, which mf.Error finds")
        Exception.__init__(self, code, message, execution)
        self.code = code
        self.message = message
        self.execution = execution

    def __str__(self) -> str:
        text = f"{self.code.name}: {self.message}" if self.message else self.code.name
        return text + _RAN[self.execution]

    def __repr__(self) -> str:
        return f"mf.Error({self.code.name}, {self.message!r}, {self.execution.name})"


class InvalidArgument(Error):
    """A value does not fit the schema or a constraint of it, or an option does not fit the call."""

    __slots__ = ()


class UnknownService(Error):
    """No server that the client reaches offers the service."""

    __slots__ = ()


class UnknownAgent(Error):
    """No server offers the service for this agent."""

    __slots__ = ()


class UnknownMethod(Error):
    """The server's schema has no such method."""

    __slots__ = ()


class SchemaMismatch(Error):
    """The server's schema differs from the client's in a way that no adaptation bridges."""

    __slots__ = ()


class HandlerFailed(Error):
    """The handler has raised something that the schema does not declare; the call may have had effects."""

    __slots__ = ()

    raised: BaseException | None = None
    """In the process of the handler: what it raised, and did not mean for its caller."""
    reference: str | None = None
    """Of the line about it in the log; empty if there is none. None: it was not logged yet."""
    instead_of: "HandlerFailed | None" = None
    """In the process of the handler: the failure whose text its caller does not get."""


class DeadlineExceeded(Error, TimeoutError):
    """The call's time was over before its reply came. Also a `TimeoutError`."""

    __slots__ = ()


class Cancelled(Error):
    """The caller gave the call up, or closed its client."""

    __slots__ = ()


class Overloaded(Error):
    """The server has too much to do, and refused the call before it ran."""

    __slots__ = ()


class Unavailable(Error, ConnectionError):
    """No connection to a server could be made. Also a `ConnectionError`."""

    __slots__ = ()


class ConnectionLost(Error, ConnectionError):
    """The connection ended while the reply was awaited. Also a `ConnectionError`."""

    __slots__ = ()


class MessageTooLarge(Error):
    """A request or a reply has more bytes than the other end accepts."""

    __slots__ = ()


class ProtocolError(Error):
    """The peer has sent what no peer of this protocol may send."""

    __slots__ = ()


class Unauthenticated(Error, PermissionError):
    """The server does not accept the identity of the client. Also a `PermissionError`."""

    __slots__ = ()


class PermissionDenied(Error, PermissionError):
    """The server does not let this client call the method. Also a `PermissionError`."""

    __slots__ = ()


class ShuttingDown(Error):
    """The server is stopping, and takes no more calls."""

    __slots__ = ()


class Internal(Error):
    """The runtime itself has failed, which is a bug."""

    __slots__ = ()


_KINDS: Final[Mapping[object, type[Error]]] = {
    Code.INVALID_ARGUMENT: InvalidArgument,
    Code.UNKNOWN_SERVICE: UnknownService,
    Code.UNKNOWN_AGENT: UnknownAgent,
    Code.UNKNOWN_METHOD: UnknownMethod,
    Code.SCHEMA_MISMATCH: SchemaMismatch,
    Code.HANDLER_FAILED: HandlerFailed,
    Code.DEADLINE_EXCEEDED: DeadlineExceeded,
    Code.CANCELLED: Cancelled,
    Code.OVERLOADED: Overloaded,
    Code.UNAVAILABLE: Unavailable,
    Code.CONNECTION_LOST: ConnectionLost,
    Code.MESSAGE_TOO_LARGE: MessageTooLarge,
    Code.PROTOCOL_ERROR: ProtocolError,
    Code.UNAUTHENTICATED: Unauthenticated,
    Code.PERMISSION_DENIED: PermissionDenied,
    Code.SHUTTING_DOWN: ShuttingDown,
    Code.INTERNAL: Internal,
}


class DeclaredError(MfError, PlainStruct):
    """Base of the errors that a schema declares with `error`; generated classes derive from it."""

    __slots__ = ()

    __eq__ = Exception.__eq__
    __hash__ = Exception.__hash__
    __setstate__ = PlainStruct.__setstate__

    def __str__(self) -> str:
        return shown_fields(self)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in names_of(self)}
        return __newobj__, (type(self),), fields


def not_executed(code: Code, message: str) -> Error:
    """An Error for a call whose handler certainly never started."""
    return Error(code, message, Execution.NOT_EXECUTED)


def cancelled_by_caller() -> Error:
    return Error(Code.CANCELLED, "cancelled by the caller", Execution.UNKNOWN)


def some_of(names: Collection[str], mark: str = "") -> str:
    """A few names in words, each between marks, so that a list of thousands of names does not make an answer
    long."""
    shown = ", ".join(f"{mark}{shortened(name)}{mark}" for name in islice(names, _MOST_NAMES))
    return shown if len(names) <= _MOST_NAMES else f"{shown}, … and {len(names) - _MOST_NAMES:,} more"


def shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"


def cut(message: str, limit: int = MAX_MESSAGE_BYTES) -> bytes:
    """`message` as at most `limit` bytes of UTF-8, cut after a whole character."""
    data = message.encode("utf-8", "replace")
    if len(data) <= limit:
        return data
    return data[:limit].decode("utf-8", "ignore").encode("utf-8")


class RefusedError(Exception):
    """Raised in the place of a handler's exceptions: an interceptor, or the server itself, has refused the
    call before a handler ran, with this failure, which its caller gets as it is."""

    def __init__(self, failure: MfError) -> None:
        super().__init__(failure)
        self.failure = failure
