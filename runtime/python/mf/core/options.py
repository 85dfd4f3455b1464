"""R0. The options of calls. All times are seconds as float."""

from collections.abc import Mapping
from math import isnan
from typing import Any, SupportsFloat

INFINITE = float("inf")
"""No deadline. It must be requested: without options a call ends after the method's deadline, else after 30
s."""

DEFAULT_DEADLINE = 30.0


class CallOptions:
    """Options of one call. A call with a deadline of 0 or less ends as DEADLINE_EXCEEDED, NOT_EXECUTED.

    Args:
        deadline: Seconds from now, or `mf.INFINITE`. Defaults to None: the method's own, else 30.
        idle: Seconds that a stream may go without a value and without credit. Defaults to `mf.INFINITE`.
        metadata: Text by key, sent with the request. Defaults to None: there is none.
        reply_metadata: A dict of the caller, which receives the reply's metadata. Defaults to None.
        arrays: Lists of numbers, and of structs of tier memcpy, arrive as arrays of numpy over the received
            bytes, which cannot be written to. Defaults to False: as lists.

    Raises:
        ValueError: `deadline` is no number of seconds, or `idle` is not more than 0.
        TypeError: One of them is no number at all, such as a `timedelta`.
        ImportError: `arrays` is wanted, and numpy is not installed. The call raises it before it is sent.
    """

    __slots__ = ("arrays", "calls", "deadline", "idle", "metadata", "reply_metadata")

    calls: list[Any] | None
    """Gets each call that is made with these options; for what is around calls (client/intercepted.py)."""

    def __init__(
        self,
        *,
        deadline: float | None = None,
        idle: float = INFINITE,
        metadata: Mapping[str, str] | None = None,
        reply_metadata: dict[str, str] | None = None,
        arrays: bool = False,
    ) -> None:
        try:
            if deadline is not None and isnan(deadline):
                raise ValueError(f"deadline is {deadline}: give seconds from now, or mf.INFINITE")
            if not idle > 0:
                raise ValueError(f"idle is {idle}: give seconds, more than 0, or mf.INFINITE")
        except TypeError:
            check_numbers(deadline=deadline)
            _check_number("idle", idle)
            raise
        self.arrays = arrays
        self.calls = None
        self.deadline = deadline
        self.idle = idle
        self.metadata = metadata
        self.reply_metadata = reply_metadata

    def __repr__(self) -> str:
        return f"mf.CallOptions({self._shown()})"

    def _shown(self) -> str:
        """The options without the values of metadata, which may be secrets."""
        shown = [f"deadline={self.deadline}"]
        if self.idle != INFINITE:
            shown.append(f"idle={self.idle}")
        if self.metadata:
            shown.append(f"metadata of {', '.join(self.metadata)}")
        if self.arrays:
            shown.append("arrays=True")
        return ", ".join(shown)


def check_numbers(**given: object) -> None:
    """Raises TypeError for an option that is no number, such as a text or a `timedelta`. None: it is not
    set."""
    for name, value in given.items():
        if value is not None:
            _check_number(name, value)


def _check_number(name: str, value: object) -> None:
    if not isinstance(value, SupportsFloat):
        shown = f"{name} is a {type(value).__name__}"
        if hasattr(value, "total_seconds"):
            raise TypeError(f"{shown}: give seconds, which its method total_seconds makes of it")
        raise TypeError(f"{shown}: give a number")


def check_all_numbers(options: Any) -> None:
    """The same of each field of a dataclass whose default is a number."""
    defaults = {name: each.default for name, each in options.__dataclass_fields__.items()}
    for name in (name for name, each in defaults.items() if type(each) in (int, float)):
        _check_number(name, getattr(options, name))


def check_options(options: object, wanted: type[CallOptions] = CallOptions) -> None:
    """Raises TypeError for what a call cannot take as its options, such as a dict. None: there are none."""
    if options is not None:
        check_is(options, wanted, "options", "deadline=2.5")


def check_is(given: object, wanted: type, parameter: str, example: str) -> None:
    """Raises TypeError for a dict, for example, in place of an object of options."""
    if not isinstance(given, wanted):
        name = f"mf.{wanted.__name__}"
        text = f"{parameter} is a {type(given).__name__}: give {name}, as {parameter}={name}({example})"
        raise TypeError(text)


def check_names(given: Mapping[str, object], fields: Any, function: str) -> None:
    """Raises TypeError for keyword arguments that are none of these fields (a TypedDict), and for those that
    are missing."""
    if unknown := given.keys() - fields.__annotations__.keys():
        raise TypeError(f"{function} has no argument {min(unknown)!r}")
    if missing := fields.__required_keys__ - given.keys():
        raise TypeError(f"{function} needs the argument {min(missing)!r}")


class BatchOptions(CallOptions):
    """Options of a batch, which sends many calls in as few messages as possible.

    Args:
        deadline: Seconds for the whole batch, or `mf.INFINITE`. Defaults to None: the method's own, else 30.
        size: Calls in one message. Defaults to None: the method's `@batch(max)`, else 128.
        window: Messages that may be in flight together, never more than the peer allows. Defaults to 256.
        metadata: Text by key, sent with each message. Defaults to None: there is none.
        reply_metadata: A dict of the caller, which receives the replies' metadata. Defaults to None.
        arrays: As in `mf.CallOptions`. Defaults to False.

    Raises:
        ValueError: `size` or `window` is less than 1, or `deadline` is no number of seconds.
    """

    __slots__ = ("size", "window")

    def __init__(
        self,
        *,
        deadline: float | None = None,
        size: int | None = None,
        window: int = 256,
        metadata: Mapping[str, str] | None = None,
        reply_metadata: dict[str, str] | None = None,
        arrays: bool = False,
    ) -> None:
        super().__init__(deadline=deadline, metadata=metadata, reply_metadata=reply_metadata, arrays=arrays)
        check_numbers(size=size, window=window)
        if size is not None and size < 1:
            raise ValueError(f"size is {size}: a message holds at least one call")
        if window < 1:
            raise ValueError(f"window is {window}: at least one message must be in flight")
        self.size = size
        self.window = window

    def __repr__(self) -> str:
        return f"mf.BatchOptions({self._shown()}, size={self.size}, window={self.window})"
