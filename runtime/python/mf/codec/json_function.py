"""R1. The text of a function that reads or writes the JSON of one type, while it is being made."""

from abc import ABC, abstractmethod
from typing import Any

from mf.codec import shape as s
from mf.codec.malformed import MalformedError


class FunctionText(ABC):
    """`known`: the globals that it runs with; `around`: the types that are being made just now."""

    def __init__(self, around: frozenset[s.Shape], **known: Any) -> None:
        self._around = around
        self.known: dict[str, Any] = {"MalformedError": MalformedError, **known}

    def constant(self, value: Any) -> str:
        name = f"c_{len(self.known)}"
        self.known[name] = value
        return name

    def expression(self, shape: s.Shape, value: str) -> str:
        """A text of the value; of containers and composites, at one level less."""
        while isinstance(shape, s.Checked):
            shape = shape.shape
        match shape:
            case s.Scalar() | s.Enum() | s.Custom():
                return f"{self.constant(self._plain(shape))}({value})"
            case s.Optional():
                inner = self.expression(shape.element, value)
                return f"({self._absent} if {value} is None else {inner})"
            case _:
                return f"{self.constant(self._other(shape))}({value}, levels)"

    _absent: str
    """What an optional without a value is."""

    @abstractmethod
    def _plain(self, shape: "s.Scalar | s.Enum | s.Custom") -> Any:
        """The function of what has no levels."""

    @abstractmethod
    def _other(self, shape: s.Shape) -> Any:
        """The function of another type; of one that contains this one, found when it is called."""

    def _compiled(self, head: str, lines: list[str]) -> Any:
        exec("\n    ".join([f"def made({head}):", *lines]), self.known)
        return self.known["made"]
