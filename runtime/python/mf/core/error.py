"""R0. The closed set of failures (docs/protocol.md, section 6), with the same numbers in every language.

It does not know bytes, sockets or threads. Its texts are sent over the network and logged, so they are
bounded.
"""

from collections.abc import Collection
from enum import IntEnum
from itertools import islice

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

    `code` says why, `execution` whether the servant may have run, `message` is for people.
    """

    __slots__ = ("code", "execution", "message")

    def __init__(self, code: Code, message: str = "", execution: Execution = Execution.UNKNOWN) -> None:
        super().__init__(code, message, execution)
        self.code = code
        self.message = message
        self.execution = execution

    def __str__(self) -> str:
        text = f"{self.code.name}: {self.message}" if self.message else self.code.name
        return text + _RAN[self.execution]

    def __repr__(self) -> str:
        return f"mf.Error({self.code.name}, {self.message!r}, {self.execution.name})"


class DeclaredError(MfError):
    """Base of the errors that a schema declares with `error`; generated classes derive from it."""

    __slots__ = ()


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
    """Raised in the place of a handler's exceptions: an interceptor has refused the call before the handler
    ran, with this failure, which its caller gets as it is."""

    def __init__(self, failure: MfError) -> None:
        super().__init__(failure)
        self.failure = failure
