"""F6. One finding, and the list that the comparisons report to."""

from collections.abc import Iterable
from dataclasses import dataclass

from mfidl.breaking.rules import Impact
from mfidl.source import Span


@dataclass(frozen=True, slots=True)
class Change:
    """`here` is the place in the newer program (or in its nearest surrounding), `before` in the older one.
    `paths` lead from the type that changed up to the services and topics that it reaches. `subject`: the full
    name of the type or service whose bytes differ, if running peers can adapt to that; "" if they cannot.
    """

    code: str
    impacts: tuple[Impact, ...]
    message: str
    here: Span | None
    before: Span | None
    paths: tuple[str, ...] = ()
    subject: str = ""


class Changes:
    """Collects findings. A change without an impact is dropped."""

    def __init__(self) -> None:
        self.found: list[Change] = []

    def report(
        self,
        code: str,
        impacts: Iterable[Impact],
        message: str,
        here: Span | None,
        before: Span | None,
        paths: Iterable[str] = (),
        subject: str = "",
    ) -> None:
        ordered = tuple(impact for impact in Impact if impact in set(impacts))
        if ordered:
            self.found.append(Change(code, ordered, message, here, before, tuple(paths), subject))
