"""R1. What the careful reader and writer raise: place and reason, before they become an `mf.Error`."""

from typing import Final

from mf.codec.fault import Fault
from mf.core.error import Code

_MOST: Final = 60  # characters of a value that are shown
_LONG: Final = 10**_MOST


class CarefulError(Exception):
    """`reason` is a clause without a full stop; `offset` is None on the way out, where there are no bytes
    yet. `fault` is NONE for a violated constraint, and on the way out.
    """

    def __init__(
        self, code: Code, path: str, reason: str, offset: int | None = None, fault: Fault = Fault.NONE
    ) -> None:
        super().__init__(code, path, reason, offset, fault)
        self.code = code
        self.path = path
        self.reason = reason
        self.offset = offset
        self.fault = fault

    def text(self) -> str:
        """'Hit.positions[3], at byte 12: a number does not fit in its type'"""
        place = self.path if self.offset is None else f"{self.path}, at byte {self.offset}".removeprefix(", ")
        return f"{place}: {self.reason}" if place else self.reason


class Path:
    """Where in a value the walk is: 'Hit.positions[3]'."""

    __slots__ = ("_steps",)

    def __init__(self, root: str) -> None:
        self._steps = [root] if root else []

    def field(self, name: str) -> None:
        self._steps.append(f".{name}" if self._steps else name)

    def item(self, key: object) -> None:
        text = digits(key) if isinstance(key, int) else _text(key)
        self._steps.append(f"[{text}]"[:_MOST])

    def back(self) -> None:
        self._steps.pop()

    def __str__(self) -> str:
        return "".join(self._steps).removeprefix(".")


def shown(value: object) -> str:
    text = _text(value)
    return text if len(text) <= _MOST else f"{text[: _MOST - 3]}..."


def digits(number: int) -> str:
    """Of a long number the first ones: Python refuses to write more than 4300."""
    if -_LONG < number < _LONG:
        return f"{number}"
    size = abs(int(number))
    behind = int(size.bit_length() * 0.301029995) - _MOST - 1  # a little less than the logarithm of 2
    text = str(size // 10 ** max(behind, 0))
    return f"{'-' if number < 0 else ''}{text}"[: _MOST - 3] + "..."


def _text(value: object) -> str:
    try:
        return digits(value) if type(value) is int else ascii(value)
    except Exception:  # of a value that has a wrong one in it, or itself
        return f"a {type(value).__name__}"


def bytes_said(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
