"""R1. What a decoder raises: which fault (docs/protocol.md, section 8), at which byte, in which field."""

from functools import partial
from typing import Any

from mf.codec.fault import Fault
from mf.core.error import Code, Error, Execution


class DecodeError(Error):
    """`offset` counts bytes from the start of the data, or of the JSON text; `path` is `Hit.positions[3]`.

    `message` says all of it in words.
    """

    __slots__ = ("fault", "offset", "path")

    def __init__(
        self,
        fault: Fault,
        message: str,
        *,
        offset: int = 0,
        path: str = "",
        execution: Execution = Execution.UNKNOWN,
    ) -> None:
        super().__init__(Code.DECODE_ERROR, message, execution)
        self.fault = fault
        self.offset = offset
        self.path = path

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"

    def __repr__(self) -> str:
        place = f"offset={self.offset}, path={self.path!r}"
        return f"mf.DecodeError({self.fault.name}, {self.message!r}, {place})"

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(DecodeError, offset=self.offset, path=self.path, execution=self.execution)
        return made, (self.fault, self.message)
