"""R1. Constraints of a schema as data: each says in words what is wrong with a value, or None.

The fast codec has the same conditions as plain expressions; these here find the words.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, Protocol


class Rule(Protocol):
    def violation(self, value: Any) -> str | None: ...


@dataclass(frozen=True, slots=True)
class InRange:
    low: float | None
    high: float | None

    def violation(self, value: Any) -> str | None:
        if (self.low is None or self.low <= value) and (self.high is None or value <= self.high):
            return None
        low = "" if self.low is None else self.low
        high = "" if self.high is None else self.high
        return f"{value} is not in {low}..{high}"


@dataclass(frozen=True, slots=True)
class HasLength:
    """Bytes of a string or bytes value, elements of a container."""

    low: int
    high: int | None

    def violation(self, value: Any) -> str | None:
        length = len(value.encode()) if isinstance(value, str) else len(value)
        if self.low <= length and (self.high is None or length <= self.high):
            return None
        return f"length {length} is not in {self.low}..{'' if self.high is None else self.high}"


@dataclass(frozen=True, slots=True)
class IsFinite:
    def violation(self, value: Any) -> str | None:
        return None if math.isfinite(value) else f"{value} is not finite"


@dataclass(frozen=True, slots=True)
class Matches:
    pattern: re.Pattern[str]

    def violation(self, value: Any) -> str | None:
        if self.pattern.fullmatch(value) is not None:
            return None
        shown = ascii(value[:40])
        return f"{shown} does not match {self.pattern.pattern!r}"
