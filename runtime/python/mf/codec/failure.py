"""R1. What a reader or writer raises: the fault and the place, before they become an `mf.Error`.

The path is gathered while the failure travels up: each level adds its step to `steps`, the innermost first.
"""

from typing import Final

from mf.codec.fault import Fault
from mf.core.error import Code

_MOST: Final = 60  # characters of a value that are shown
_LONG: Final = 10**_MOST


class CodecError(Exception):
    """`reason` is a clause without a full stop; `offset` is None on the way out, where there are no bytes
    yet. `fault` is NONE for a violated constraint, and on the way out.
    """

    def __init__(
        self,
        reason: str,
        offset: int | None = None,
        fault: Fault = Fault.NONE,
        code: Code = Code.INVALID_ARGUMENT,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset
        self.fault = fault
        self.code = code
        self.steps: list[str] = []

    def in_field(self, name: str) -> None:
        """Values that are the only one of their codec stand in a field without a name."""
        if name:
            self.steps.append(f".{name}")

    def in_item(self, key: object) -> None:
        self.steps.append(item_step(key))

    def path(self, root: str = "") -> str:
        """'Hit.positions[3]'"""
        return f"{root}{''.join(reversed(self.steps))}".removeprefix(".")

    def text(self, root: str = "") -> str:
        """'Hit.positions[3], at byte 12: a number does not fit in its type'"""
        path = self.path(root)
        place = path if self.offset is None else f"{path}, at byte {self.offset}".removeprefix(", ")
        return f"{place}: {self.reason}" if place else self.reason


class MalformedError(ValueError):
    """How functions that work on many numbers at once give up: something is wrong, or only rare. Their caller
    goes through the numbers one by one then, and finds the words, or the value after all."""


class TooDeepError(MalformedError):
    """Of JSON: more levels than a reader takes."""


class InPartsError(Exception):
    """A message of tier archive came in parts, and the reader had not looked for them."""


def item_step(key: object) -> str:
    text = digits(key) if isinstance(key, int) else _text(key)
    return f"[{text}]"[:_MOST]


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
