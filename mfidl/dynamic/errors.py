"""F6. What is wrong with bytes, texts and values. Each text is a sentence without its full stop."""

from dataclasses import dataclass

from mf.codec.fault import Fault


class DecodeError(Exception):
    """Bytes or JSON text that are not a value: the fault, the offset of what is wrong, the path to it."""

    def __init__(self, fault: Fault, offset: int, path: str, reason: str) -> None:
        super().__init__(fault, offset, path, reason)
        self.fault = fault
        self.offset = offset
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        place = f"{self.path}, at byte {self.offset}".removeprefix(", ")
        return f"{place}: {self.reason}"


class EncodeError(Exception):
    """A Python value that its type cannot hold; an error of the caller, never of the bytes."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint of the schema that a value does not keep."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class UnknownTypeError(Exception):
    """A text that does not name a type of the program: `text[start:end]` is the wrong part."""

    def __init__(self, text: str, start: int, end: int, reason: str) -> None:
        super().__init__(reason)
        self.text = text
        self.start = start
        self.end = end
        self.reason = reason

    def __str__(self) -> str:
        return self.reason
