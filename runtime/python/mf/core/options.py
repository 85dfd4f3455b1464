"""R0. What a caller may say about a call. All times are seconds as float."""

INFINITE = float("inf")
"""No deadline. Must be written: without options a call ends after the method's deadline, else after 30 s."""

DEFAULT_DEADLINE = 30.0


class CallOptions:
    """Options of one call. `deadline`: seconds from now; None: the method's own, else 30; INFINITE: none."""

    __slots__ = ("deadline",)

    def __init__(self, *, deadline: float | None = None) -> None:
        if deadline is not None and not deadline > 0:
            raise ValueError(f"deadline is {deadline}: give seconds from now, more than 0, or mf.INFINITE")
        self.deadline = deadline

    def __repr__(self) -> str:
        return f"mf.CallOptions(deadline={self.deadline})"


class BatchOptions(CallOptions):
    """Options of a message-level batch.

    `deadline`: seconds for the whole batch. `size`: calls per message, instead of the method's
    `@batch(max)`. `window`: messages that may be in flight together (never more than the peer allows).
    """

    __slots__ = ("size", "window")

    def __init__(self, *, deadline: float | None = None, size: int | None = None, window: int = 256) -> None:
        super().__init__(deadline=deadline)
        if size is not None and size < 1:
            raise ValueError(f"size is {size}: a message holds at least one call")
        if window < 1:
            raise ValueError(f"window is {window}: at least one message must be in flight")
        self.size = size
        self.window = window

    def __repr__(self) -> str:
        return f"mf.BatchOptions(deadline={self.deadline}, size={self.size}, window={self.window})"
