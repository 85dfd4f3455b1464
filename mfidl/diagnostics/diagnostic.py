"""F1. One diagnostic, and the sink that every stage reports to.

A diagnostic is data: code, message, the smallest wrong span, notes where the other party stands, and a
suggestion. The sink keeps one message per mistake: the same text at the same place is taken once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.diagnostics.codes import CATALOGUE
from mfidl.source import Span


@dataclass(frozen=True, slots=True)
class Note:
    """A further place that the message speaks of ("first declared here")."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`span` is None only for what has no place in a file (a missing file on the command line)."""

    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    help: str | None = None

    def sort_key(self) -> tuple[str, int, int, str, str]:
        if self.span is None:
            return ("", 0, 0, self.code, self.message)
        return (self.span.file.name, self.span.start, self.span.end, self.code, self.message)


class Diagnostics:
    """Collects the errors of one run."""

    __slots__ = ("_items", "_seen")

    def __init__(self) -> None:
        self._seen: set[tuple[str, int, int, str, str]] = set()
        self._items: list[Diagnostic] = []

    def error(
        self,
        code: str,
        span: Span | None,
        *,
        notes: Sequence[Note] = (),
        help: str | None = None,
        **values: object,
    ) -> None:
        """Report an error; `values` fill the message of the code's row in the catalogue."""
        message = CATALOGUE[code].message.format(**values)
        diagnostic = Diagnostic(code, message, span, tuple(notes), help)
        if diagnostic.sort_key() not in self._seen:
            self._seen.add(diagnostic.sort_key())
            self._items.append(diagnostic)

    def __bool__(self) -> bool:
        return bool(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def sorted(self) -> list[Diagnostic]:
        """By file and place, so that output does not depend on the order of the passes."""
        return sorted(self._items, key=Diagnostic.sort_key)
