"""Exceptions of flexible messages, in addition to mf.Error."""

from typing import Any

from mf.core.error import Code, Error, Execution, MfError, not_executed
from mf.flex.message import Message
from mf.flex.pattern import Pattern


class NoMessage(MfError):  # noqa: N818 - it is a normal result, no error
    """`poll` found nothing that matches."""

    __slots__ = ()


class Undelivered(Error):  # noqa: N818 - named after the fate of the messages
    """Messages that were not delivered: `messages`, in the order in which they were sent.

    `execution` is NOT_EXECUTED if the receiver certainly has not taken them, and UNKNOWN if it may have taken
    them before it was lost.
    """

    __slots__ = ("messages",)

    def __init__(self, error: Error, messages: list[Message]) -> None:
        super().__init__(error.code, error.message, error.execution)
        self.messages = messages

    def __repr__(self) -> str:
        parts = f"{self.code.name}, {self.message!r}, {self.execution.name}"
        return f"mf.flex.Undelivered({parts}, {self.messages!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Undelivered, (Error(self.code, self.message, self.execution), self.messages)


def none_came(name: str, pattern: Pattern, waiting: int, seconds: float) -> Error:
    text = f"nothing that matches {pattern!r} came to {name!r} within {seconds:g} s; {waiting:,} others wait"
    return Error(Code.DEADLINE_EXCEEDED, text, Execution.NOT_EXECUTED)


def is_closed(name: str) -> Error:
    return not_executed(Code.CANCELLED, f"the mailbox of {name!r} is closed")


def of_parent(what: str) -> Error:
    """The failure of what a forked child does with something of its parent's."""
    return not_executed(Code.UNAVAILABLE, f"{what} belongs to the parent process")


def begun_by_parent(what: str) -> Error:
    """The failure of what the parent had begun."""
    return Error(Code.CONNECTION_LOST, f"{what} belongs to the parent process", Execution.UNKNOWN)


def is_full(name: str, why: str) -> Error:
    return not_executed(Code.OVERLOADED, f"there is no room for this message on the way to {name!r}{why}")
