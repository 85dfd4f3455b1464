"""R0. The user's view of replicated messages: options and results of calls."""

from enum import IntEnum
from typing import Generic, NamedTuple, TypeVar

from mf.core.options import CallOptions

T = TypeVar("T")


class Version(NamedTuple):
    """The place of a message in the order of all messages of its group: first by epoch. Counters have no
    gaps.
    """

    epoch: int
    counter: int

    def __str__(self) -> str:
        return f"{self.epoch}.{self.counter}"


class Require(IntEnum):
    """How many replicas must have applied a message before its call ends."""

    ONE = 0
    """Any one. If it is lost before the others have the message, the message is lost, too."""
    MAJORITY = 1
    """It survives as long as fewer than a majority lose their memory at a time."""
    ALL = 2


class ReplicatedOptions(CallOptions):
    """Options of one replicated call.

    Args:
        deadline: Seconds from now, or `mf.INFINITE`. Defaults to None: the method's own, else 30.
        require: How many replicas must have applied it before the call returns. Defaults to
            `mf.Require.MAJORITY`.

    Raises:
        ValueError: `deadline` is no number of seconds, or `require` is no `mf.Require`.
    """

    __slots__ = ("require",)

    def __init__(
        self,
        *,
        deadline: float | None = None,
        require: Require = Require.MAJORITY,
    ) -> None:

        super().__init__(deadline=deadline)
        self.require = Require(require)

    def __repr__(self) -> str:
        return f"mf.ReplicatedOptions({self._shown()}, require={self.require.name})"


class Replicated(Generic[T]):
    """The result of a replicated call: the `value` that the servants returned, the message's `version`, and
    the names of replicas known to have `applied` it; others may have, too.
    """

    __slots__ = ("applied", "value", "version")

    def __init__(self, value: T, version: Version, applied: tuple[str, ...]) -> None:
        self.value = value
        self.version = version
        self.applied = applied

    def __repr__(self) -> str:
        return f"mf.Replicated({self.value!r}, version {self.version}, applied by {', '.join(self.applied)})"
